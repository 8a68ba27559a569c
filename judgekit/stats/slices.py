"""The mean over slices: the mean of several means, each of which counts alike."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from typing import NamedTuple

from judgekit.stats.clusters import ClusteredMean
from judgekit.stats.intervals import Bounds, MeanSpread

Sums = Mapping[Hashable, Sequence[float]]
"""Cluster -> the sum and the number of its values."""


class SliceMean(NamedTuple):
    """The mean of one slice, and its interval."""

    mean: float
    low: float | None
    high: float | None
    error: float | None
    """Its standard error; `None` for fewer than two values or clusters."""
    df: float
    """Degrees of freedom of the error."""
    sums: Sums | None = None
    """The sums of the clusters; `None` if values are independent."""

    @classmethod
    def of(cls, spread: MeanSpread, bounds: Bounds) -> SliceMean:
        """Return the mean of at least one value.

        Args:
            spread: the values.
            bounds: minimum and maximum possible value.
        """
        low, high = spread.interval(bounds=bounds) or (None, None)
        sums = spread.sums if isinstance(spread, ClusteredMean) else None
        return cls(spread.mean or 0.0, low, high, spread.standard_error, spread.df, sums)


class MeanOverSlices(NamedTuple):
    """The mean of the means of several slices."""

    slices: int
    """Number of slices with a value."""
    mean: float | None
    low: float | None
    high: float | None
    """95 % interval; `None` if a slice has none."""
    error: float | None
    """Its standard error."""
    df: float | None
    """Its degrees of freedom, by Satterthwaite."""


def mean_over_slices(slices: Sequence[SliceMean]) -> MeanOverSlices:
    """Return the mean of the means of slices, which takes the slices as given.

    The standard error is the root of the sum of the squared errors, divided by the number of
    slices. The interval combines the intervals of the slices, so that it is right where a slice has
    few values or a mean near an end of the range (MOVER; Zou and Donner 2008): its lower end is
    mean - root(sum of (mean - low) ** 2) / number of slices.

    A cluster with values in several slices makes their means similar. The errors of its slices are
    then added before they are squared (CR2 of a regression on the slices), and the interval is
    wider by the same factor, at least 1.

    >>> first, second = SliceMean(0.4, 0.2, 0.6, 0.1, 9), SliceMean(0.8, 0.5, 0.9, 0.1, 9)
    >>> found = mean_over_slices([first, second])
    >>> round(found.mean, 3), round(found.low, 3), round(found.high, 3), round(found.df, 1)
    (0.6, 0.42, 0.712, 18.0)
    """
    count = len(slices)
    if not count:
        return MeanOverSlices(0, None, None, None, None, None)
    mean = math.fsum(one.mean for one in slices) / count
    errors = [one.error for one in slices if one.error is not None]
    error = df = None
    factor = 1.0
    if len(errors) == count:
        alone = math.fsum(each**2 for each in errors)
        together = _together(slices)
        variance = alone if together is None else together
        factor = max(1.0, math.sqrt(variance / alone)) if alone > 0 else 1.0
        error = math.sqrt(variance) / count
        parts = math.fsum(
            each**4 / one.df for each, one in zip(errors, slices, strict=True) if one.df > 0
        )
        df = alone**2 / parts if parts > 0 else math.fsum(one.df for one in slices)
    ends = [(one.low, one.high) for one in slices if one.low is not None and one.high is not None]
    if len(ends) < count:
        return MeanOverSlices(count, mean, None, None, error, df)
    below, above = (
        math.sqrt(math.fsum((end[side] - one.mean) ** 2
                            for end, one in zip(ends, slices, strict=True)))
        for side in (0, 1)
    )  # fmt: skip
    least, most = (math.fsum(end[side] for end in ends) / count for side in (0, 1))
    # No wider than the intervals of all slices at once, which stay inside the range.
    low = max(least, mean - factor * below / count)
    high = min(most, mean + factor * above / count)
    return MeanOverSlices(count, mean, low, high, error, df)


def _together(slices: Sequence[SliceMean]) -> float | None:
    """Return the variance of the sum of the means over clusters; `None` without clusters."""
    totals: dict[Hashable, list[float]] = {}
    for one in slices:
        if one.sums is None:
            return None
        n = math.fsum(size for _, size in one.sums.values())
        for cluster, (total, size) in one.sums.items():
            if size >= n:
                return None  # a single cluster has no error
            step = (total - size * one.mean) / n / math.sqrt(1 - size / n)
            totals.setdefault(cluster, []).append(step)
    return math.fsum(math.fsum(steps) ** 2 for steps in totals.values())
