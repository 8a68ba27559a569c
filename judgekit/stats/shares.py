"""Shares in a table of answers, such as precision, and scores of probabilities, with intervals."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

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


def macro_f1_figure(pairs: PairColumns, size: int) -> CountedFigure:
    """Return the mean of the F1 of every answer that occurs.

    Args:
        pairs: the pairs; a first answer of `size` is none of the answers, and always wrong.
        size: the number of answers.
    """
    seen = [n for n in range(size) if n in pairs.first or n in pairs.second]
    rows = size + bool((pairs.first >= size).any())
    above, below = np.zeros((2, len(seen), rows, size))
    for place, n in enumerate(seen):
        above[place, n, n] = 2
        below[place, n, :] = below[place, :, n] = 1
        below[place, n, n] = 2
    inside = np.zeros((rows, size), dtype=bool)
    inside[np.ix_([*seen, *range(size, rows)], seen)] = True
    return CountedFigure(len(pairs), _figure(pairs, above, below, inside))


def same_figure(pairs: PairColumns) -> CountedFigure:
    """Return the share of pairs with equal answers."""
    return CountedFigure(len(pairs), mean_figure(pairs.first == pairs.second, 1.0, pairs))


def error_figures(pairs: PairColumns, values: Sequence[float]) -> dict[str, Coefficient]:
    """Return the mean absolute error and the root of the mean squared error.

    Args:
        pairs: the pairs.
        values: the number at each place, in order.
    """
    numbers = np.asarray(values, float)
    apart, most = np.abs(numbers[pairs.first] - numbers[pairs.second]), numbers[-1] - numbers[0]
    squared = mean_figure(apart**2, most**2, pairs)
    return {"mae": mean_figure(apart, most, pairs), "rmse": _mapped(squared, math.sqrt)}


class ProbableAnswers(NamedTuple):
    """The most probable answers with a probability in one range."""

    least: float
    """The least probability, 0..1; the range ends where the next one begins."""
    n: int
    stated: float
    """Their mean probability."""
    right: float
    """The share of them that people gave."""
    low: float | None
    high: float | None


EDGES = (0.0, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
"""The least probability of each range."""


def probability_bins(
    forecasts: Sequence[Mapping[Any, float]], answers: Sequence[Hashable], pairs: PairColumns
) -> list[ProbableAnswers]:
    """Return how often the most probable answers are right, by their probability."""
    if not forecasts:
        return []
    stated, right = _likeliest(forecasts, answers)
    places = np.searchsorted(EDGES, stated, side="right") - 1
    found = []
    for place in np.unique(places).tolist():
        chosen = places == place
        own = pairs.where(chosen)
        figure = mean_figure(right[chosen], 1.0, own)
        mean = float((own.weights * stated[chosen]).mean())
        if figure.value is not None:
            ends = figure.low, figure.high
            found.append(ProbableAnswers(EDGES[place], len(own), mean, figure.value, *ends))
    return found


def _likeliest(
    forecasts: Sequence[Mapping[Any, float]], answers: Sequence[Hashable]
) -> tuple[Any, Any]:
    """Return the probability of each most probable answer, and whether it is right.

    `None`, "cannot tell", is no answer. Of equally probable answers, each is right in part.
    """
    stated, right = [], []
    for forecast, answer in zip(forecasts, answers, strict=True):
        real = {one: p for one, p in forecast.items() if one is not None}
        most = max(real.values(), default=0.0)
        best = [one for one, p in real.items() if p == most]
        stated.append(most)
        right.append((answer in best) / max(1, len(best)))
    return np.array(stated), np.array(right)


def forecast_figures(
    forecasts: Sequence[Mapping[Any, float]], answers: Sequence[Hashable], pairs: PairColumns
) -> dict[str, CountedFigure]:
    """Return how well probabilities fit answers, with 95 % intervals; empty without forecasts.

    `probability` is the mean probability of the right answer, 0..1. `brier` is the score of Brier
    (1950): the mean over cases of the sum over answers of (probability - 1 if it is right, else 0)
    ** 2. 0 is best, 2 is worst. `brier_reference` is the score of a forecast that always states
    the shares of the answers. `stated` is the mean probability of the most probable answers,
    `right` the share of these that are right, and `overconfidence` the difference, -1..1.

    Args:
        forecasts: answer -> probability; the probabilities of a forecast add up to 1.
        answers: the right answer for each forecast.
        pairs: units and weights of the answers.
    """
    if not forecasts:
        return {}
    right = np.array([forecast.get(a, 0.0) for forecast, a in zip(forecasts, answers, strict=True)])
    squares = np.array([math.fsum(p * p for p in forecast.values()) for forecast in forecasts])
    stated, likeliest = _likeliest(forecasts, answers)
    columns = {
        "probability": (right, 1.0), "brier": (squares - 2 * right + 1, 2.0),
        "stated": (stated, 1.0), "right": (likeliest, 1.0),
    }  # fmt: skip
    figures = {name: mean_figure(values, most, pairs) for name, (values, most) in columns.items()}
    figures["overconfidence"] = _mapped(
        mean_figure(stated - likeliest + 1, 2.0, pairs), lambda end: end - 1
    )
    shares: dict[Hashable, float] = {}
    for answer, weight in zip(answers, pairs.weights.tolist(), strict=True):
        shares[answer] = shares.get(answer, 0.0) + weight / len(answers)
    reference = 1 - math.fsum(share * share for share in shares.values())
    figures["brier_reference"] = Coefficient(value=reference)
    return {name: CountedFigure(len(forecasts), figure) for name, figure in figures.items()}


def _mapped(figure: Coefficient, function: Callable[[float], float]) -> Coefficient:
    """Return a coefficient on another scale."""
    value, low, high = (None if end is None else function(end)
                        for end in (figure.value, figure.low, figure.high))  # fmt: skip
    return Coefficient(value, low, high, figure.too_few)


def mean_figure(values: Any, most: float, pairs: PairColumns) -> Coefficient:
    """Return the mean of values from 0 to `most` with its 95 % interval.

    Half of the added pairs are at each end.
    """
    values = np.asarray(values, float)

    def influence(added: float) -> Influence:
        mean = float((pairs.weights * values).sum() + added * most / 2) / (len(values) + added)
        return Influence(mean, values - mean, added / 2 * (mean**2 + (most - mean) ** 2))

    return coefficient(pairs, influence, bounds=(0.0, most), added=ADDED_TO_SHARE)
