"""Figures of a pairwise metric: position, ties and length, on simulated judges."""

from __future__ import annotations

import math
import random

import pytest

from judgekit.core.case import Case
from judgekit.judges.fake import FakeJudge
from judgekit.metrics.pairwise.preference import PairwiseMetric
from judgekit.runner.evaluation import evaluate_sync
from tests.metrics.pairwise.judged import answers_of, better, first, judge_by, positional, shorter


def summary_of(cases, judge, **options):
    report = evaluate_sync(cases, [PairwiseMetric(judge=judge, **options)])
    return report.metrics["preference"]


def simulated(count, share, seed=1):
    """Return cases of which the output is better in this share, and worse in the others."""
    draw = random.Random(seed)
    wins = [draw.random() < share for _ in range(count)]
    pairs = [("good", "bad") if win else ("bad", "good") for win in wins]
    cases = [
        Case(id=f"{n}", input=f"{n}", output=f"{mine} {n}", baseline=f"{other} {n}")
        for n, (mine, other) in enumerate(pairs)
    ]
    return cases, sum(wins) / count


@pytest.mark.parametrize("rule", ["strict", "mean"])
def test_a_position_preference_shows_in_the_figures_and_not_in_the_win_rate(rule):
    # The judge chooses the first answer with probability p, and the better one otherwise.
    p, count = 0.4, 800
    cases, truth = simulated(count, 0.5)

    summary = summary_of(cases, judge_by(positional(p)), rule=rule)

    figures = summary.figures
    # The order in which the better answer comes first is always right; the other with 1 - p.
    assert figures["positional_consistency"] == pytest.approx(1 - p, abs=0.05)
    assert figures["first_position_rate"] == pytest.approx((1 + p) / 2, abs=0.02)
    assert figures["first_position_low"] < (1 + p) / 2 < figures["first_position_high"]
    assert figures["disagreeing_first_rate"] == 1.0  # not diluted by the pairs that agree
    assert figures["disagreeing_first_low"] > 0.98
    assert figures["tie_rate"] == pytest.approx(p, abs=0.05)
    # Each order alone is off by p / 2 in opposite directions; both together are not.
    assert summary.mean == pytest.approx(truth, abs=0.02)


def test_one_order_alone_would_be_biased():
    cases, truth = simulated(400, 0.5)
    report = evaluate_sync(cases, [PairwiseMetric(judge=judge_by(positional(0.4)))])
    by_order = {"written": [], "swapped": []}
    for scored in report.results:
        for opinion in scored.rows[0].result.opinions:
            by_order[opinion.order].append(opinion.value)

    means = {order: sum(values) / len(values) for order, values in by_order.items()}
    assert means["written"] == pytest.approx(truth + 0.2, abs=0.06)
    assert means["swapped"] == pytest.approx(truth - 0.2, abs=0.06)


def test_a_judge_that_always_takes_the_first():
    cases, _ = simulated(20, 0.5)
    summary = summary_of(cases, judge_by(first))

    assert summary.mean == 0.5
    assert summary.figures["positional_consistency"] == 0.0
    assert summary.figures["first_position_rate"] == 1.0
    assert summary.figures["tie_rate"] == 1.0


def test_a_judge_that_takes_no_position():
    cases, truth = simulated(20, 0.5)
    summary = summary_of(cases, judge_by(better))

    assert summary.mean == pytest.approx(truth)
    assert summary.figures["positional_consistency"] == 1.0
    assert summary.figures["first_position_rate"] == 0.5
    assert summary.figures["disagreeing_first_rate"] is None
    assert summary.figures["tie_rate"] == 0.0


def test_a_judge_that_guesses_has_no_position():
    cases, _ = simulated(200, 0.5)
    guess = judge_by(lambda a, b, chance: chance.choice("AB"))

    figures = summary_of(cases, guess).figures

    assert figures["positional_consistency"] == pytest.approx(0.5, abs=0.1)
    assert figures["disagreeing_first_low"] < 0.5 < figures["disagreeing_first_high"]


def by_length(noise):
    """Return a judge that prefers the longer answer, more surely the longer it is."""

    def choose(a, b, chance):
        lean = math.tanh((len(a) - len(b)) / 40) / noise if noise else math.inf * (len(a) - len(b))
        return "A" if chance.random() < 1 / (1 + math.exp(-lean)) else "B"

    return choose


def of_lengths(count, mean, seed=2):
    draw = random.Random(seed)
    lengths = [
        (round(draw.gauss(100 + mean, 30)), round(draw.gauss(100, 30))) for _ in range(count)
    ]
    return [
        Case(id=f"{n}", input=f"{n}", output="x" * max(1, one), baseline="y" * max(1, other))
        for n, (one, other) in enumerate(lengths)
    ]


@pytest.mark.thorough
def test_a_judge_of_lengths_has_no_preference_at_equal_length():
    # The outputs are longer, so that the judge prefers them, and length alone is why.
    summary = summary_of(of_lengths(1_000, 30), judge_by(by_length(0.5)), rule="mean")

    assert summary.mean > 0.6
    assert summary.figures["length_controlled_win_rate"] == pytest.approx(0.5, abs=0.03)
    assert summary.figures["length_separated"] == 0


def test_a_side_that_is_nearly_always_longer_is_reported():
    summary = summary_of(of_lengths(200, 90), judge_by(by_length(0.5)), rule="mean")

    assert summary.figures["length_controlled_win_rate"] is None
    assert summary.figures["length_one_sided"] == 1


def test_separation_is_reported():
    summary = summary_of(of_lengths(200, 30), judge_by(shorter))

    assert summary.figures["length_controlled_win_rate"] is None
    assert summary.figures["length_separated"] == 1


def test_rows_without_a_comparison_do_not_count():
    def script(request):
        label = None if "bad" in answers_of(request)[0] else "tie"
        return {"preference": {"reason": "r", "value": label or "A"}}

    cases = [
        Case(id="tie", input="?", output="a", baseline="b"),
        Case(id="none", input="?", output="a"),
        Case(id="ok", input="?", output="bad", baseline="bad"),
    ]
    summary = summary_of(cases, FakeJudge(script), tie="abstain")

    assert (summary.scored, summary.abstained, summary.failed) == (0, 2, 1)
    assert summary.figures["tie_rate"] == 1.0
    assert summary.figures["positional_consistency"] == 0.5
    assert summary_of([cases[1]], FakeJudge()).figures == dict.fromkeys(summary.figures)


def test_a_gate_may_use_the_figures():
    cases, _ = simulated(12, 0.5)
    gates = {"preference": {"positional_consistency": 0.9, "first_position_rate": 0.6}}
    report = evaluate_sync(cases, [PairwiseMetric(judge=judge_by(first))], gates=gates)

    assert [gate.passed for gate in report.figures.gates] == [False, False]
