"""Numbers of cases: detectable differences, required cases, and cases to draw by stratum."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import NamedTuple

from judgekit.stats.intervals import TAIL, Z
from judgekit.stats.student import student_t_quantile

POWER = 0.8
"""Probability of detecting a real difference."""
MOST = 10_000_000


def detectable(sd: float, n: int) -> float | None:
    """Return the smallest true mean difference that n pairs detect with a power of 0.8.

    At 95 % confidence, two-sided: (t(.975) + t(.8)) * sd / sqrt(n), with n - 1 degrees of freedom.

    Args:
        sd: standard deviation of the differences of pairs.
        n: number of pairs; the result is `None` for fewer than two.

    >>> round(detectable(0.2, 50), 4)
    0.0809
    """
    if n < 2:
        return None
    df = n - 1
    reach = student_t_quantile(TAIL, df) + student_t_quantile(POWER, df)
    return reach * sd / math.sqrt(n)


def needed(sd: float, difference: float) -> int | None:
    """Return the smallest number of pairs that detects a true mean difference with a power of 0.8.

    The result is `None` if it is more than ten million.

    Raises:
        ValueError: the difference is not above 0.

    >>> needed(0.2, 0.1)
    34
    """
    if not difference > 0:
        raise ValueError(f"the difference to detect must be above 0, not {difference}")
    sizes = range(2, MOST + 1)
    place = bisect_left(sizes, True, key=lambda n: (detectable(sd, n) or 0.0) <= difference)
    return sizes[place] if place < len(sizes) else None


class SampleSize(NamedTuple):
    """The number of cases that detects a difference; a range, as a pilot estimates the sd."""

    low: int
    high: int | None
    """`None` if it is more than ten million."""


def needed_range(sd: float, n: int, difference: float) -> SampleSize | None:
    """Return the number of pairs that detects a true mean difference, for both ends of the sd.

    The ends are those of the 95 % interval of a standard deviation, sd * sqrt(df / chi-square),
    with quantiles by Wilson and Hilferty (1931). The result is `None` for fewer than two pairs in
    the pilot, or if more than ten million pairs are needed.

    Args:
        sd: standard deviation of a pilot, above 0.
        n: number of pairs in the pilot.
        difference: the true mean difference to detect, above 0.

    >>> needed_range(0.2, 20, 0.1)
    SampleSize(low=21, high=70)
    """
    if n < 2:
        return None
    df = n - 1
    centre, step = 1 - 2 / (9 * df), Z * math.sqrt(2 / (9 * df))
    low = needed(sd * (centre + step) ** -1.5, difference)
    # For two or three pairs, the lower quantile is about 0.
    narrow = centre - step
    high = needed(sd * narrow**-1.5, difference) if narrow > 0 else None
    return None if low is None else SampleSize(low, high)


def more_cases(sd: float, n: int, difference: float, *, supposing: str, what: str = "cases") -> str:
    """Return a sentence on how many more cases are needed; empty if none would help.

    Args:
        sd: standard deviation of a pilot.
        n: number of cases in the pilot.
        difference: the distance of the estimate from the value it is tested against.
        supposing: the assumption, such as "the true mean is 0.915".
        what: the noun for a case.

    >>> more_cases(0.2, 20, 0.05, supposing="the true mean is 0.85").split(";")[0]
    'about 55 to 251 more cases would tell if the true mean is 0.85'
    """
    if sd <= 0 or difference < 1e-6:
        return ""
    count = needed_range(sd, n, difference)
    if count is None or (count.high is not None and count.high <= n):
        return ""
    least = max(1, count.low - n)
    most = f"about {least:,} to {count.high - n:,}" if count.high else f"more than {least:,}"
    return (
        f"{most} more {what} would tell if {supposing}; fix the number before you run them: a "
        f"test repeated after every few {what} passes too often"
    )


LEAST = 2
"""Minimum number of units in a stratum for an estimate of its spread."""


def allocate_power(sizes: Sequence[int], factors: Sequence[float], count: int) -> list[int]:
    """Return how many units to draw from each stratum; every stratum gets at least one.

    This is power allocation (Bankier 1988) with the power 1/2: sample sizes are close to `factor *
    sqrt(size)`. It is a compromise between proportional sizes, which suit a mean, and equal sizes,
    which suit a rare kind of unit. The priority values of Wright (2012) give whole numbers. Each
    stratum first gets 2 units, or all if it has fewer, while that is possible.

    Args:
        sizes: number of units in each stratum, at least 1.
        factors: weight of each stratum, above 0.
        count: number of units to draw, at least the number of strata, at most the number of units.

    >>> allocate_power([90, 9, 1], [1.0, 1.0, 1.0], 10)
    [7, 2, 1]
    """
    least = LEAST if sum(min(LEAST, size) for size in sizes) <= count else 1
    drawn = [min(least, size) for size in sizes]

    def priority(place: int) -> float:
        if drawn[place] == sizes[place]:
            return math.inf
        weight = factors[place] * math.sqrt(sizes[place])
        return -weight / math.sqrt(drawn[place] * (drawn[place] + 1))

    for _ in range(count - sum(drawn)):
        drawn[min(range(len(sizes)), key=priority)] += 1
    return drawn


def rank_groups(values: Sequence[float], most: int) -> list[int]:
    """Return the group of each value: at most `most` groups of similar size, in order of values.

    Equal values are in one group, by the middle of their ranks.

    >>> rank_groups([0.0, 0.5, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0], 2)
    [0, 0, 1, 1, 1, 1, 1, 1]
    """
    ordered, twice = sorted(values), 2 * len(values)
    return [most * (bisect_left(ordered, v) + bisect_right(ordered, v)) // twice for v in values]
