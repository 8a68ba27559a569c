"""Values of a figure, by row or by cluster."""

from __future__ import annotations

from collections.abc import Hashable

from judgekit.stats.clusters import ClusteredMean
from judgekit.stats.intervals import Bounds, MeanInterval


class FigureValues:
    """Values of a figure, added one by one, and their spread, by cluster if there are clusters.

    Args:
        clustered: whether every value comes with its cluster.
    """

    def __init__(self, *, clustered: bool = False) -> None:
        self.rows = MeanInterval()
        self._clusters: ClusteredMean | None = None
        if clustered:
            self._clusters = ClusteredMean()

    def add(self, value: float, cluster: Hashable = None) -> None:
        """Add a value, and its cluster if values have clusters.

        Raises:
            ValueError: it is NaN or an infinity.
        """
        self.rows.add(value)
        if self._clusters is not None:
            self._clusters.add(value, cluster)

    @property
    def spread(self) -> MeanInterval | ClusteredMean:
        """Mean, standard error and interval."""
        return self.rows if self._clusters is None else self._clusters

    def too_few(self, bounds: Bounds) -> str | None:
        """Return why there is no interval; `None` where there is one, or no value."""
        if not self.rows.n:
            return None
        why = self.spread.too_few
        if why is None and self.spread.interval(bounds=bounds) is None:
            return "all values are the same, and the range has no bounds"
        return why
