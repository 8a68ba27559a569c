"""Which cases fail, and which are the worst."""

from __future__ import annotations

import heapq
import math
from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from judgekit.core.score import Failure, Row, own_value
from judgekit.report.folder import Scored
from judgekit.report.summary import MetricSummary
from judgekit.report.thresholds import passes

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
        self._worst: list[tuple[float, float, float, int, Scored]] = []
        self.failing = 0
        self.missed: Counter[str] = Counter()
        """Metric -> cases below its threshold."""

    def add(self, scored: Scored) -> None:
        """Take one case with its rows."""
        rank = self.rank(scored)
        number = len(self._ranks)
        self._ranks.append(rank)
        self.failing += bool(rank.misses or rank.failures)
        self.missed.update(row.metric for row in scored.rows if self.misses(row))
        if rank.worst == math.inf and not rank.failures:
            return
        entry = (-rank.misses, -rank.failures, -rank.worst, -number, scored)
        if len(self._worst) < SHOWN:
            heapq.heappush(self._worst, entry)
        elif entry[:4] > self._worst[0][:4]:
            heapq.heapreplace(self._worst, entry)

    def rank(self, scored: Scored) -> Rank:
        """Return the place of a case."""
        misses = sum(self.misses(row) for row in scored.rows)
        failures = sum(isinstance(row.result, Failure) for row in scored.rows)
        worst = min((self.distance(row) for row in scored.rows), default=math.inf)
        return Rank(-misses, -failures, worst)

    def misses(self, row: Row) -> bool:
        """Return whether a row misses the threshold of its metric."""
        summary, value = self._metrics.get(row.metric), own_value(row.result)
        if summary is None or value is None:
            return False
        return passes(value, summary.threshold, summary.higher_is_better) is False

    def distance(self, row: Row) -> float:
        """Return how far a value is above the mean, in standard deviations; infinity for none."""
        summary, value = self._metrics.get(row.metric), own_value(row.result)
        if summary is None or value is None or summary.mean is None:
            return math.inf
        away = (value - summary.mean) / (summary.sd or 1.0)
        return away if summary.higher_is_better else -away

    def order(self) -> list[int]:
        """Return the numbers of all cases, the worst first."""
        return sorted(range(len(self._ranks)), key=lambda number: self._ranks[number])

    @property
    def worst(self) -> list[Scored]:
        """The worst cases, the very worst first."""
        return [entry[-1] for entry in sorted(self._worst, key=lambda e: e[:4], reverse=True)]
