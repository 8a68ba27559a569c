"""Scores of probabilities against the answers that turned out to be right."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from judgekit.stats.agreement import (
    Coefficient,
    CountedFigure,
    Influence,
    coefficient,
    relative,
)  # fmt: skip
from judgekit.stats.shares import ADDED_TO_SHARE


def forecast_figures(
    forecasts: Sequence[Mapping[Any, float]],
    answers: Sequence[Hashable],
    *,
    units: Sequence[int],
    weights: Sequence[float],
    clustered: bool = False,
) -> dict[str, CountedFigure]:
    """Return how well probabilities fit answers, with 95 % intervals; nothing without forecasts.

    `probability` is the mean probability of the right answer, 0..1. `brier` is the score of Brier
    (1950), the mean sum over all answers of (probability - 1 if it is right, else 0) ** 2: 0 is
    best, 2 is worst.

    Args:
        forecasts: answer -> its probability; those of one forecast sum to 1.
        answers: the right answer of each.
        units: the number of the unit of each; units are independent.
        weights: of each, any positive number.
        clustered: whether units are clusters of cases.
    """
    import numpy as np

    if not forecasts:
        return {}
    right = np.array([forecast.get(a, 0.0) for forecast, a in zip(forecasts, answers, strict=True)])
    squares = np.array([sum(p * p for p in forecast.values()) for forecast in forecasts])
    _, numbers = np.unique(units, return_inverse=True)
    columns = {"probability": (right, 1.0), "brier": (squares - 2 * right + 1, 2.0)}
    return {
        name: CountedFigure(
            len(values), _mean(values, most, numbers, relative(weights), clustered=clustered)
        )
        for name, (values, most) in columns.items()
    }


def _mean(values: Any, most: float, units: Any, weights: Any, *, clustered: bool) -> Coefficient:
    """Return the mean of values from 0 to `most`; half of the added pairs are at either end."""

    def influence(added: float) -> Influence:
        mean = float((weights * values).sum() + added * most / 2) / (len(values) + added)
        return Influence(mean, values - mean, added / 2 * (mean**2 + (most - mean) ** 2))

    return coefficient(units, weights, influence, clustered=clustered,
                       bounds=(0.0, most), added=ADDED_TO_SHARE)  # fmt: skip
