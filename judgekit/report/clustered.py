"""The mean of numbers that come in clusters: cases of one user, document or conversation."""

from __future__ import annotations

import math
from collections.abc import Hashable

from judgekit.report.statistics import student_t_quantile


class ClusteredMean:
    """Mean and t interval of numbers that are alike within clusters.

    Cases of one user or document say less than as many cases of different ones. The standard error
    is taken over clusters, (G / (G - 1) * sum of (sum in g - n in g * mean) squared) ** 0.5 / n,
    with G - 1 degrees of freedom: what an ordinary regression on a constant gives with errors
    clustered. Memory grows with the clusters, not with the numbers.

    >>> figures = ClusteredMean()
    >>> for value, user in ((1.0, "ann"), (1.0, "ann"), (0.0, "bob"), (0.5, "cyd")):
    ...     figures.add(value, user)
    >>> round(figures.mean, 3), figures.clusters, round(figures.standard_error, 4)
    (0.625, 3, 0.3014)
    """

    def __init__(self) -> None:
        self._sums: dict[Hashable, list[float]] = {}
        self._n = 0

    def add(self, value: float, cluster: Hashable) -> None:
        """Take one more number.

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
        """How many numbers there were."""
        return self._n

    @property
    def clusters(self) -> int:
        """How many clusters there were."""
        return len(self._sums)

    @property
    def df(self) -> int:
        """Degrees of freedom of the interval."""
        return len(self._sums) - 1

    @property
    def mean(self) -> float | None:
        """Their mean; `None` of none."""
        return math.fsum(sums[0] for sums in self._sums.values()) / self._n if self._n else None

    @property
    def standard_error(self) -> float | None:
        """How far the mean is off, typically; `None` of fewer than two clusters."""
        mean, count = self.mean, len(self._sums)
        if mean is None or count < 2:
            return None
        squares = math.fsum((total - n * mean) ** 2 for total, n in self._sums.values())
        return math.sqrt(count / (count - 1) * squares) / self._n

    def interval(self, *, confidence: float = 0.95) -> tuple[float, float] | None:
        """Return mean -+ t * standard error; `None` of fewer than two clusters."""
        mean, error = self.mean, self.standard_error
        if mean is None or error is None:
            return None
        half = student_t_quantile((1 + confidence) / 2, self.df) * error
        return mean - half, mean + half
