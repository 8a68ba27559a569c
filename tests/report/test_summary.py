from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgekit.core.comparing import at_least
from judgekit.core.score import Failure, Fallback, Part, Row, Score
from judgekit.metrics.aggregate import answered_share
from judgekit.metrics.benchmarks.log_likelihoods import _KINDS, _accuracies
from judgekit.metrics.benchmarks.perplexity import _Corpus
from judgekit.report.summary import BINS, WORST, Tally
from judgekit.report.thresholds import passes
from judgekit.stats.intervals import mean_interval

FALLBACK = Fallback(substitute="s", cause="c")


def tallied(*results, range=(0.0, 1.0), higher=True, threshold=None):
    tally = Tally("m", range=range, higher_is_better=higher, threshold=threshold)
    for number, result in enumerate(results):
        tally.add(f"c{number}", Score(value=result) if isinstance(result, float) else result)
    return tally.finish()


def test_every_row_is_counted_once():
    summary = tallied(
        0.5,
        Score(value=0.7, source="judge"),
        Score(value=0.1, fallback=FALLBACK),
        Score(status="abstained"),
        Score(status="not_applicable"),
        Failure(kind="refused", message="first"),
        Failure(kind="refused", message="second"),
        Failure(kind="not_run", message="third"),
    )

    assert (summary.rows, summary.computed, summary.judged, summary.fallback) == (8, 1, 1, 1)
    assert (summary.abstained, summary.not_applicable) == (1, 1)
    assert (summary.failed, summary.not_run) == (2, 1)
    assert summary.failures == {"not_run": 1, "refused": 2}
    assert summary.first_failure == "c5: first"


def test_fallbacks_stay_out_of_the_mean_and_are_shown_beside_it():
    summary = tallied(0.4, 0.6, Score(value=1.0, fallback=FALLBACK))

    assert summary.mean == pytest.approx(0.5)
    assert summary.mean_with_fallback == pytest.approx(2 / 3)
    assert tallied(0.4).mean_with_fallback is None


def test_nothing_scored_has_no_figures():
    summary = tallied(Failure(kind="empty", message="m"), threshold=0.5)

    figures = (summary.mean, summary.low, summary.sd, summary.minimum, summary.pass_rate)
    assert figures == (None,) * 5
    assert summary.interval is None


@pytest.mark.parametrize(
    ("value", "threshold", "higher", "passed"),
    [
        (0.5, None, True, None),
        (0.5, 0.5, True, True),
        (0.49, 0.5, True, False),
        (0.5, 0.5, False, True),
        (0.51, 0.5, False, False),
        (0.0, 0.0, True, True),
    ],
)
def test_a_threshold_is_passed_in_the_direction_of_the_metric(value, threshold, higher, passed):
    assert passes(value, threshold, higher) is passed


def test_a_threshold_of_zero_counts():
    assert tallied(0.0, 1.0, threshold=0.0).pass_rate == 1.0


@pytest.mark.parametrize(("higher", "worst"), [(True, "c0"), (False, "c29")])
def test_the_worst_are_worst_first_and_not_too_many(higher, worst):
    summary = tallied(*(n / 30 for n in range(30)), higher=higher)

    assert len(summary.worst) == WORST
    assert summary.worst[0].case == worst
    values = [case.value for case in summary.worst]
    assert values == sorted(values, reverse=not higher)


def test_equally_bad_cases_come_in_their_order():
    summary = tallied(*[0.5] * 30)

    assert [case.case for case in summary.worst] == [f"c{n}" for n in range(WORST)]


def test_the_interval_shown_ends_where_the_range_does():
    summary = tallied(0.0, 0.0, 0.0, 0.0, 1.0)

    assert 0 <= summary.low < 0.2 < summary.high <= 1
    assert summary.interval == (summary.low, summary.high)
    old = summary.model_copy(update={"low": -0.3, "high": 1.2})
    assert old.interval == (0.0, 1.0)


@pytest.mark.parametrize(
    ("range", "values", "filled"),
    [
        ((0.0, 1.0), (0.0, 0.049, 0.05, 1.0), {0: 2, 1: 1, BINS - 1: 1}),
        ((1.0, 5.0), (1.0, 5.0), {0: 1, BINS - 1: 1}),
    ],
)
def test_the_histogram_covers_the_range(range, values, filled):
    bins = tallied(*values, range=range).histogram

    assert {place: count for place, count in enumerate(bins) if count} == filled


def test_an_endless_range_has_no_histogram():
    summary = tallied(3.5, range=(0.0, float("inf")), higher=False)

    assert summary.histogram == ()
    assert summary.range == (0.0, None)


def test_criteria_have_figures_of_their_own():
    def score(a, b):
        parts = (
            Part(id="a", value=a, weight=0.5),
            Part(id="b", status="scored" if b is not None else "abstained", value=b, weight=0.5),
        )
        return Score(value=a, parts=parts)

    summary = tallied(score(0.2, 1.0), score(0.4, None))

    a, b = summary.criteria
    assert (a.id, a.scored, a.mean, a.weight) == ("a", 2, pytest.approx(0.3), 0.5)
    assert (b.scored, b.mean, b.abstained) == (1, 1.0, 1)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=40), st.floats(0, 1))
def test_figures_are_those_of_the_values(values, threshold):
    summary = tallied(*values, threshold=threshold)

    assert summary.mean == pytest.approx(sum(values) / len(values), abs=1e-12)
    assert (summary.minimum, summary.maximum) == (min(values), max(values))
    assert summary.passed == sum(at_least(value, threshold) for value in values)
    assert sum(summary.histogram) == len(values)
    assert summary.minimum <= summary.mean + 1e-12
    if len(values) < 5:
        assert (summary.low, summary.pass_low) == (None, None)
        assert summary.too_few == f"{len(values)} of the 5 values that an interval needs"
        return
    assert 0 <= summary.pass_low <= summary.pass_rate <= summary.pass_high <= 1
    assert 0 <= summary.low <= summary.mean + 1e-12 <= summary.high + 2e-12 <= 1 + 2e-12


def parts(**values):
    """Return a score of criteria that weigh the same, of which `None` was left open."""
    known = [value for value in values.values() if value is not None]
    made = [
        Part(id=id, value=value, weight=0.0 if value is None else 1 / len(known),
             status="abstained" if value is None else "scored")
        for id, value in values.items()
    ]  # fmt: skip
    return Score(value=sum(known) / len(known), parts=tuple(made), source="judge")


def test_criteria_leave_fallbacks_out_as_their_metric_does():
    stand_in = parts(a=0.0, b=0.0).model_copy(update={"fallback": FALLBACK, "source": "computed"})
    summary = tallied(*[parts(a=1.0, b=0.5)] * 10, *[stand_in] * 30)

    assert (summary.judged, summary.fallback) == (10, 30)
    assert [(c.id, c.scored, c.mean) for c in summary.criteria] == [("a", 10, 1.0), ("b", 10, 0.5)]


def test_weights_of_criteria_add_up_to_one_although_some_were_left_open():
    summary = tallied(parts(a=1.0, b=0.5, c=0.2), parts(a=1.0, b=0.5, c=None), parts(a=0.1, b=None))

    weights = {c.id: c.weight for c in summary.criteria}
    assert sum(weights.values()) == pytest.approx(1)
    assert weights == pytest.approx({"a": 11 / 18, "b": 5 / 18, "c": 1 / 9})


def test_criteria_of_which_the_lowest_decides_have_no_weight():
    lowest = Score(value=0.2, parts=(Part(id="a", value=0.2), Part(id="b", value=0.9)))

    assert [c.weight for c in tallied(lowest).criteria] == [None, None]


def test_figures_go_by_clusters():
    tally = Tally(
        "m", range=(0.0, 1.0), higher_is_better=True, threshold=0.5, clustered=True
    )  # fmt: skip
    for number in range(60):
        tally.add(f"c{number}", parts(a=float(number % 12 < 9), b=0.5), number % 12)
    summary = tally.finish()

    assert (summary.clusters, summary.independent, summary.few) == (12, 12, True)
    assert summary.df == pytest.approx(11)
    assert summary.standard_error == pytest.approx(math.sqrt(0.75 * 0.25 / 11) / 2)
    assert (summary.pass_low, summary.pass_high) == pytest.approx(
        mean_interval(0.75, math.sqrt(0.75 * 0.25 / 11), 11, bounds=(0, 1))
    )
    assert [c.clusters for c in summary.criteria] == [12, 12]


@pytest.mark.parametrize(
    ("aggregate", "figure", "details"),
    [
        (answered_share, "answered", {"outcome": "no_answer"}),
        (_Corpus, "corpus_perplexity", {"tokens": 3, "logprob": -9.0}),
        (_accuracies, "accuracy_raw", {"picked_by": dict.fromkeys(_KINDS, 1), "correct": 0}),
    ],
)
def test_figures_of_a_metric_leave_fallbacks_out(aggregate, figure, details):
    tally = aggregate()
    stand_in = Score(value=0.5, fallback=FALLBACK, details=details)
    tally.add(Row(case="c", metric="m", result=stand_in))

    assert tally.finish()[figure] is None
