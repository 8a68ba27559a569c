"""The mean of clustered numbers, such as cases of one user, document or conversation."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from typing import NamedTuple

from judgekit.stats.intervals import Bounds, MeanInterval, mean_interval

FEWEST = 10
"""Clusters that an interval needs; with fewer, its coverage is too low."""


class ClusterFigures(NamedTuple):
    """A mean with the standard error that clusters give it."""

    mean: float
    error: float
    """Standard error, CR2."""
    df: float
    """Satterthwaite's degrees of freedom: between 1 and the number of clusters less 1."""


def cr2(totals: Sequence[float], sizes: Sequence[float]) -> ClusterFigures | None:
    """Return mean, CR2 standard error and degrees of freedom; `None` of fewer than two clusters.

    The bias-reduced sandwich of Bell and McCaffrey (2002), for a regression on a constant. With a
    working model of independent values it has a closed form, f being the share of all values that
    are in a cluster:

        variance = sum of ((total - size * mean) / n) ** 2 / (1 - f)
        df = 1 / (sum of f ** 2 + sum over pairs g != h of w[g] * w[h]), w = f ** 2 / (1 - f)

    Of clusters of one size it is the variance of their means over their number, and df is their
    number less 1. One cluster much larger than the others leaves little more than 1.

    Args:
        totals: sum of the values of each cluster.
        sizes: number of values of each cluster, or the sum of their weights; above 0.

    >>> figures = cr2([2.0, 0.0, 0.5], [2, 1, 1])
    >>> round(figures.mean, 3), round(figures.error, 4), round(figures.df, 3)
    (0.625, 0.3227, 1.8)
    """
    if len(totals) < 2:
        return None
    n = sum(sizes)
    mean = math.fsum(totals) / n
    variance = math.fsum(
        ((total - size * mean) / n) ** 2 / (1 - size / n)
        for total, size in zip(totals, sizes, strict=True)
    )
    # Most data have a cluster of one size for each of many cases: one weight for all.
    shares = [(size / n, count) for size, count in Counter(sizes).items()]
    weights = [(share**2 / (1 - share), count) for share, count in shares]
    own = math.fsum(count * share**2 for share, count in shares)
    between = math.fsum(count * weight for weight, count in weights) ** 2
    between -= math.fsum(count * weight * weight for weight, count in weights)
    return ClusterFigures(mean, math.sqrt(variance), max(1.0, 1 / (own + max(0.0, between))))


class ClusteredMean:
    """Mean and interval of numbers that are similar within clusters.

    Cases of one user or document carry less information than independent cases. The standard error
    is taken over clusters; see `cr2`. Memory grows with the clusters, not with the numbers.

    >>> figures = ClusteredMean()
    >>> for value, user in ((1.0, "ann"), (1.0, "ann"), (0.0, "bob"), (0.5, "cyd")):
    ...     figures.add(value, user)
    >>> round(figures.mean, 3), figures.clusters, round(figures.standard_error, 4)
    (0.625, 3, 0.3227)
    >>> figures.too_few
    '3 of the 10 clusters that an interval needs'
    """

    def __init__(self) -> None:
        self._sums: dict[Hashable, list[float]] = {}
        self._n = 0

    def add(self, value: float, cluster: Hashable) -> None:
        """Add a number.

        Raises:
            ValueError: it is NaN or an infinity.
        """
        if not math.isfinite(value):
            raise ValueError(f"a mean needs finite numbers, not {value}")
        sums = self._sums.setdefault(cluster, [0.0, 0])
        sums[0] += value
        sums[1] += 1
        self._n += 1

    @property
    def n(self) -> int:
        """The number of values."""
        return self._n

    @property
    def clusters(self) -> int:
        """The number of clusters."""
        return len(self._sums)

    @property
    def sums(self) -> Mapping[Hashable, Sequence[float]]:
        """Cluster -> sum and number of its values."""
        return self._sums

    @property
    def mean(self) -> float | None:
        """The mean; `None` without values."""
        return math.fsum(sums[0] for sums in self._sums.values()) / self._n if self._n else None

    @property
    def df(self) -> float:
        """Degrees of freedom of the interval; 0 of fewer than two clusters."""
        figures = self._figures()
        return figures.df if figures else 0.0

    @property
    def standard_error(self) -> float | None:
        """Standard error of the mean; `None` for fewer than two clusters."""
        figures = self._figures()
        return figures.error if figures else None

    @property
    def too_few(self) -> str | None:
        """Why there is no interval; `None` where there is one."""
        if len(self._sums) >= FEWEST:
            return None
        return f"{len(self._sums)} of the {FEWEST} clusters that an interval needs"

    def interval(
        self,
        *,
        confidence: float = 0.95,
        bounds: Bounds = (None, None),
        changed: int | None = None,
    ) -> tuple[float, float] | None:
        """Return the interval of the mean (see `mean_interval`); `None` where there are too few.

        Args:
            confidence: Share of such intervals that cover the true mean, between 0 and 1.
            bounds: The smallest and the largest possible number.
            changed: Of differences, how many are not 0.
        """
        figures = self._figures()
        if figures is None or self.too_few:
            return None
        if changed is not None:
            changed = min(changed, sum(total != 0 for total, _ in self._sums.values()))
        return mean_interval(*figures, bounds=bounds, changed=changed, confidence=confidence)

    def _figures(self) -> ClusterFigures | None:
        sums = self._sums.values()
        return cr2([total for total, _ in sums], [int(size) for _, size in sums])


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
