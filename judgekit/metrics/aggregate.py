"""Figures of a whole run: aggregates over scores, and the share of rows with an answer."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from array import array
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from judgekit.core.score import Row, Score

Figures = dict[str, float | int | None]


class ScoreAggregate(ABC):
    """Base of aggregates over scores; failures, fallbacks and rows without a value do not count.

    A subclass implements `add_score` and `finish`.
    """

    def add(self, row: Row) -> None:
        """Add one result."""
        score = row.result
        if isinstance(score, Score) and score.value is not None and score.fallback is None:
            self.add_score(score, score.value)

    @abstractmethod
    def add_score(self, score: Score, value: float) -> None:
        """Add one score and its value."""

    @abstractmethod
    def finish(self) -> Figures:
        """Return the figures by name; `None` if no row counts."""


class ValueAggregate(ScoreAggregate):
    """Base of aggregates that need only the values."""

    def __init__(self) -> None:
        self._values = array("d")

    def add_score(self, score: Score, value: float) -> None:
        """Add one value."""
        self._values.append(value)


def mean_of(values: Sequence[float | None]) -> float | None:
    """Return the mean of the values that are not `None`; `None` if there are none."""
    known = [value for value in values if value is not None]
    return math.fsum(known) / len(known) if known else None


class DetailMeans:
    """The means of figures over the scores with a detail; those of fallbacks do not count.

    Args:
        detail: the name of the detail.
        figures: figure -> returns it for the details of a score.
    """

    def __init__(
        self, detail: str, figures: Mapping[str, Callable[[Mapping[str, Any]], float]]
    ) -> None:
        self._detail, self._figures = detail, figures
        self._sums = dict.fromkeys(figures, 0.0)
        self._rows = 0

    def add(self, row: Row) -> None:
        """Add one result."""
        result = row.result
        if isinstance(result, Score) and not result.fallback and self._detail in result.details:
            self._rows += 1
            for name, figure_of in self._figures.items():
                self._sums[name] += figure_of(result.details)

    def finish(self) -> Figures:
        """Return the means; `None` without rows."""
        rows = self._rows
        return {name: total / rows if rows else None for name, total in self._sums.items()}


ANSWERED = "answered"


def answered_share() -> DetailMeans:
    """Return the aggregate for the share of rows whose outcome is not `no_answer`."""
    return DetailMeans("outcome", {ANSWERED: lambda details: details["outcome"] != "no_answer"})
