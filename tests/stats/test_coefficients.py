"""Intervals and weights of coefficients: what the added pairs, clusters and weights do."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from judgekit.stats.agreement import PairColumns, Paired, kappa_figure, rank_figure
from judgekit.stats.clusters import cr2
from judgekit.stats.coefficients import (
    _alpha,
    _kendall,
    _pearson,
    alpha_figure,
    kendall_figure,
    pearson_figure,
)
from judgekit.stats.shares import share_figures
from tests.each import each

VALUES = [0.0, 1.0, 3.0, 4.0, 8.0]
FIGURES = {
    "kappa": lambda pairs, **more: kappa_figure(PairColumns.of(pairs, **more), 5, VALUES),
    "linear": lambda pairs, **more: kappa_figure(PairColumns.of(pairs, **more), 5, VALUES, power=1),
    "spearman": lambda pairs, **more: rank_figure(PairColumns.of(pairs, **more)),
    "pearson": lambda pairs, **more: pearson_figure(PairColumns.of(pairs, **more), VALUES),
    "kendall": lambda pairs, **more: kendall_figure(PairColumns.of(pairs, **more)),
}


def drawn(n=60, seed=1, size=5):
    draw = np.random.default_rng(seed)
    first = draw.integers(0, size, n)
    second = np.where(draw.random(n) < 0.6, first, draw.integers(0, size, n))
    return [Paired(k, int(a), int(b)) for k, (a, b) in enumerate(zip(first, second, strict=True))]


def numeric(function, weights, place, step=1e-5):
    """Return the derivative by one weight."""
    more, less = (np.array(weights, float) for _ in range(2))
    more[place] += step
    less[place] -= step
    return (function(more) - function(less)) / (2 * step)


@pytest.mark.parametrize("kind", ["pearson", "kendall"])
def test_an_influence_is_the_derivative(kind):
    columns = PairColumns.of(drawn())

    def estimate(weights):
        columns.weights = weights / weights.mean()
        influence = _pearson(VALUES, columns, 0.0) if kind == "pearson" else _kendall(columns, 0.0)
        return influence.estimate

    weights = np.linspace(0.5, 2, 60)
    weights /= weights.mean()
    columns.weights = weights
    each = (_pearson(VALUES, columns, 0.0) if kind == "pearson" else _kendall(columns, 0.0)).each
    for place in (0, 7, 41):
        assert numeric(estimate, weights, place) * 60 == pytest.approx(each[place], abs=1e-6)


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
@pytest.mark.parametrize("added", [0.0, 2.0])
def test_the_influence_of_a_case_on_alpha_is_the_derivative(level, added):
    draw = np.random.default_rng(2)
    case, places = np.repeat(np.arange(40), 3), draw.integers(0, 5, 120)

    def influence(weights):
        return _alpha(case, places, np.array(VALUES), weights, level, 1.0, added)

    weights = np.linspace(0.5, 2, 40)
    each = influence(weights).each
    for place in (0, 7, 31):
        slope = numeric(lambda w: influence(w).estimate, weights, place)
        assert slope * (40 + added) == pytest.approx(each[place], abs=1e-5)


@pytest.mark.parametrize("kind", ["pearson", "kendall"])
def test_added_pairs_are_spread_over_all_combinations(kind):
    """The closed form of estimate and squares is that of such pairs, written out."""
    pairs = drawn()
    of = (lambda c, a: _pearson(VALUES, c, a)) if kind == "pearson" else _kendall
    added = of(PairColumns.of(pairs), 2.0)
    grid = [Paired(99 + k, a, b, 2 / 25) for k, (a, b) in enumerate(product(range(5), range(5)))]
    columns = PairColumns.of([*pairs, *grid])
    columns.weights = np.array([1.0] * 60 + [2 / 25] * 25) * 85 / 62
    whole = of(columns, 0.0)

    assert whole.estimate == pytest.approx(added.estimate)
    assert whole.each[:60] == pytest.approx(added.each)
    assert (whole.each[60:] ** 2).sum() * 2 / 25 == pytest.approx(added.added)


@each("name", FIGURES)
def test_a_weight_of_two_is_the_same_pair_twice(name):
    pairs = drawn()
    twice = [*pairs, *[p._replace(unit=1000 + p.unit) for p in pairs[:20]]]
    weighted = [p._replace(weight=2.0 if k < 20 else 1.0) for k, p in enumerate(pairs)]

    assert FIGURES[name](weighted).value == pytest.approx(FIGURES[name](twice).value)
    same = FIGURES[name]([p._replace(weight=7.5) for p in pairs])
    assert same == FIGURES[name](pairs)


@each("name", FIGURES)
def test_unequal_weights_widen_the_interval(name):
    pairs = drawn(200)
    weighted = [p._replace(weight=10.0 if k % 5 == 0 else 1.0) for k, p in enumerate(pairs)]
    plain, found = FIGURES[name](pairs), FIGURES[name](weighted)

    assert found.high - found.low > 1.15 * (plain.high - plain.low)


@each("name", FIGURES)
def test_a_constant_side_has_no_coefficient_but_for_kappa(name):
    pairs = [Paired(n, 2, n % 3) for n in range(40)]
    found = FIGURES[name](pairs)

    assert found.value == (pytest.approx(0.0) if name in ("kappa", "linear") else None)
    assert FIGURES[name]([]).value is None


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
def test_alpha_of_repeated_raters_has_the_interval_of_one(level):
    """The unit of alpha is the case: more raters who agree add no cases."""
    draw = np.random.default_rng(5)
    case, places = np.repeat(np.arange(50), 2), draw.integers(0, 5, 100)
    n, found = alpha_figure(case, places, VALUES, level)

    assert n == 50
    assert found.low < found.value < found.high
    few = alpha_figure(case[:30], places[:30], VALUES, level).figure
    assert few.too_few == "15 of the 20 cases that an interval needs"
    clustered = alpha_figure(case, places, VALUES, level, units=np.arange(50) // 10).figure
    assert clustered.too_few == "5 of the 10 clusters that an interval needs"


def test_a_reply_without_a_verdict_misses_what_people_say():
    pairs = [Paired(n, n % 3, n % 2) for n in range(60)]
    figures = share_figures(PairColumns.of(pairs))

    assert {name: one.n for name, one in figures.items()} == {
        "precision": 20, "recall": 30, "specificity": 30, "f1": 40, "balanced_f1": 60,
    }  # fmt: skip
    assert figures["recall"].figure.value == pytest.approx(1 / 3)
    assert figures["precision"].figure.value == pytest.approx(0.5)


def test_shares_count_the_pairs_of_their_own_side():
    figures = share_figures(PairColumns.of([Paired(n, 1, int(n < 12)) for n in range(30)]))

    assert figures["specificity"].figure.too_few == "18 of the 20 cases that an interval needs"
    assert (figures["specificity"].n, figures["specificity"].figure.value) == (18, 0.0)
    assert share_figures(PairColumns.of([Paired(0, 1, 1)]))["specificity"].figure.value is None


@pytest.mark.parametrize("sizes", [[1] * 50, [3] * 12, [40, *[2] * 9], [1.5, 2.0, 0.5, 1.5]])
def test_clusters_of_one_size_take_the_short_way(sizes):
    totals = [float(n % 7) for n in range(len(sizes))]
    n = sum(sizes)
    shares = [size / n for size in sizes]
    weights = [f**2 / (1 - f) for f in shares]
    df = 1 / (sum(f**2 for f in shares) + sum(weights) ** 2 - sum(w * w for w in weights))

    assert cr2(totals, sizes).df == pytest.approx(max(1.0, df))


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
def test_alpha_of_weighted_cases_is_that_of_repeated_cases(level):
    draw = np.random.default_rng(3)
    places, weights = draw.integers(0, 5, (40, 2)), np.repeat([1, 3], 20)
    times = np.repeat(np.arange(40), weights)

    weighted = alpha_figure(
        np.repeat(np.arange(40), 2), places.ravel(), VALUES, level, weights=weights
    )
    repeated = alpha_figure(np.repeat(np.arange(80), 2), places[times].ravel(), VALUES, level)

    assert weighted.figure.value == pytest.approx(repeated.figure.value, abs=1e-12)
