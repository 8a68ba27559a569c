"""A stand-in's score, which fails a check unless it is allowed."""

from __future__ import annotations


def test_a_fallback_fails_unless_it_is_allowed(project, run):
    text = """
from judgekit import WithFallback, create_metric

def metric(kit):
    from judgekit.core.errors import JudgeUnavailable
    class Down:
        model = "down"
        async def ask(self, request):
            raise JudgeUnavailable("gone")
    return WithFallback(create_metric("quality", judge=Down()), create_metric("length", maximum=9))

def test_no(judgekit):
    judgekit.check({"input": "q", "output": "short"}, metric(judgekit))

def test_yes(judgekit):
    judgekit.check({"input": "q", "output": "short"}, metric(judgekit), allow_fallback=True)
"""
    (project / "test_tone.py").write_text(text, "utf-8")

    code, out = run("-rA")

    assert code == 1
    assert "scored by the fallback length (unavailable: gone)" in out
    assert "PASSED test_tone.py::test_yes" in out
