"""Pearson's correlation and Kendall's tau-b of weighted pairs, with intervals.

The intervals are those of `judgekit.stats.agreement`: two pairs are added, spread evenly over every
combination of the values of either side, and the standard error comes from the influence of each
pair on the coefficient.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from judgekit.stats.agreement import Influence, PairColumns, coefficient
from judgekit.stats.intervals import Coefficient

_SMALL = 1e-12
"""Relative spread below which all values of a side are the same but for rounding."""


def pearson_figure(pairs: PairColumns, values: Sequence[float]) -> Coefficient:
    """Return Pearson's correlation with its 95 % interval; undefined where a side is constant.

    Args:
        pairs: the pairs.
        values: the number at each place.
    """
    influence = partial(_pearson, values, pairs)
    return coefficient(pairs.units, pairs.weights, influence, clustered=pairs.clustered)


def kendall_figure(pairs: PairColumns) -> Coefficient:
    """Return Kendall's tau-b (1945) with its 95 % interval; undefined where a side is constant.

    Args:
        pairs: the pairs; the order of places is the order of the answers.
    """
    influence = partial(_kendall, pairs)
    return coefficient(pairs.units, pairs.weights, influence, clustered=pairs.clustered)


def _pearson(values: Sequence[float], columns: PairColumns, added: float) -> Influence | None:
    """Return r; a pair of standard scores a, b moves it by a * b - r / 2 * (a ** 2 + b ** 2)."""
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
    shares of them in which a side differs.
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
    """Over the added pairs: of signs, of signs times the two parts below, of squared signs."""
    parts = [(share - (share**2).sum()) / v for share, v in zip(shares, varied, strict=True)]
    for row in range(rows):
        own = order[ends[row] : ends[row + 1]]
        here = np.bincount(second[own], weights=weights[own], minlength=width) + even
        # Pairs with a smaller first answer less those with a larger one, by second answer.
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
