"""Coefficients of agreement, each with a confidence interval.

The interval is an adjusted Wald interval, as in Agresti and Caffo (2000) for shares: two cases are
added, spread evenly over all combinations of answers. The standard error comes from the influence
of each case on the coefficient, summed by case (or by cluster); see `cr2`. Pairs may have weights,
such as the inverse of the probability with which a plan selected the case. Because of the added
cases, the interval has a width even if all answers agree or one answer is rare; bootstrap and plain
Wald intervals cover too little there. `benchmarks/coverage_agreement.py` measures the coverage.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from judgekit.stats.clusters import FEWEST, cr2
from judgekit.stats.intervals import Coefficient
from judgekit.stats.student import student_t_quantile

FEWEST_CASES = 20
"""Minimum number of cases for an interval."""
FEWEST_UNLIKE = 5
"""Minimum number of cases, on each side, with another answer than the most common one, for the
interval of a rank correlation: near the ceiling a few cases carry all of it."""
_SMALL = 1e-12
ADDED = 2.0
"""Number of added cases, spread evenly over all combinations of answers."""


class Paired(NamedTuple):
    """One pair of answers, as indices of the sorted values, and its unit."""

    unit: int
    """Number of the case, or of its cluster. Units are independent of each other."""
    first: int
    second: int
    weight: float = 1.0


class Units:
    """The units and weights of cases or pairs, as arrays.

    Args:
        units: a whole number for each, which identifies its unit.
        weights: any positive numbers; kept with mean 1.
        clustered: whether units are clusters of cases.
    """

    def __init__(self, units: Any, weights: Any, *, clustered: bool = False) -> None:
        _, self.units = np.unique(units, return_inverse=True)
        self.weights = relative(weights)
        self.clustered = clustered

    def __len__(self) -> int:
        return len(self.units)


class PairColumns(Units):
    """Pairs as arrays.

    Args:
        units: a whole number for each pair, which identifies its unit.
        first: indices of the first answers.
        second: indices of the second answers.
        weights: any positive numbers; kept with mean 1.
        clustered: whether units are clusters of cases.
    """

    def __init__(
        self, units: Any, first: Any, second: Any, weights: Any, *, clustered: bool = False
    ) -> None:
        super().__init__(units, weights, clustered=clustered)
        self.first, self.second = first, second

    @classmethod
    def of(cls, pairs: Sequence[Paired], *, clustered: bool = False) -> PairColumns:
        """Return pairs as columns."""
        columns = np.array(pairs, dtype=float).reshape(-1, 4).T
        units, first, second = columns[:3].astype(np.int64)
        return cls(units, first, second, columns[3], clustered=clustered)

    @classmethod
    def counted(cls, rows: Sequence[Sequence[int]], *, clustered: bool) -> PairColumns:
        """Return equal pairs as columns.

        Args:
            rows: unit, indices of both answers, and number of such pairs.
            clustered: whether units are clusters; otherwise, each pair has its own unit.
        """
        *columns, counts = np.array(rows, dtype=np.int64).reshape(-1, 4).T
        units, first, second = (np.repeat(column, counts) for column in columns)
        size = len(first)
        own = units if clustered else np.arange(size)
        return cls(own, first, second, np.ones(size), clustered=clustered)

    def where(self, chosen: Any) -> PairColumns:
        """Return the selected pairs.

        Args:
            chosen: whether to keep each pair.
        """
        if chosen.all():
            return self
        columns = (self.units, self.first, self.second, self.weights)
        return PairColumns(*(column[chosen] for column in columns), clustered=self.clustered)

    def table(self, rows: int, columns: int) -> Any:
        """Return the weighted counts, with a row per first and a column per second answer."""
        cells = self.first * columns + self.second
        counts = np.bincount(cells, weights=self.weights, minlength=rows * columns)
        return counts.reshape(rows, columns)


def relative(weights: Any) -> Any:
    """Return weights as an array with mean 1; equal weights are exactly 1."""
    values = np.asarray(weights, dtype=float)
    equal = not len(values) or values.min() == values.max()
    return np.ones(len(values)) if equal else values / values.mean()


class Influence(NamedTuple):
    """A coefficient over pairs and added pairs, and the influence of each of them."""

    estimate: float
    each: Any
    """For each pair, the derivative of the coefficient with respect to the share of such pairs."""
    added: float
    """Sum of the squared influences of the added pairs."""


def distances(size: int, places: Sequence[float] | None, power: int = 2) -> Any:
    """Return the distances between categories; one without a position has the maximum distance."""
    if places is None:
        return 1 - np.eye(size)
    known = np.asarray(places, float)
    squares = np.abs(np.subtract.outer(known, known)) ** power
    far = np.full((size, size), squares.max() or 1.0)
    np.fill_diagonal(far, 0.0)
    far[: len(known), : len(known)] = squares
    return far


def kappa_figure(
    pairs: PairColumns, size: int, places: Sequence[float] | None, *, power: int = 2
) -> Coefficient:
    """Return kappa with its 95 % interval.

    Args:
        pairs: the pairs.
        size: number of categories.
        places: positions of the categories; `None` if they have no order.
        power: power of the distance of two positions: 2 for quadratic weights, 1 for linear ones.
    """
    table, cells = pairs.table(size, size), pairs.first * size + pairs.second
    far = distances(size, places, power)
    return coefficient(pairs, partial(_kappa_influence, table, cells, far))


def rank_figure(pairs: PairColumns) -> Coefficient:
    """Return Spearman's rho with its 95 % interval.

    Args:
        pairs: the pairs; the order of indices is the order of the answers.
    """
    return correlation(pairs, partial(_rank_influence, pairs))


def correlation(pairs: PairColumns, influence: Callable[[float], Influence | None]) -> Coefficient:
    """Return a correlation; it has no interval if a side has too few answers that differ."""
    figure = coefficient(pairs, influence)
    if figure.low is None:
        return figure
    unlike = min(_unlike(side, pairs.units) for side in (pairs.first, pairs.second))
    if unlike >= FEWEST_UNLIKE:
        return figure
    why = f"{unlike} of the {FEWEST_UNLIKE} answers unlike the most common that an interval needs"
    return Coefficient(figure.value, too_few=why)


def _unlike(side: Any, units: Any) -> int:
    """Return in how many units an answer differs from the most common one."""
    return len(np.unique(units[side != np.bincount(side).argmax()]))


def coefficient(
    cases: Units,
    influence: Callable[[float], Influence | None],
    *,
    bounds: tuple[float, float] = (-1.0, 1.0),
    added: float = ADDED,
) -> Coefficient:
    """Return a coefficient with its interval, or with the reason why it has none.

    An added case has as many pairs as a case has on average, times Kish's 1 + cv ** 2 of the
    weights: pairs of several people and one judge share the judge's answer. Pairs of a cluster may
    agree less. There, the factor is the design effect: the variance with units and weights divided
    by that without, at least 1 and at most the same number. The weight of the added cases is
    multiplied by it, and by the largest weight, because a rare answer may occur only in a few cases
    with large weights, and added cases with small weights would not compensate for them.

    Args:
        cases: the units and weights of the pairs, or of the cases.
        influence: function from the number of added pairs to the estimate and the influences;
            it returns `None` if the coefficient is not defined.
        bounds: minimum and maximum possible value.
        added: the pairs to add.
    """
    units, weights = cases.units, cases.weights
    bare = influence(0.0) if len(cases) else None
    if bare is None:
        return Coefficient(value=None)
    value = max(bounds[0], min(bounds[1], bare.estimate))
    sizes = np.bincount(units)
    count, n = len(sizes), len(units)
    least, unit = (FEWEST, "clusters") if cases.clustered else (FEWEST_CASES, "cases")
    if count < least:
        return Coefficient(value, too_few=f"{count} of the {least} {unit} that an interval needs")
    multiple = 1.0
    kish = float((weights**2).mean())
    if n > count or kish > 1:
        most = n / count * kish
        multiple = most
        if cases.clustered or n == count:
            each = _known(influence(added)).each
            alone = (float(np.var(each)) if kish == 1 else float((weights * each**2).mean())) / n
            together = _error(each, units, weights)[0] ** 2
            multiple = min(most, max(1.0, together / alone)) if alone > 0 else most
    multiple *= float(weights.max())
    figures = _known(influence(added * multiple))
    error, df = _error(figures.each, units, weights)
    whole = n + added * multiple
    error = float(np.sqrt((error * n) ** 2 + multiple * figures.added)) / whole
    half = student_t_quantile(0.975, df) * error
    return Coefficient(
        value=value,
        low=max(bounds[0], min(value, figures.estimate - half)),
        high=min(bounds[1], max(value, figures.estimate + half)),
    )


def _known(influence: Influence | None) -> Influence:
    assert influence is not None  # noqa: S101 - added pairs make every value possible
    return influence


def _error(each: Any, units: Any, weights: Any) -> tuple[float, float]:
    """Return the standard error of a mean, and its degrees of freedom.

    The degrees of freedom are at most 2 / (variance of the estimated variance, relative to its
    square), as Satterthwaite (1946) has them. If few cases have a large influence, such as those
    with a rare answer, the standard error is itself uncertain.
    """
    totals, sizes = (np.bincount(units, weights=of) for of in (each * weights, weights))
    if sizes.min() == sizes.max():  # the same as cr2, without its loops
        error, df = float(totals.std(ddof=1) / sizes[0] / len(sizes) ** 0.5), len(sizes) - 1.0
    else:
        figures = cr2(totals.tolist(), sizes.tolist())
        assert figures is not None  # noqa: S101 - there are many units
        error, df = figures.error, figures.df
    squares = (totals - sizes * (totals.sum() / sizes.sum())) ** 2
    spread = float(squares.var())
    if spread > _SMALL * float(squares.mean()) ** 2:
        df = min(df, 2 * len(totals) * float(squares.mean()) ** 2 / spread)
    return error, df


def _kappa_influence(table: Any, cells: Any, far: Any, weight: float) -> Influence | None:
    """Return kappa over a table and `weight` added pairs, by the delta method."""
    size = len(table)
    one = weight / size**2
    shares = (table + one) / (table.sum() + weight)
    rows, columns = shares.sum(axis=1), shares.sum(axis=0)
    observed, expected = (float((far * of).sum()) for of in (shares, np.outer(rows, columns)))
    if expected <= 0:
        return None
    margins = np.add.outer(far @ columns, rows @ far) - 2 * expected
    each = (observed - far) / expected + observed / expected**2 * margins
    return Influence(1 - observed / expected, each.ravel()[cells], float(one * (each**2).sum()))


def _rank_influence(pairs: PairColumns, weight: float) -> Influence | None:
    """Return Spearman's rho over pairs and `weight` added ones, by the delta method.

    Let u and v be the mid-distributions of the two sides over the values seen, minus their means.
    Then rho is the covariance of u and v divided by the product of their standard deviations. A
    pair also changes the ranks of all others; the cumulative sums compute this part. The result is
    `None` if one side is constant.
    """
    seen = [np.unique(side, return_inverse=True) for side in (pairs.first, pairs.second)]
    places, sizes = [inverse for _, inverse in seen], [len(values) for values, _ in seen]
    weights, n = pairs.weights, len(pairs.weights) + weight
    ones = [weight / size for size in sizes]  # added to every value of a side
    shares = [(np.bincount(s, weights=weights, minlength=size) + one) / n
              for s, size, one in zip(places, sizes, ones, strict=True)]  # fmt: skip
    u, v = (np.cumsum(share) - share / 2 - 0.5 for share in shares)
    spreads = [float((share * x**2).sum()) for share, x in zip(shares, (u, v), strict=True)]
    if min(spreads) < _SMALL:
        return None
    scale = float(np.sqrt(spreads[0] * spreads[1]))
    even = weight / (sizes[0] * sizes[1])  # added to every pair of values
    product = weights * u[places[0]] * v[places[1]]
    covariance = float(product.sum() + even * u.sum() * v.sum()) / n
    rho = covariance / scale
    if not weight:  # only the estimate counts
        return Influence(rho, None, 0.0)
    parts = []
    for (here, there), x, other, share, spread in zip(
        (places, places[::-1]), (u, v), (v, u), shares, spreads, strict=True
    ):
        # For each value: the sum of the other side, then the effect of its rank.
        reached = np.bincount(here, weights=weights * other[there], minlength=len(x))
        sums = (reached + even * other.sum()) / n
        shape = x**2 - spread + 2 * (sum_after(share * x) - spread)
        parts.append((sum_after(sums) - covariance) / scale - rho / 2 * shape / spread)
    p, q = parts
    constant = -covariance / scale
    each = u[places[0]] * v[places[1]] / scale + p[places[0]] + q[places[1]] + constant
    # The sum of squares over all pairs of values, without building the matrix.
    q = q + constant
    squares = (
        (u**2).sum() * (v**2).sum() / scale**2
        + sizes[1] * (p**2).sum() + sizes[0] * (q**2).sum()
        + 2 * ((u * p).sum() * v.sum() + u.sum() * (v * q).sum()) / scale
        + 2 * p.sum() * q.sum()
    )  # fmt: skip
    return Influence(rho, each, float(even * squares))


def sum_after(sums: Any) -> Any:
    """Return for each index the sum of all later items plus half of its own."""
    return sums.sum() - np.cumsum(sums) + sums / 2
