"""How many of a sample to draw from each stratum."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence

LEAST = 2
"""Units of a stratum from which its spread can be estimated."""


def allocate_power(sizes: Sequence[int], factors: Sequence[float], count: int) -> list[int]:
    """Return how many units to draw from each stratum; every stratum gets at least one.

    Power allocation (Bankier 1988) with the power 1/2: sample sizes are near
    `factor * sqrt(size)`. It is between proportional sizes, which suit a mean, and equal sizes,
    which suit a rare kind of unit. Sizes are whole numbers by the priority values of Wright
    (2012). Each stratum first gets 2 units, or all if it has fewer, while that is possible.

    Args:
        sizes: units of each stratum, at least 1.
        factors: weight of each stratum, above 0.
        count: units to draw, from the number of strata to the number of units.

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
    """Return the group of each value: at most so many of similar size, in the order of values.

    Equal values are in one group, by the middle of their ranks.

    >>> rank_groups([0.0, 0.5, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0], 2)
    [0, 0, 1, 1, 1, 1, 1, 1]
    """
    ordered, twice = sorted(values), 2 * len(values)
    return [most * (bisect_left(ordered, v) + bisect_right(ordered, v)) // twice for v in values]
