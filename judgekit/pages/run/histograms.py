"""Histograms of criteria, and whether a metric is saturated."""

from __future__ import annotations

from collections.abc import Sequence

from judgekit.core.score import own_parts
from judgekit.report.folder import Scored
from judgekit.report.summary import BINS

EDGE = 0.95
"""Share of values at one end of the range from which a metric or criterion is saturated."""
ENOUGH = 10
"""Values from which that can be said."""


class Histograms:
    """Counts the values of every criterion, each on 0..1."""

    def __init__(self) -> None:
        self._bins: dict[tuple[str, str], list[int]] = {}

    def add(self, scored: Scored) -> None:
        """Take one case with its rows."""
        for row in scored.rows:
            for part in own_parts(row.result):
                if part.value is not None:
                    bins = self._bins.setdefault((row.metric, part.id), [0] * BINS)
                    bins[min(BINS - 1, max(0, int(part.value * BINS)))] += 1

    def of(self, metric: str, criterion: str) -> Sequence[int]:
        """Return the counts over equal bins of 0..1; none where nothing was scored."""
        return self._bins.get((metric, criterion), ())


def saturation(bins: Sequence[int]) -> str | None:
    """Return the end that holds nearly all values, `top` or `bottom`; `None` for neither.

    >>> saturation([0, 0, 1, 39]), saturation([5, 0, 0, 5]), saturation([0, 3])
    ('top', None, None)
    """
    total = sum(bins)
    if total < ENOUGH:
        return None
    for place, count in (("top", bins[-1]), ("bottom", bins[0])):
        if count / total >= EDGE:
            return place
    return None
