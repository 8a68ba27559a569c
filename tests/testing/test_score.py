"""`score` and `evaluate`, which assert nothing."""

from __future__ import annotations

from tests.testing.conftest import RECORD


def test_it_scores_and_evaluates_without_asserting(project, run):
    text = """
def test_score(judgekit):
    result = judgekit.score({"output": "a b"}, "length", maximum=1)
    assert (result.type, result.value) == ("score", 0.0)
    assert judgekit.score({}, "length", maximum=1).kind == "invalid_case"

def test_evaluate(judgekit):
    report = judgekit.evaluate([{"output": "Hello"}, {"output": "You"}], "kind")
    assert report.metrics["kind"].judged == 2
"""
    (project / "test_tone.py").write_text(text, "utf-8")

    assert run(*RECORD)[0] == 0
    assert run()[0] == 0
