"""WithFallback: who stands in, when, and how it is said."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

import pytest

from judgekit.core.case import Case
from judgekit.core.errors import (
    BudgetExceeded,
    CaseError,
    CassetteMiss,
    ConfigError,
    InvalidReply,
    JudgeRefused,
    JudgeRejected,
    JudgeUnavailable,
)
from judgekit.core.protocols import Metric
from judgekit.core.score import Fallback, Score
from judgekit.metrics.fallback import WithFallback


@dataclass
class Fixed:
    """Gives what it was told to, and counts."""

    name: str
    outcome: object
    range: tuple = (0.0, 1.0)
    higher_is_better: bool = True
    asked: int = 0

    async def score(self, case):
        self.asked += 1
        if isinstance(self.outcome, Exception):
            raise self.outcome
        if self.outcome is None:
            return Score(status="not_applicable", reason="nothing to judge")
        return Score(value=self.outcome, source="judge" if self.name == "judged" else "computed")


def score(metric):
    return asyncio.run(metric.score(Case(id="1")))


def pair(outcome, **options):
    return WithFallback(Fixed("judged", outcome), Fixed("rules", 0.25), **options)


def test_a_score_that_is_given_is_left_alone():
    metric = pair(0.75)

    assert score(metric) == Score(value=0.75, source="judge")
    assert metric.fallback.asked == 0
    assert isinstance(metric, Metric)
    assert (metric.name, metric.range, metric.higher_is_better) == ("judged", (0.0, 1.0), True)


def test_an_outage_falls_back_and_says_so_in_one_line():
    found = score(pair(JudgeUnavailable("timed out\n  after 60 s\x1b[0m")))

    assert (found.value, found.source) == (0.25, "computed")
    assert found.fallback == Fallback(
        substitute="rules", cause="unavailable: timed out after 60 s�[0m"
    )


def test_a_long_cause_is_cut():
    assert len(score(pair(JudgeUnavailable("x" * 5000))).fallback.cause) < 350


def test_without_a_judge_nothing_is_asked():
    metric = pair(0.75, no_judge=True)

    assert score(metric).fallback == Fallback(substitute="rules", cause="no_judge")
    assert metric.metric.asked == 0


def test_a_spent_budget_falls_back_only_where_allowed():
    with pytest.raises(BudgetExceeded):
        score(pair(BudgetExceeded("2.00 USD are spent")))

    found = score(pair(BudgetExceeded("2.00 USD are spent"), on_budget=True))
    assert found.fallback.cause == "budget: 2.00 USD are spent"


@pytest.mark.parametrize(
    "error",
    [
        CaseError("needs an output"),
        JudgeRefused("no"),
        InvalidReply("empty"),
        JudgeRejected("no such model"),
        CassetteMiss("nothing recorded", key="k"),
        ValueError("bug"),
    ],
)
def test_every_other_error_is_raised_on(error):
    metric = pair(error, on_budget=True)

    with pytest.raises(type(error)):
        score(metric)
    assert metric.fallback.asked == 0


def test_an_error_of_the_fallback_is_raised_on():
    with pytest.raises(CaseError):
        score(WithFallback(Fixed("judged", JudgeUnavailable("down")), Fixed("r", CaseError("x"))))


@pytest.mark.parametrize(
    ("own", "other", "value", "expected"),
    [
        (((1.0, 5.0), True), ((0.0, 1.0), True), 0.75, 4.0),
        (((0.0, 1.0), False), ((0.0, 1.0), True), 0.75, 0.25),
        (((0.0, 10.0), False), ((-1.0, 1.0), False), 0.5, 7.5),
        (((0.0, 1.0), True), ((0.0, 1.0), True), 0.1, 0.1),
    ],
)
def test_the_value_is_mapped_to_the_range_and_direction_of_the_metric(own, other, value, expected):
    judged = Fixed("judged", JudgeUnavailable("down"), range=own[0], higher_is_better=own[1])
    rules = Fixed("rules", value, range=other[0], higher_is_better=other[1])

    assert score(WithFallback(judged, rules)).value == pytest.approx(expected)


def test_a_fallback_that_does_not_apply_says_so():
    found = score(WithFallback(Fixed("judged", JudgeUnavailable("down")), Fixed("rules", None)))

    assert (found.status, found.value) == ("not_applicable", None)
    assert found.fallback.substitute == "rules"


def test_of_two_fallbacks_the_one_that_did_the_work_is_named():
    second = WithFallback(Fixed("small", JudgeUnavailable("down")), Fixed("rules", 0.5))
    found = score(WithFallback(Fixed("judged", JudgeUnavailable("timeout")), second))

    assert found.fallback == Fallback(substitute="rules", cause="unavailable: timeout")


def test_ranges_that_cannot_be_mapped_are_refused_at_once():
    endless = Fixed("perplexity", 1.0, range=(1.0, float("inf")), higher_is_better=False)

    with pytest.raises(ConfigError, match="perplexity: a range of 1 to inf cannot be mapped"):
        WithFallback(endless, Fixed("rules", 0.5))
    WithFallback(endless, endless)


def test_a_flag_must_be_true_or_false():
    with pytest.raises(ConfigError, match="judged: no_judge must be true or false, not 'yes'"):
        pair(0.5, no_judge="yes")
