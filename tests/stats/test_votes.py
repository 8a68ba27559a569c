"""Effective votes: shared errors, wrong labels, and intervals."""

from __future__ import annotations

import numpy as np
import pytest

from judgekit.stats.agreement import Units
from judgekit.stats.votes import (
    MOST_WRONG,
    LabelNoise,
    effective_votes,
    label_noise,
    votes_of_errors,
)

NONE = LabelNoise(0.0, measured=True)
UNKNOWN = label_noise([[True]], "two")


def simple(cases, *, clustered=False):
    units = np.arange(cases) // (10 if clustered else 1)
    return Units(units, np.ones(cases), clustered=clustered)


def simulated(members, *, rate, shared, cases, wrong=0.0, seed=3):
    """Return errors that correlate by shared ** 2, against labels of which some are wrong."""
    draw = np.random.default_rng(seed)
    common, own = draw.random((cases, 1)), draw.random((cases, members))
    errors = np.where(draw.random((cases, members)) < shared, common, own) < rate
    return (errors ^ (draw.random((cases, 1)) < wrong)).astype(float)


def test_effective_votes():
    assert effective_votes(9, 0.5) == pytest.approx(1.8)
    assert effective_votes(4, 1.0) == 1.0
    assert effective_votes(4, 0.0) == 4.0


def test_the_correlation_is_the_mean_over_pairs_of_members_that_err():
    errors = simulated(4, rate=0.3, shared=0.6, cases=300)
    errors[:, 3] = 0.0  # never wrong

    found = votes_of_errors(errors, simple(300), "two", noise=NONE)

    r = np.corrcoef(errors[:, :3].T)
    assert found.correlation == pytest.approx(float(r[np.triu_indices(3, 1)].mean()), abs=1e-12)
    assert found.too_few == "a member has 0 of the 5 wrong and right answers it needs"


@pytest.mark.parametrize("kind", ["two", "words"])
@pytest.mark.parametrize("clustered", [False, True])
def test_the_interval_covers_the_votes_of_shared_errors(kind, clustered):
    covered = 0
    for seed in range(60):
        errors = simulated(3, rate=0.3, shared=0.7, cases=200, seed=seed)
        found = votes_of_errors(errors, simple(200, clustered=clustered), kind, noise=NONE)
        covered += found.low <= effective_votes(3, 0.49) <= found.high

    assert covered >= 52


def test_numbers():
    draw = np.random.default_rng(5)
    errors = draw.normal(size=(400, 1)) + draw.normal(size=(400, 3))

    found = votes_of_errors(errors, simple(400), "numbers", noise=NONE)
    noisy = votes_of_errors(
        errors, simple(400), "numbers", noise=LabelNoise(0.25, measured=False), spread=4.0
    )

    assert found.low < 1.5 < found.high < 2  # half of the variance is common
    assert noisy.high == 3.0  # it may all be noise of labels


def test_wrong_labels_look_like_shared_errors():
    errors = simulated(3, rate=0.05, shared=0.0, cases=1_000, wrong=0.1)

    strict = votes_of_errors(errors, simple(1_000), "two", noise=NONE)
    found = votes_of_errors(errors, simple(1_000), "two", noise=UNKNOWN)

    assert strict.high < 2
    assert found.value == strict.value
    assert (found.low, found.high) == (strict.low, 3.0)


def test_wrong_labels_do_not_explain_members_that_are_the_same():
    """They err in more cases than labels may be wrong."""
    one = simulated(1, rate=0.4, shared=0.0, cases=300)

    found = votes_of_errors(np.hstack([one] * 3), simple(300), "two", noise=UNKNOWN)

    assert found.value == pytest.approx(1.0)
    assert found.high < 1.5


def test_labellers_show_how_many_labels_are_wrong():
    draw = np.random.default_rng(2)
    labels = [[bool(v) for v in row] for row in draw.random((300, 3)) < 0.1]

    assert label_noise([[True]] * 50, "two") == LabelNoise(MOST_WRONG, measured=False)
    assert label_noise([[True, True]] * 19, "two").share == MOST_WRONG
    found = label_noise(labels, "two")
    # Two of three are wrong with 3 * .1 ** 2 * .9 + .1 ** 3 = .028; the bound is above.
    assert found.measured
    assert 0.028 < found.share < 0.06
    assert label_noise([own[:1] for own in labels[:100]] + labels, "two").share > found.share


def test_labellers_of_numbers_show_their_noise():
    draw = np.random.default_rng(2)
    truth = draw.normal(size=(200, 1)) * 2
    labels = (truth + draw.normal(size=(200, 2))).tolist()

    found = label_noise(labels, "numbers")

    # A mean of two labels has a noise of 1 / 2 and a variance of 4.5.
    assert found.measured
    assert 0.5 / 4.5 < found.share < 0.18


@pytest.mark.parametrize(
    ("cases", "clustered", "why"),
    [
        (19, False, "19 of the 20 cases that an interval needs"),
        (90, True, "9 of the 10 clusters that an interval needs"),
        (20, False, None),
        (100, True, None),
    ],
)
def test_too_few(cases, clustered, why):
    errors = simulated(2, rate=0.5, shared=0.5, cases=cases)

    found = votes_of_errors(errors, simple(cases, clustered=clustered), "two", noise=NONE)

    assert found.too_few == why
    assert (found.low is None) == (found.high is None) == bool(why)


def test_errors_that_do_not_vary():
    found = votes_of_errors(np.zeros((30, 2)), simple(30), "two", noise=NONE)

    assert (found.correlation, found.value, found.low) == (None, None, None)
