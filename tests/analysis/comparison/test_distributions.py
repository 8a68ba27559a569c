"""Distributions over answers in a comparison."""

from __future__ import annotations

import pytest

from judgekit.analysis.comparison.tally import DistributionTally
from judgekit.core.distribution import Distribution


def of(yes: float) -> Distribution:
    made = Distribution.of({True: yes, False: 1 - yes}, source="logprobs")
    assert made is not None
    return made


def test_means_and_distance_are_those_computed_by_hand():
    tally = DistributionTally("polite", clustered=False)
    for before, after in ((0.9, 0.5), (0.5, 0.5), (0.1, 0.3), (0.7, 0.7), (0.2, 0.4)):
        tally.add(of(before), of(after), "c")

    change = tally.finish()

    assert change.labels == (True, False)
    assert change.base == pytest.approx((0.48, 0.52))
    assert change.new == pytest.approx((0.48, 0.52))
    assert change.distance == pytest.approx((0.4 + 0.2 + 0.2) / 5)
    assert 0 <= change.low < change.distance < change.high <= 1
    assert "yes 48% -> 48%" in change.line


def test_an_answer_that_only_one_run_knows_has_no_probability_in_the_other():
    tally = DistributionTally("polite", clustered=False)
    one = Distribution(labels=("a",), probabilities=(1.0,), source="samples")
    other = Distribution(labels=(None,), probabilities=(1.0,), source="samples")
    tally.add(one, other, "c")

    change = tally.finish()

    assert (change.labels, change.base, change.new) == (("a", None), (1.0, 0.0), (0.0, 1.0))
    assert (change.distance, change.low) == (1.0, None)
    assert "cannot tell 0% -> 100%" in change.line
    assert "[too few]" in change.line


def test_clusters_decide_whether_there_is_an_interval():
    tally = DistributionTally("polite", clustered=True)
    for n in range(40):
        tally.add(of(0.5), of(n % 5 / 5), n % 4)

    assert tally.finish().low is None
