"""Figures of a whole run: base classes of aggregates, and the share of rows with an answer."""

from __future__ import annotations

import math
from collections.abc import Sequence

from judgekit.core.score import Row, Score

Figures = dict[str, float | int | None]


class ScoreAggregate:
    """Base of aggregates over scores; failures, fallbacks and rows without a value do not count.

    A subclass implements `add_score` and `finish`.
    """

    def add(self, row: Row) -> None:
        """Add one result."""
        score = row.result
        if isinstance(score, Score) and score.value is not None and score.fallback is None:
            self.add_score(score, score.value)

    def add_score(self, score: Score, value: float) -> None:
        """Add one score and its value."""
        raise NotImplementedError

    def finish(self) -> Figures:
        """Return the figures by name; `None` if no row counts."""
        raise NotImplementedError


def mean_of(values: Sequence[float | None]) -> float | None:
    """Return the mean of the values that are not `None`; `None` if there are none."""
    known = [value for value in values if value is not None]
    return math.fsum(known) / len(known) if known else None


ANSWERED = "answered"


class AnsweredShare:
    """Counts the rows whose outcome is not `no_answer`."""

    def __init__(self) -> None:
        self._rows = 0
        self._answered = 0

    def add(self, row: Row) -> None:
        """Add one result."""
        result = row.result
        if not isinstance(result, Score) or result.fallback or "outcome" not in result.details:
            return
        self._rows += 1
        self._answered += result.details["outcome"] != "no_answer"

    def finish(self) -> dict[str, float | int | None]:
        """Return the share; `None` without rows."""
        return {ANSWERED: self._answered / self._rows if self._rows else None}
