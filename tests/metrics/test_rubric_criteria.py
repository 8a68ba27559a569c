"""A metric of criteria that are written in Python."""

from __future__ import annotations

from contextlib import closing

import pytest

import judgekit
from judgekit import Case, ConfigError, FakeJudge, RubricMetric
from judgekit.core.errors import RubricError
from judgekit.suite.suite import build_suite
from tests.each import each

CRITERIA = {
    "polite": "Is the answer polite?",
    "brief": {"text": "Is it brief?", "kind": "boolean", "weight": 3},
    "tone": {"text": "How does it sound?", "levels": {"warm": 1, "cold": 0}, "weight": 1},
}
EVEN = {**CRITERIA, "polite": {"text": "Is the answer polite?", "weight": 1}}
CASE = Case(id="a", input="Hello", output="Go away.")


@pytest.mark.parametrize(
    "entry",
    [
        {"criteria": EVEN},
        {"criteria": {"polite": CRITERIA["polite"]}, "description": "Is it kind?"},
        {"criteria": {"polite": CRITERIA["polite"]}, "requires": ["input", "output"]},
    ],
)
@pytest.mark.parametrize("options", [{}, {"samples": 3, "order": "balanced"}, {"calls": "each"}])
def test_the_keys_are_those_of_a_suite(entry, options, tmp_path):
    written = {"cases": [{"output": "x"}], "judge": "fake/judge", "record": "new_episodes"}
    suite = build_suite({**written, "metrics": {"kind": {**entry, **options}}}, base=tmp_path)
    with closing(suite):
        _, expected = suite.metrics[0].requests(CASE)

        metric = RubricMetric(name="kind", judge=FakeJudge(), **entry, **options)
        _, requests = metric.requests(CASE)

        assert [one.key for one in requests] == [one.key for one in expected]
        assert metric.info().made_with == suite.metrics[0].info().made_with


def test_a_metric_is_one_line():
    metric = RubricMetric(criteria={"polite": "Is the answer polite?"}, judge=FakeJudge())
    report = judgekit.evaluate_sync([CASE], [metric])

    assert metric.name == "criteria"
    assert report.exit_code == 0
    (row,) = next(report.results).rows
    assert [part.id for part in row.result.parts] == ["polite"]


def test_a_jury_answers_the_criteria():
    jury = judgekit.Jury({"one": FakeJudge(), "two": FakeJudge(model="fake/two")}, samples=2)
    score = judgekit.score_sync(CASE, RubricMetric(criteria=EVEN, judge=jury))

    assert len(score.opinions) == 4


@each(
    ("wrong", "message"),
    [
        ({}, "a rubric metric has no rubric; give a rubric or criteria"),
        (
            {"rubric": "quality", "criteria": EVEN, "name": "kind"},
            "kind has both a rubric and criteria; give a rubric or criteria",
        ),
        (
            {"rubric": "quality", "requires": ["input"]},
            "description and requires belong to criteria; a rubric has its own",
        ),
        ({"criteria": {}}, "criteria: must not be empty"),
        (
            {"criteria": {"polite": {"text": "x", "kid": "boolean"}}},
            "unknown key 'criteria.polite.kid'; did you mean 'kind'?",
        ),
        (
            {"criteria": {"polite": {"kind": "boolean"}}},
            "'criteria.polite.text' is missing; add the question: text: \"Is the answer kind?\"",
        ),
        (
            {"criteria": EVEN, "requires": ["outptu"]},
            "requires: 'outptu' is not a field of a case; did you mean 'output'?",
        ),
    ],
)
def test_what_is_wrong_is_one_line(wrong, message):
    with pytest.raises(ConfigError) as caught:
        RubricMetric(judge=FakeJudge(), **wrong)

    assert str(caught.value) == message


def test_a_wrong_criterion_is_an_error_of_a_rubric():
    with pytest.raises(RubricError, match="is not a valid name for a criterion"):
        RubricMetric(criteria={"po lite": "x"}, judge=FakeJudge())
