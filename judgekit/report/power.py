"""How small a difference a comparison can see, and how many cases a smaller one would take."""

from __future__ import annotations

import math

from judgekit.report.student import student_t_quantile

CONFIDENCE = 0.95
POWER = 0.8
"""Share of comparisons that see a difference that is there."""
MOST = 10_000_000


def detectable(sd: float, n: int) -> float | None:
    """Return the smallest true mean difference that n pairs see four times out of five.

    At 95 % confidence, two-sided: (t(.975) + t(.8)) * sd / sqrt(n), with n - 1 degrees of freedom.

    Args:
        sd: standard deviation of the differences of pairs.
        n: pairs; of fewer than two nothing is known.

    >>> round(detectable(0.2, 50), 4)
    0.0809
    """
    if n < 2:
        return None
    df = n - 1
    reach = student_t_quantile((1 + CONFIDENCE) / 2, df) + student_t_quantile(POWER, df)
    return reach * sd / math.sqrt(n)


def needed(sd: float, difference: float) -> int | None:
    """Return the fewest pairs that see a true mean difference four times out of five.

    `None` beyond ten million.

    Raises:
        ValueError: the difference is not above 0.

    >>> needed(0.2, 0.1)
    34
    """
    if not difference > 0:
        raise ValueError(f"a difference to see must be above 0, not {difference}")
    low, high = 1, 2
    while not _sees(sd, high, difference):
        low, high = high, high * 2
        if high > MOST:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        if _sees(sd, middle, difference):
            high = middle
        else:
            low = middle
    return high


def _sees(sd: float, n: int, difference: float) -> bool:
    smallest = detectable(sd, n)
    return smallest is not None and smallest <= difference
