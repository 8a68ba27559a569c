"""Scores of probabilities against the answers that turned out to be right."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from judgekit.stats.agreement import Influence, PairColumns, coefficient
from judgekit.stats.intervals import Coefficient, CountedFigure
from judgekit.stats.shares import ADDED_TO_SHARE


def forecast_figures(
    forecasts: Sequence[Mapping[Any, float]], answers: Sequence[Hashable], pairs: PairColumns
) -> dict[str, CountedFigure]:
    """Return how well probabilities fit answers, with 95 % intervals; nothing without forecasts.

    `probability` is the mean probability of the right answer, 0..1. `brier` is the score of Brier
    (1950), the mean sum over all answers of (probability - 1 if it is right, else 0) ** 2: 0 is
    best, 2 is worst.

    Args:
        forecasts: answer -> its probability; those of one forecast sum to 1.
        answers: the right answer of each.
        pairs: the units and the weights of the answers.
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
    """Return the mean of values from 0 to `most`; half of the added pairs are at either end."""

    def influence(added: float) -> Influence:
        mean = float((pairs.weights * values).sum() + added * most / 2) / (len(values) + added)
        return Influence(mean, values - mean, added / 2 * (mean**2 + (most - mean) ** 2))

    return coefficient(pairs.units, pairs.weights, influence, clustered=pairs.clustered,
                       bounds=(0.0, most), added=ADDED_TO_SHARE)  # fmt: skip
