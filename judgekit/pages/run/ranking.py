"""Which cases fail, and which are the worst."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

from judgekit.core.score import Failure, Row, own_value
from judgekit.report.folder import Scored
from judgekit.report.largest import Largest
from judgekit.report.summary import MetricSummary

SHOWN = 3
"""Cases that the page shows in full, before the table."""


class Rank(NamedTuple):
    """The place of a case among all: the smallest is the worst."""

    misses: int
    """Below zero: minus the metrics that miss their threshold."""
    failures: int
    """Below zero: minus the metrics that failed to score."""
    worst: float
    """The lowest of its values, in standard deviations from the mean of the metric."""


class Ranking:
    """Ranks cases one by one, and counts those that fail.

    A case fails if one of its metrics misses its threshold or failed to score.
    """

    def __init__(self, metrics: Mapping[str, MetricSummary]) -> None:
        self._metrics = metrics
        self._ranks: list[Rank] = []
        self.failing = 0
        self.worst = Largest[Scored](SHOWN)
        """The worst cases, the very worst first."""

    def add(self, scored: Scored) -> None:
        """Take one case with its rows."""
        rank = self.rank(scored)
        number = len(self._ranks)
        self._ranks.append(rank)
        self.failing += bool(rank.misses or rank.failures)
        if rank.worst == math.inf and not rank.failures:
            return
        self.worst.add((-rank.misses, -rank.failures, -rank.worst, -number), scored)

    def rank(self, scored: Scored) -> Rank:
        """Return the place of a case."""
        misses = sum(self.misses(row) for row in scored.rows)
        failures = sum(isinstance(row.result, Failure) for row in scored.rows)
        worst = min((self.distance(row) for row in scored.rows), default=math.inf)
        return Rank(-misses, -failures, worst)

    def misses(self, row: Row) -> bool:
        """Return whether a row misses the threshold of its metric."""
        summary = self._metrics.get(row.metric)
        return summary is not None and summary.passes(own_value(row.result)) is False

    def distance(self, row: Row) -> float:
        """Return how far a value is above the mean, in standard deviations; infinity for none."""
        summary, value = self._metrics.get(row.metric), own_value(row.result)
        if summary is None or value is None or summary.mean is None:
            return math.inf
        away = (value - summary.mean) / (summary.sd or 1.0)
        return away if summary.higher_is_better else -away

    def order(self) -> list[int]:
        """Return the numbers of all cases, the worst first."""
        return sorted(range(len(self._ranks)), key=self._ranks.__getitem__)
