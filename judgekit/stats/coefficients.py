"""Pearson's correlation, Kendall's tau-b and Krippendorff's alpha, with intervals.

The intervals are those of `judgekit.stats.agreement`: two pairs (for alpha, two cases with two
answers each) are added, spread evenly over all combinations of values of the two sides. The
standard error comes from the influence of each pair on the coefficient.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Literal

import numpy as np

from judgekit.stats.agreement import (
    Influence,
    PairColumns,
    Units,
    coefficient,
    correlation,
    sum_after,
)
from judgekit.stats.intervals import Coefficient, CountedFigure

Level = Literal["nominal", "ordinal", "interval"]
_SMALL = 1e-12
"""Relative spread below which all values of a side are equal except for rounding."""


def pearson_figure(pairs: PairColumns, values: Sequence[float]) -> Coefficient:
    """Return Pearson's correlation with its 95 % interval; undefined if a side is constant.

    Args:
        pairs: the pairs.
        values: the number at each place.
    """
    return correlation(pairs, partial(_pearson, values, pairs))


def kendall_figure(pairs: PairColumns) -> Coefficient:
    """Return Kendall's tau-b (1945) with its 95 % interval; undefined if a side is constant.

    Args:
        pairs: the pairs; the order of indices is the order of the answers.
    """
    return correlation(pairs, partial(_kendall, pairs))


def _pearson(values: Sequence[float], columns: PairColumns, added: float) -> Influence | None:
    """Return r; a pair of standard scores a, b changes it by a * b - r / 2 * (a ** 2 + b ** 2)."""
    weights, n, numbers = columns.weights, len(columns) + added, np.asarray(values, float)
    sides = []
    for places in (columns.first, columns.second):
        own, even = numbers[places], numbers[np.unique(places)]
        one = added / len(even)  # added to every value of this side
        mean = float((weights * own).sum() + one * even.sum()) / n
        own, even = own - mean, even - mean
        spread = float((weights * own**2).sum() + one * (even**2).sum()) / n
        if spread <= (_SMALL * float(np.abs(numbers).max())) ** 2:
            return None
        sides.append((own / spread**0.5, even / spread**0.5))
    (x, u), (y, v) = sides
    one = added / (len(u) * len(v))
    r = float((weights * x * y).sum() + one * u.sum() * v.sum()) / n
    each = x * y - r / 2 * (x**2 + y**2)
    squares, a, b = (u**2).sum() * (v**2).sum(), len(u), len(v)
    whole = squares - r * ((u**3).sum() * v.sum() + u.sum() * (v**3).sum())
    whole += r**2 / 4 * (b * (u**4).sum() + a * (v**4).sum() + 2 * squares)
    return Influence(r, each, float(one * whole))


def _kendall(columns: PairColumns, added: float) -> Influence | None:
    """Return tau-b = s / sqrt(t * u) by the delta method.

    s is the mean of sign(x - x') * sign(y - y') over all ordered pairs of pairs; t and u are the
    shares of these in which a side differs.
    """
    weights, n = columns.weights, len(columns.units) + added
    sides = (columns.first, columns.second)
    first, second = (np.unique(side, return_inverse=True)[1] for side in sides)
    rows, width = int(first.max()) + 1, int(second.max()) + 1
    sizes = ((first, rows), (second, width))
    shares = [(np.bincount(side, weights=weights) + added / size) / n for side, size in sizes]
    varied = [1 - float((share**2).sum()) for share in shares]
    if min(varied) < _SMALL:
        return None
    even = added / (rows * width)
    order = np.argsort(first, kind="stable")
    ends = np.searchsorted(first[order], np.arange(rows + 1))
    whole = np.bincount(second, weights=weights, minlength=width) + even * rows
    before = np.zeros(width)
    signs = np.empty(len(first))
    sums = [0.0, 0.0, 0.0]
    """Over the added pairs: sum of signs, of signs times the two parts below, of squared signs."""
    parts = [(share - (share**2).sum()) / v for share, v in zip(shares, varied, strict=True)]
    for row in range(rows):
        own = order[ends[row] : ends[row + 1]]
        here = np.bincount(second[own], weights=weights[own], minlength=width) + even
        # Pairs with a smaller first answer minus those with a larger one, by second answer.
        net = 2 * before + here - whole
        before += here
        reached = (2 * np.cumsum(net) - net - net.sum()) / n
        signs[own] = reached[second[own]]
        if added:
            sums[0] += float(reached.sum())
            sums[1] += float((reached * (parts[0][row] + parts[1])).sum())
            sums[2] += float((reached**2).sum())
    s = float((weights * signs).sum() + even * sums[0]) / n
    scale = (varied[0] * varied[1]) ** 0.5
    tau = s / scale
    each = 2 * (signs - s) / scale + tau * (parts[0][first] + parts[1][second])
    if not added:
        return Influence(tau, each, 0.0)
    p, q = parts
    cells = rows * width
    margins = float(p.sum() * width + q.sum() * rows)
    squared = float(width * (p**2).sum() + rows * (q**2).sum() + 2 * p.sum() * q.sum())
    total = 4 * (sums[2] - 2 * s * sums[0] + cells * s**2) / scale**2
    total += 4 * tau * (sums[1] - s * margins) / scale + tau**2 * squared
    return Influence(tau, each, even * total)


def alpha_figure(
    cases: Any,
    places: Any,
    values: Sequence[float],
    level: Level,
    *,
    units: Any = None,
    weights: Any = None,
) -> CountedFigure:
    """Return the number of cases with two answers, and Krippendorff's alpha (2004).

    Alpha is 1 minus the observed / the expected disagreement. The disagreement of two different
    answers is 1 (nominal), the square of their difference (interval), or the square of the number
    of answers between them (ordinal), which is the difference of their ranks. The 95 % interval is
    that of `judgekit.stats.agreement`, over cases; two cases with two answers each are added.

    Args:
        cases: for each answer, the index of its case; a case with one answer does not count.
        places: for each answer, its index in the sorted values.
        values: the number of each index, for `interval`.
        level: level of measurement, which defines the disagreement.
        units: for each case, its cluster; `None` if cases are independent.
        weights: for each case; equal by default.
    """
    cases, places = np.asarray(cases), np.asarray(places)
    several = np.flatnonzero(np.bincount(cases) > 1)
    if not len(several):
        return CountedFigure(0, Coefficient(value=None))
    chosen = np.isin(cases, several)
    case = np.searchsorted(several, cases[chosen])
    known, places = np.unique(places[chosen], return_inverse=True)
    own = Units(
        several if units is None else np.asarray(units)[several],
        np.ones(len(several)) if weights is None else np.asarray(weights)[several],
        clustered=units is not None,
    )
    numbers = np.asarray(values, float)[known]
    # A case of weight w counts like w cases with the same answers; equal weights do not count.
    raw = np.ones(len(several)) if weights is None else np.asarray(weights, float)[several]
    equal = raw.min() == raw.max()
    less = 1.0 if equal else float(own.weights[case].mean() / raw[case].mean())
    influence = partial(_alpha, case, places, numbers, own.weights, level, less)
    return CountedFigure(len(several), coefficient(own, influence, bounds=(-np.inf, 1.0)))


def _alpha(
    case: Any, places: Any, numbers: Any, weights: Any, level: Level, less: float, added: float
) -> Influence | None:
    """Return alpha = 1 - (n - less) * a / b, and the influence of each case.

    n is the number of answers, and `less` is 1, or as many answers as one is in the data if the
    weights are relative.

    a is the sum over cases of the distances of all ordered pairs of answers, divided by the number
    of answers minus 1; b is the sum of the distances of all ordered pairs of answers in the data.
    If ranks are the positions of the answers, both also depend on a case through the ranks.
    """
    size, sizes = len(numbers), np.bincount(case)
    one = 2 * added / size  # answers added to every value
    counts = np.bincount(places, weights=weights[case], minlength=size) + one
    n = float(counts.sum())
    positions = np.cumsum(counts) - counts / 2 if level == "ordinal" else numbers
    if level == "nominal":
        keys, repeats = np.unique(case * size + places, return_counts=True)
        same = np.bincount(keys // size, weights=repeats.astype(float) ** 2)
        apart = (sizes**2 - same) / (sizes - 1)
        reach = n - counts  # for each value: the sum of the distances to all answers
        rows, squares = np.full(size, size - 1.0), float(size * (size - 1))
    else:
        positions = positions - float((counts * positions).sum()) / n
        x = positions[places]
        sums, second = (np.bincount(case, weights=w) for w in (x, x**2))
        apart = 2 * (sizes * second - sums**2) / (sizes - 1)
        reach = n * positions**2 + float((counts * positions**2).sum())
        p1, p2, p3, p4 = (float((positions**k).sum()) for k in range(1, 5))
        # Distances and their squares over the grid of the added pairs, by value and in total.
        rows = size * positions**2 - 2 * positions * p1 + p2
        squares = 2 * size * p4 - 8 * p3 * p1 + 6 * p2**2
    even = added / size**2
    a = float((weights * apart).sum()) + 2 * even * float(rows.sum())
    b = float((counts * reach).sum())
    if size < 2 or b <= 0:
        return None
    factor = (n - less) / b
    # For each value: effect of one more answer on alpha through b, through n, and by its rank.
    moves = 2 * (n - less) * a / b**2 * reach - a / b
    if level == "ordinal":
        within = (sizes[case] * x - sums[case]) / (sizes[case] - 1)
        pull = np.bincount(places, weights=weights[case] * within, minlength=size)
        pull = pull + 2 * even * (size * positions - p1)
        moves -= factor * 4 * sum_after(pull)
        moves += factor * a / b * 4 * sum_after(counts * n * positions)
    each = np.bincount(case, weights=moves[places]) - factor * apart
    total = 4 * factor**2 * squares - 8 * factor * float((rows * moves).sum())
    total += 2 * size * float((moves**2).sum()) + 2 * float(moves.sum()) ** 2
    # `each` is per case; as a share, it refers to n cases.
    cases = len(sizes) + added
    return Influence(1 - factor * a, each * cases, float(even * total * cases**2))
