"""Figures of a whole run, computed from the scores that a metric gave itself."""

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
        """Return the figures by name; `None` where no row counts."""
        raise NotImplementedError


def mean_of(values: Sequence[float | None]) -> float | None:
    """Return the mean of the values that are not `None`; `None` if there are none."""
    known = [value for value in values if value is not None]
    return math.fsum(known) / len(known) if known else None
