"""Event loops: one that runs already, and one that is none of asyncio's."""

from __future__ import annotations

from tests.testing.conftest import RECORD


def test_it_works_inside_a_running_loop(project, run):
    text = """
import asyncio

def test_loop(judgekit):
    async def inside():
        judgekit.check({"output": "Hello"}, "kind")
        judgekit.check({"output": "aab"}, "regex", pattern="(a+)+b", threshold=1.0)
    asyncio.run(inside())
"""
    (project / "test_tone.py").write_text(text, "utf-8")

    assert run(*RECORD)[0] == 0
    code, out = run()
    assert code == 0, out


def test_it_needs_no_loop_of_asyncio_s(project, run):
    """A loop of another kind sees a coroutine that never waits, whatever is asked."""
    text = """
def driven(work):
    try:
        work.send(None)
    except StopIteration as done:
        return done.value
    raise AssertionError("it waits for something of asyncio's")

def test_other_loop(judgekit):
    assert driven(judgekit.acheck({"output": "Hello"}, "kind")).type == "score"
    waits = judgekit.metric("regex", pattern="(a+)+b")
    assert not waits.synchronous
    assert driven(judgekit.ascore({"output": "aab"}, waits)).value == 1.0
    report = driven(judgekit.aevaluate([{"output": "Hello"}], "kind"))
    assert report.metrics["kind"].judged == 1
"""
    (project / "test_tone.py").write_text(text, "utf-8")

    assert run(*RECORD)[0] == 0
    code, out = run()
    assert code == 0, out
