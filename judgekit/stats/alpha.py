"""Krippendorff's alpha: agreement of any number of raters, of which some may be missing."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Literal

import numpy as np

from judgekit.stats.agreement import Influence, beyond, coefficient, relative
from judgekit.stats.intervals import Coefficient, CountedFigure

Level = Literal["nominal", "ordinal", "interval"]


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

    1 less the observed over the expected disagreement. Two answers disagree by 1 if they differ
    (nominal), by the square of their difference (interval), or by the square of the number of
    answers between them (ordinal), which is the difference of their ranks. The 95 % interval is
    that of `judgekit.stats.agreement`, over cases; two cases with two answers each are added.

    Args:
        cases: by answer, the number of its case from 0; a case with one answer does not count.
        places: by answer, its place from 0.
        values: the number at each place, for `interval`.
        level: how answers differ.
        units: by case, the cluster it is in; none if cases are independent.
        weights: by case; equal by default.
    """
    cases, places = np.asarray(cases), np.asarray(places)
    several = np.flatnonzero(np.bincount(cases) > 1)
    if not len(several):
        return CountedFigure(0, Coefficient(value=None))
    chosen = np.isin(cases, several)
    case = np.searchsorted(several, cases[chosen])
    known, places = np.unique(places[chosen], return_inverse=True)
    own = relative(np.ones(len(several)) if weights is None else np.asarray(weights)[several])
    numbers = np.asarray(values, float)[known]
    groups = several if units is None else np.asarray(units)[several]
    groups = np.unique(groups, return_inverse=True)[1]
    influence = partial(_influence, case, places, numbers, own, level)
    figure = coefficient(groups, own, influence, clustered=units is not None, bounds=(-np.inf, 1.0))
    return CountedFigure(len(several), figure)


def _influence(
    case: Any, places: Any, numbers: Any, weights: Any, level: Level, added: float
) -> Influence | None:
    """Return alpha = 1 - (n - 1) * a / b, and by case what it moves.

    a is the sum over cases of the distances of all ordered pairs of answers, over the number of
    answers less 1; b is the sum of the distances of all ordered pairs of answers in the data. Both
    depend on a case also through the ranks, if these are the positions of the answers.
    """
    size, sizes = len(numbers), np.bincount(case)
    one = 2 * added / size  # answers added to every place
    counts = np.bincount(places, weights=weights[case], minlength=size) + one
    n = float(counts.sum())
    positions = np.cumsum(counts) - counts / 2 if level == "ordinal" else numbers
    if level == "nominal":
        keys, repeats = np.unique(case * size + places, return_counts=True)
        same = np.bincount(keys // size, weights=repeats.astype(float) ** 2)
        apart = (sizes**2 - same) / (sizes - 1)
        reach = n - counts  # by place: the sum of the distances to all answers
        rows, squares = np.full(size, size - 1.0), float(size * (size - 1))
    else:
        positions = positions - float((counts * positions).sum()) / n
        x = positions[places]
        sums, second = (np.bincount(case, weights=w) for w in (x, x**2))
        apart = 2 * (sizes * second - sums**2) / (sizes - 1)
        reach = n * positions**2 + float((counts * positions**2).sum())
        p1, p2, p3, p4 = (float((positions**k).sum()) for k in range(1, 5))
        # By place and in all, over the grid of the added pairs: distances and their squares.
        rows = size * positions**2 - 2 * positions * p1 + p2
        squares = 2 * size * p4 - 8 * p3 * p1 + 6 * p2**2
    even = added / size**2
    a = float((weights * apart).sum()) + 2 * even * float(rows.sum())
    b = float((counts * reach).sum())
    if size < 2 or b <= 0:
        return None
    factor = (n - 1) / b
    # By place: what one more answer there adds to alpha through b, through n, and by its rank.
    moves = 2 * (n - 1) * a / b**2 * reach - a / b
    if level == "ordinal":
        within = (sizes[case] * x - sums[case]) / (sizes[case] - 1)
        pull = np.bincount(places, weights=weights[case] * within, minlength=size)
        pull = pull + 2 * even * (size * positions - p1)
        moves -= factor * 4 * beyond(pull)
        moves += factor * a / b * 4 * beyond(counts * n * positions)
    each = np.bincount(case, weights=moves[places]) - factor * apart
    total = 4 * factor**2 * squares - 8 * factor * float((rows * moves).sum())
    total += 2 * size * float((moves**2).sum()) + 2 * float(moves.sum()) ** 2
    # `each` is by case, and a share of n cases in all.
    cases = len(sizes) + added
    return Influence(1 - factor * a, each * cases, float(even * total * cases**2))
