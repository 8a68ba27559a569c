"""The mean of clustered numbers, such as cases of one user, document or conversation."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Sequence

from judgekit.stats.intervals import Bounds, MeanError, MeanInterval, MeanSpread

FEWEST = 10
"""Minimum number of clusters for an interval; with fewer, its coverage is too low."""


def cr2(totals: Sequence[float], sizes: Sequence[float]) -> MeanError | None:
    """Return mean, CR2 standard error and degrees of freedom; `None` for fewer than 2 clusters.

    The degrees of freedom are Satterthwaite's: between 1 and the number of clusters minus 1.

    The standard error is the bias-reduced sandwich of Bell and McCaffrey (2002), for a regression
    on a constant. With a working model of independent values it has a closed form, in which f is
    the share of all values that are in a cluster:

        variance = sum of ((total - size * mean) / n) ** 2 / (1 - f)
        df = 1 / (sum of f ** 2 + sum over pairs g != h of w[g] * w[h]), w = f ** 2 / (1 - f)

    If all clusters have the same size, the variance is that of their means divided by their
    number, and df is their number minus 1. If one cluster is much larger than the others, df is
    only slightly above 1.

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
    # Usually most clusters have the same size, and so the same weight.
    shares = [(size / n, count) for size, count in Counter(sizes).items()]
    weights = [(share**2 / (1 - share), count) for share, count in shares]
    own = math.fsum(count * share**2 for share, count in shares)
    between = math.fsum(count * weight for weight, count in weights) ** 2
    between -= math.fsum(count * weight * weight for weight, count in weights)
    return MeanError(mean, math.sqrt(variance), max(1.0, 1 / (own + max(0.0, between))))


class ClusteredMean(MeanSpread):
    """Mean and interval of numbers that are similar within clusters.

    Cases of one user or document carry less information than independent cases. The standard error
    is computed over clusters; see `cr2`. Memory grows with the number of clusters, not of values.

    >>> figures = ClusteredMean()
    >>> for value, user in ((1.0, "ann"), (1.0, "ann"), (0.0, "bob"), (0.5, "cyd")):
    ...     figures.add(value, user)
    >>> round(figures.mean, 3), figures.clusters, round(figures.standard_error, 4)
    (0.625, 3, 0.3227)
    >>> figures.too_few
    '3 of the 10 clusters that an interval needs'
    """

    _fewest, _unit = FEWEST, "clusters"

    def __init__(self) -> None:
        self.sums: dict[Hashable, list[float]] = {}
        """Cluster -> sum and number of its values."""

    def add(self, value: float, cluster: Hashable = None) -> None:
        """Add a number.

        Raises:
            ValueError: it is NaN or an infinity.
        """
        if not math.isfinite(value):
            raise ValueError(f"a mean needs finite numbers, not {value}")
        sums = self.sums.setdefault(cluster, [0.0, 0])
        sums[0] += value
        sums[1] += 1
        self.n += 1

    @property
    def clusters(self) -> int:
        """The number of clusters."""
        return len(self.sums)

    @property
    def mean(self) -> float | None:
        """The mean; `None` without values."""
        return math.fsum(sums[0] for sums in self.sums.values()) / self.n if self.n else None

    def interval(
        self, *, bounds: Bounds = (None, None), changed: int | None = None
    ) -> tuple[float, float] | None:
        """Return the interval; at most one difference other than 0 counts in each cluster."""
        if changed is not None:
            changed = min(changed, sum(total != 0 for total, _ in self.sums.values()))
        return super().interval(bounds=bounds, changed=changed)

    @property
    def figures(self) -> MeanError | None:
        """The mean with its standard error, CR2; `None` for fewer than two clusters."""
        sums = self.sums.values()
        return cr2([total for total, _ in sums], [int(size) for _, size in sums])


class FigureValues:
    """Accumulates values of a figure and their spread, by cluster if there are clusters.

    Args:
        clustered: whether every value comes with its cluster.
    """

    def __init__(self, *, clustered: bool = False) -> None:
        self.rows = MeanInterval()
        self.spread: MeanSpread = ClusteredMean() if clustered else self.rows
        """Mean, standard error and interval."""
        self.add = self._add if clustered else self.rows.add
        """Adds a value, and its cluster if values have clusters."""

    def _add(self, value: float, cluster: Hashable = None) -> None:
        self.rows.add(value)
        self.spread.add(value, cluster)

    def too_few(self, bounds: Bounds) -> str | None:
        """Return the reason why there is no interval; `None` if there is one, or no value."""
        if not self.rows.n:
            return None
        why = self.spread.too_few
        if why is None and self.spread.interval(bounds=bounds) is None:
            return "all values are the same, and the range has no bounds"
        return why
