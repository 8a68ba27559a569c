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


def test_a_value_that_cannot_be_reported_names_its_metric(project, run):
    text = """
import pytest
from judgekit import Score
from judgekit.metrics.computed import ComputedMetric

class Wrong(ComputedMetric):
    name: str = "wrong"

    async def score(self, case):
        return Score(value=7.0, method="wrong")

def test_score(judgekit):
    with pytest.raises(ValueError, match="wrong: the value 7.0 is outside the range"):
        judgekit.score({"output": "a"}, Wrong())
"""
    (project / "test_tone.py").write_text(text, "utf-8")

    code, out = run()

    assert code == 0, out
