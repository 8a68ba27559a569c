"""Exact tests of pairs, and Holm's correction for multiple tests."""

from __future__ import annotations

import math
from collections.abc import Sequence

from judgekit.stats.intervals import Z


def mcnemar_p(one_way: int, other_way: int) -> float:
    """Return the exact two-sided p of McNemar's test.

    The counts are the cases with a changed verdict, by direction. If the runs do not differ, both
    directions are equally likely. The test equals a sign test, and a binomial test with
    probability 1/2.

    Raises:
        ValueError: a count is negative.

    >>> mcnemar_p(8, 1)
    0.0390625
    """
    if one_way < 0 or other_way < 0:
        raise ValueError(f"counts cannot be negative: {one_way}, {other_way}")
    n, least = one_way + other_way, min(one_way, other_way)
    if n == 0 or one_way == other_way:
        return 1.0
    if n <= _EXACT:
        return 2 * sum(math.comb(n, k) for k in range(least + 1)) / (1 << n)
    # From the largest term down; each is the one before times k / (n - k + 1).
    log = math.lgamma(n + 1) - math.lgamma(least + 1) - math.lgamma(n - least + 1)
    term = math.exp(log - n * math.log(2))
    terms = [term]
    for k in range(least, 0, -1):
        term *= k / (n - k + 1)
        terms.append(term)
        if term < terms[0] * 1e-17:
            break
    return min(1.0, 2 * math.fsum(terms))


def paired_shares_interval(up: int, down: int, n: int) -> tuple[float, float]:
    """Return the 95 % interval of the difference of two shares over the same n cases.

    The adjusted Wald interval of Bonett and Price (2012): one case is added to either kind of
    flip, so that few flips, or none, still have a width. Clipped to -1..1.

    Args:
        up: cases that fail in the first share and pass in the second.
        down: cases that pass in the first and fail in the second.
        n: all cases.

    Raises:
        ValueError: a count is negative, or there are more flips than cases.

    >>> [round(end, 4) for end in paired_shares_interval(0, 5, 60)]
    [-0.1618, 0.0005]
    """
    if min(up, down) < 0 or n < 1 or up + down > n:
        raise ValueError(f"{up} and {down} flips of {n} cases")
    mean = (up - down) / (n + 2)
    variance = ((up + down + 2) / (n + 2) - mean * mean) / (n + 2)
    half = Z * math.sqrt(variance)
    return max(-1.0, mean - half), min(1.0, mean + half)


_EXACT = 1000
"""Flips up to which whole numbers are summed."""


def holm(values: Sequence[float | None]) -> list[float | None]:
    """Return p values adjusted for their number (Holm 1979), in the order given.

    If you compare them with 0.05, the chance of one or more false alarms stays at 0.05, also for
    tests that depend on each other. `None` is a test that was not possible; it does not count.

    >>> holm([0.01, None, 0.04, 0.03])
    [0.03, None, 0.06, 0.06]
    """
    known = sorted((p, place) for place, p in enumerate(values) if p is not None)
    adjusted: list[float | None] = [None] * len(values)
    highest = 0.0
    for rank, (p, place) in enumerate(known):
        highest = max(highest, min(1.0, (len(known) - rank) * p))
        adjusted[place] = highest
    return adjusted
