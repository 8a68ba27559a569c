"""Shares in a table of answers, such as precision, and scores of probabilities, with intervals."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from judgekit.stats.agreement import Influence, PairColumns, coefficient
from judgekit.stats.intervals import Coefficient, CountedFigure

ADDED_TO_SHARE = 4.0
"""Number of pairs added to a share, spread evenly over its cells (Agresti and Coull 1998)."""

_TP, _FN, _TN, _FP = (1, 1), (0, 1), (0, 0), (1, 0)
"""Cells of a table of no (0) and yes (1): the answer that is tested, then the reference."""
_Cells = Mapping[tuple[int, int], float]
_POSITIVE: _Cells = {_TP: 2, _FP: 1, _FN: 1}
_NEGATIVE: _Cells = {_TN: 2, _FP: 1, _FN: 1}
MEASURES: Mapping[str, Sequence[tuple[tuple[int, int], _Cells]]] = {
    "precision": [(_TP, {_TP: 1, _FP: 1})],
    "recall": [(_TP, {_TP: 1, _FN: 1})],
    "specificity": [(_TN, {_TN: 1, _FP: 1})],
    "f1": [(_TP, _POSITIVE)],
    "balanced_f1": [(_TP, _POSITIVE), (_TN, _NEGATIVE)],
}
"""Measure -> the ratios of which it is the mean: the cell above, and the weights of those below.

Balanced F1 is the mean of the F1 of yes and that of no over all pairs of labellers, as in
HealthBench (arXiv 2505.08775).
"""


def share_figures(pairs: PairColumns) -> dict[str, CountedFigure]:
    """Return the measures of yes/no answers; a measure is undefined if it counts no pair.

    Args:
        pairs: 0 for no and 1 for yes; a first answer of 2 is neither, and always wrong.
    """
    size = 2 + bool((pairs.first > 1).any())
    figures = {}
    for name in MEASURES:
        above, below = _cells(name, size)
        inside = below.any(axis=0)
        own = pairs.where(inside[pairs.first, pairs.second])
        figures[name] = CountedFigure(len(own), _figure(own, above, below, inside))
    return figures


@cache
def _cells(name: str, size: int) -> tuple[Any, Any]:
    """Return the weights of the cells above and below, for each ratio of a measure."""
    ratios = MEASURES[name]
    above, below = np.zeros((2, len(ratios), size, 2))
    for place, (cell, counted) in enumerate(ratios):
        for one, weight in counted.items():
            below[place][one] = weight
        above[place][cell] = counted[cell]
        if size > 2:  # a missing verdict does not match the reference
            below[place][2, cell[1]] = counted.get((1 - cell[0], cell[1]), 0)
    return above, below


def _figure(columns: PairColumns, above: Any, below: Any, inside: Any) -> Coefficient:
    even = inside / inside.sum()

    def influence(added: float) -> Influence | None:
        shares = columns.table(*inside.shape) + added * even
        shares /= shares.sum()
        tops, bottoms = ((part * shares).sum(axis=(1, 2)) for part in (above, below))
        if not bottoms.all():
            return None
        ratios = tops / bottoms
        if not added:  # only the estimate counts
            return Influence(float(ratios.mean()), None, 0.0)
        moves = ((above - ratios[:, None, None] * below) / bottoms[:, None, None]).mean(axis=0)
        squares = float(added * (even * moves**2).sum())
        return Influence(float(ratios.mean()), moves[columns.first, columns.second], squares)

    return coefficient(columns, influence, bounds=(0.0, 1.0), added=ADDED_TO_SHARE)


def forecast_figures(
    forecasts: Sequence[Mapping[Any, float]], answers: Sequence[Hashable], pairs: PairColumns
) -> dict[str, CountedFigure]:
    """Return how well probabilities fit answers, with 95 % intervals; empty without forecasts.

    `probability` is the mean probability of the right answer, 0..1. `brier` is the score of Brier
    (1950): the mean over cases of the sum over answers of (probability - 1 if it is right, else 0)
    ** 2. 0 is best, 2 is worst.

    Args:
        forecasts: answer -> probability; the probabilities of a forecast add up to 1.
        answers: the right answer for each forecast.
        pairs: units and weights of the answers.
    """
    if not forecasts:
        return {}
    right = np.array([forecast.get(a, 0.0) for forecast, a in zip(forecasts, answers, strict=True)])
    squares = np.array([math.fsum(p * p for p in forecast.values()) for forecast in forecasts])
    columns = {"probability": (right, 1.0), "brier": (squares - 2 * right + 1, 2.0)}
    return {
        name: CountedFigure(len(values), _mean(values, most, pairs))
        for name, (values, most) in columns.items()
    }


def _mean(values: Any, most: float, pairs: PairColumns) -> Coefficient:
    """Return the mean of values from 0 to `most`; half of the added pairs are at each end."""

    def influence(added: float) -> Influence:
        mean = float((pairs.weights * values).sum() + added * most / 2) / (len(values) + added)
        return Influence(mean, values - mean, added / 2 * (mean**2 + (most - mean) ** 2))

    return coefficient(pairs, influence, bounds=(0.0, most), added=ADDED_TO_SHARE)
