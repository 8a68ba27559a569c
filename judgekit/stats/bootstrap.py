"""Bootstrap: the percentile interval of a mean, by resampling."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

RESAMPLES = 1000
SEED = 42
FEWEST = 30
"""Minimum number of values for an interval; with fewer, percentiles are too close together."""
NEAREST = 3.0
"""Total distance of all values to a bound, in ranges, below which draws do not show the spread."""
_UNIT = 10**12
"""Scores are counted in this many parts of 1, because sums of whole numbers are the same
everywhere."""
_BATCH = 1_000_000
"""Maximum number of draws in memory."""


class Interval(NamedTuple):
    """A mean and its 95 % percentile interval."""

    mean: float
    low: float
    high: float

    @property
    def margin(self) -> float:
        """Half the width, as in `0.83 ± 0.04`."""
        return (self.high - self.low) / 2


def bootstrap_interval(values: Sequence[float]) -> Interval | None:
    """Return the 95 % percentile interval of the mean; `None` for fewer than two values.

    The function draws as many values as there are, with replacement, `RESAMPLES` times. The ends
    are percentiles with linear interpolation. The same values give the same figures on every
    machine: the generator is numpy's frozen one, and scores are summed as whole numbers (to twelve
    decimals).

    >>> bootstrap_interval([0.5, 0.5])
    Interval(mean=0.5, low=0.5, high=0.5)
    """
    import numpy as np

    if len(values) < 2:
        return None
    count = len(values)
    if not all(map(math.isfinite, values)) or max(map(abs, values)) > 1e6:
        raise ValueError("a bootstrap needs finite scores")
    parts = np.array([round(value * _UNIT) for value in values], dtype=object)
    exact = parts.astype(np.int64) if max(map(abs, parts)) * count < 2**62 else parts
    generator = np.random.RandomState(SEED)
    sums: list[int] = []
    each = max(1, _BATCH // count)
    while len(sums) < RESAMPLES:
        rows = min(each, RESAMPLES - len(sums))
        sums += exact[generator.randint(0, count, size=(rows, count))].sum(axis=1).tolist()
    sums.sort()
    tail = (1 - 0.95) / 2
    low, high = (_percentile(sums, share) / (count * _UNIT) for share in (tail, 1 - tail))
    return Interval(math.fsum(values) / count, low, high)


def too_few(values: Sequence[float], *, bounds: tuple[float, float]) -> str | None:
    """Return the reason why a percentile interval would be unreliable; `None` if it is reliable.

    Args:
        values: the values to draw from.
        bounds: minimum and maximum possible value.

    >>> too_few([0.5] * 12, bounds=(0, 1))
    '12 of the 30 values that a bootstrap needs'
    >>> too_few([1.0] * 59 + [0.5], bounds=(0, 1))
    'nearly all values are at a bound'
    """
    if len(values) < FEWEST:
        return f"{len(values)} of the {FEWEST} values that a bootstrap needs"
    if min(values) == max(values):
        return "all values are the same"
    least, most = bounds
    total = math.fsum(values)
    room = min(total - least * len(values), most * len(values) - total)
    return "nearly all values are at a bound" if room < NEAREST * (most - least) else None


def _percentile(ordered: Sequence[int], share: float) -> float:
    place = share * (len(ordered) - 1)
    before = int(place)
    after = min(before + 1, len(ordered) - 1)
    return ordered[before] + (place - before) * (ordered[after] - ordered[before])
