"""Ridge logistic regression, and the win rate at equal length."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgekit.stats.logistic import (
    ControlledRate,
    length_controlled_rate,
    ridge_logistic,
    separated,
)
from tests.later import Later

optimize = Later("scipy.optimize")


def oracle(xs, ys, ridge):
    xs, ys = np.array(xs), np.array(ys)

    def loss(b):
        z = b[0] + b[1] * xs
        return np.sum(np.logaddexp(0, z) - ys * z) + ridge / 2 * b[1] ** 2

    return optimize.minimize(loss, [0.0, 0.0], method="BFGS", options={"gtol": 1e-9}).x


@pytest.mark.parametrize("seed", range(8))
def test_the_fit_is_that_of_an_optimiser(seed):
    draw = random.Random(seed)
    xs = [draw.uniform(-1, 1) for _ in range(60)]
    chances = [1 / (1 + math.exp(-(0.4 - 2 * x))) for x in xs]
    ys = [draw.choice((0.5, float(draw.random() < p))) for p in chances]

    fit = ridge_logistic(xs, ys)

    assert fit == pytest.approx(oracle(xs, ys, 1.0), abs=1e-5)


@given(
    st.lists(
        st.tuples(st.integers(-5000, 5000), st.sampled_from([0.0, 0.5, 1.0])),
        min_size=1,
        max_size=40,
    )
)
def test_exchanged_answers_have_the_opposite_rate(pairs):
    longer, wins = [d for d, _ in pairs], [w for _, w in pairs]

    rate = length_controlled_rate(wins, longer)
    mirrored = length_controlled_rate([1 - w for w in wins], [-d for d in longer])

    assert rate.separated == mirrored.separated == separated(longer, wins)
    if rate.rate is not None:
        assert 0 <= rate.rate <= 1
        assert rate.rate == pytest.approx(1 - mirrored.rate, abs=1e-9)
    assert (rate.low is None) == (mirrored.low is None)
    if rate.low is not None:
        assert 0 <= rate.low <= rate.rate <= rate.high <= 1
        assert rate.low == pytest.approx(1 - mirrored.high, abs=1e-6)


@pytest.mark.parametrize(
    ("xs", "ys", "expected"),
    [
        ([1, 2, 3], [0, 0, 1], True),
        ([1, 2, 3], [1, 0, 0], True),
        ([1, 2, 2, 3], [0, 0, 1, 1], True),  # both on the threshold: quasi-separation
        ([-1, 0, 1], [0, 0.5, 1], True),
        ([-1, 0.5, 0, 1], [0, 0.5, 0.5, 1], False),
        ([1, 2, 3], [1, 1, 1], True),
        ([0, 0], [0, 1], False),
        ([1, 2, 3, 4], [0, 1, 0, 1], False),
    ],
)
def test_separation(xs, ys, expected):
    assert separated(xs, ys) is expected


def test_lengths_that_explain_nothing():
    assert length_controlled_rate([], []) == ControlledRate(None)
    assert length_controlled_rate([1, 1, 0, 1], [0, 0, 0, 0]).rate == 0.75
    # A difference that is always the same cannot be told from the constant.
    assert length_controlled_rate([1, 1, 0, 1], [9, 9, 9, 9]) == ControlledRate(None)


def test_huge_differences_do_not_overflow():
    rate = length_controlled_rate([1, 0, 1, 0] * 5, [10**9, -(10**9), 3, -2, 1] * 4)

    assert 0 < rate.rate < 1


@pytest.mark.parametrize("slope", [0.0, -2.0])
def test_the_interval_of_a_rate_holds_the_truth_in_95_percent_of_samples(slope):
    draws = random.Random(3)
    inside = 0
    for _ in range(300):
        longer = [draws.gauss(30, 100) for _ in range(60)]
        odds = [0.5 + slope * math.tanh(d / 100) for d in longer]
        wins = [float(draws.random() < 1 / (1 + math.exp(-z))) for z in odds]
        rate = length_controlled_rate(wins, longer)
        inside += rate.low <= 1 / (1 + math.exp(-0.5)) <= rate.high

    assert 0.92 <= inside / 300 <= 0.98


def test_few_comparisons_have_a_rate_and_no_interval():
    few = length_controlled_rate([1, 0, 1, 0], [10, 10, -10, -10])

    assert (few.rate, few.low, few.high) == (0.5, None, None)
