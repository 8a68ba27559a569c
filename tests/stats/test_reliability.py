"""Reliability of repeated answers, against published and simulated figures."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgekit.stats.reliability import (
    PairSums,
    RepeatTally,
    samples_needed,
)


def columns(rows):
    return list(zip(*rows, strict=True))


def tallied(rows, values=None):
    tally = RepeatTally()
    tally.add(columns(rows), columns(values or rows))
    return tally


def test_icc_is_that_of_shrout_and_fleiss():
    """Six targets by four judges; Shrout and Fleiss (1979), table 2: ICC(1,1) = .17."""
    rows = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]

    assert tallied(rows).icc == pytest.approx(0.1657, abs=5e-5)


def test_kappa_is_that_of_fleiss():
    """Ten subjects by fourteen raters in five categories; the example of Fleiss (1971): .210."""
    counts = [
        (0, 0, 0, 0, 14), (0, 2, 6, 4, 2), (0, 0, 3, 5, 6), (0, 3, 9, 2, 0), (2, 2, 8, 1, 1),
        (7, 7, 0, 0, 0), (3, 2, 6, 3, 0), (2, 5, 3, 2, 2), (6, 5, 2, 1, 0), (0, 2, 2, 3, 7),
    ]  # fmt: skip
    rows = [[label for label, n in enumerate(row) for _ in range(n)] for row in counts]

    found = tallied(rows, [[None] * 14] * 10)

    assert found.kappa == pytest.approx(0.2099, abs=5e-5)
    assert (found.cases, found.icc) == (10, None)


ROWS = st.lists(
    st.lists(st.sampled_from([None, 0.0, 0.1, 0.7, 1.0]), min_size=3, max_size=3),
    min_size=1,
    max_size=20,
)


@given(ROWS, ROWS)
def test_cases_may_be_added_in_parts(first, second):
    parts = tallied(first)
    parts.add(columns(second), columns(second))

    together = tallied(first + second)

    for name in ("cases", "exact", "kappa", "icc", "spread"):
        one, other = getattr(parts, name), getattr(together, name)
        assert one == (None if other is None else pytest.approx(other, abs=1e-9)), name


@given(ROWS)
def test_the_figures_are_those_of_their_formulas(rows):
    found = tallied(rows)

    counts = [
        [row.count(label) for label in {cell for each in rows for cell in each}] for row in rows
    ]
    agreeing = [sum(n * (n - 1) for n in row) / 6 for row in counts]
    assert found.exact == pytest.approx(sum(3 in row for row in counts) / len(rows))
    chance = sum((sum(column) / (3 * len(rows))) ** 2 for column in zip(*counts, strict=True))
    if chance < 1:
        kappa = (sum(agreeing) / len(rows) - chance) / (1 - chance)
        assert found.kappa == pytest.approx(kappa, abs=1e-9)
    known = [np.array([v for v in row if v is not None]) for row in rows]
    known = [values for values in known if len(values) > 1]
    if known:
        free = sum(len(values) - 1 for values in known)
        spread = math.sqrt(sum(((v - v.mean()) ** 2).sum() for v in known) / free)
        assert found.spread == pytest.approx(spread, abs=1e-12)


@given(st.lists(st.lists(st.floats(0, 1), min_size=3, max_size=3), min_size=2, max_size=20))
def test_icc_is_that_of_the_analysis_of_variance(rows):
    table = np.array(rows)
    means = table.mean(axis=1)
    between = 3 * ((means - table.mean()) ** 2).sum() / (len(rows) - 1)
    within = ((table - means[:, None]) ** 2).sum() / (2 * len(rows))

    if between + 2 * within > 1e-9:
        icc = (between - within) / (between + 2 * within)
        assert tallied(rows).icc == pytest.approx(icc, abs=1e-6)


@pytest.mark.parametrize("large", [1e80, 1e160, 1e308])
def test_numbers_beyond_the_sums_have_no_correlation(large):
    sums = PairSums([large, -large, large], [-large, large, large])

    assert (sums.correlation, sums.interval) == (None, None)


def test_a_correlation_of_zero_has_no_sign():
    sums = PairSums([0, 1, 2], [0, 1, 0])
    sums._squares[2] = -1e-18  # as rounding may leave it

    assert str(sums.correlation) == "0.0"


def test_a_known_reliability_is_recovered():
    draw = random.Random(4)
    rows = []
    for _ in range(4_000):
        truth = draw.gauss(0, 1)
        rows.append([truth + draw.gauss(0, 1) for _ in range(3)])

    found = tallied(rows)

    assert found.icc == pytest.approx(0.5, abs=0.03)
    assert found.spread == pytest.approx(1.0, abs=0.03)
    # By Spearman and Brown, 9 answers of reliability .5 have .9 together.
    assert samples_needed(0.5) == 9
    assert samples_needed(1e-15) is None


def test_figures_without_variation_are_undefined():
    found = tallied([[1.0, 1.0], [1.0, 1.0]])

    assert (found.exact, found.kappa, found.icc) == (1.0, None, None)
    assert tallied([[1.0]]).exact is None


PAIRS = st.lists(st.tuples(st.floats(-5, 5), st.floats(-5, 5)), max_size=30)


@given(PAIRS, PAIRS)
def test_the_correlation_is_that_of_numpy(first, second):
    pairs = [*first, *second, (0.0, 0.0), (1.0, 2.0)]
    sums = PairSums(*columns(first))
    sums.add(*columns(pairs[len(first) :]))
    first, second = np.array(pairs).T
    if min(first.var(), second.var()) > 1e-6:
        assert sums.correlation == pytest.approx(np.corrcoef(first, second)[0, 1], abs=1e-6)


def test_the_interval_of_a_correlation_covers_it():
    draw = np.random.default_rng(5)
    covered = 0
    for _ in range(400):
        common = draw.normal(size=50)
        pairs = zip(common + draw.normal(size=50), common + draw.normal(size=50), strict=True)
        low, high = PairSums(*columns(pairs)).interval
        covered += low <= 0.5 <= high

    assert covered / 400 > 0.92
