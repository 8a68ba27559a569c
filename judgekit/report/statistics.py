"""The figures of a data set: mean, spread and interval of numbers, interval of a share."""

from __future__ import annotations

import math
from math import isfinite
from statistics import NormalDist

from judgekit.report.student import student_t_quantile

Bounds = tuple[float | None, float | None]
"""The least and the most a number can be, as far as there are bounds."""


class MeanInterval:
    """Mean, standard deviation and 95 % interval of numbers met one by one.

    Welford's algorithm (1962): one pass, constant memory, stable for numbers that differ little
    beside their size. The same numbers in the same order give the same bits.

    >>> figures = MeanInterval()
    >>> for value in (0.5, 0.7, 0.9):
    ...     figures.add(value)
    >>> round(figures.mean, 6), round(figures.sd, 6)
    (0.7, 0.2)
    """

    clusters: int | None = None
    """`None`: the numbers are independent of each other."""

    def __init__(self) -> None:
        self._n = 0
        self._mean = 0.0
        self._squares = 0.0

    def add(self, value: float) -> None:
        """Take one more number.

        Raises:
            ValueError: it is NaN or an infinity.
        """
        if not isfinite(value):
            raise ValueError(f"a mean needs finite numbers, not {value}")
        self._n = n = self._n + 1
        step = value - self._mean
        self._mean = mean = self._mean + step / n
        self._squares += step * (value - mean)

    @property
    def n(self) -> int:
        """How many numbers there were."""
        return self._n

    @property
    def mean(self) -> float | None:
        """Their mean; `None` of none."""
        return self._mean if self._n else None

    @property
    def sd(self) -> float | None:
        """Their sample standard deviation (divisor n - 1); `None` of fewer than two."""
        return math.sqrt(self._squares / (self._n - 1)) if self._n > 1 else None

    @property
    def df(self) -> int:
        """Degrees of freedom of the interval."""
        return self._n - 1

    @property
    def standard_error(self) -> float | None:
        """How far the mean is off, typically: sd / sqrt(n); `None` of fewer than two numbers."""
        return None if self.sd is None else self.sd / math.sqrt(self._n)

    @property
    def too_few(self) -> str | None:
        """Why there is no interval; `None` where there is one."""
        return f"{self._n} of the 2 values that an interval needs" if self._n < 2 else None

    def interval(
        self, *, confidence: float = 0.95, bounds: Bounds = (None, None)
    ) -> tuple[float, float] | None:
        """Return the interval of the mean (see `mean_interval`); `None` where there are too few.

        Args:
            confidence: Share of such intervals that cover the true mean, between 0 and 1.
            bounds: The least and the most a number can be.
        """
        error = self.standard_error
        if error is None or self.too_few:
            return None
        return mean_interval(self._mean, error, self.df, bounds=bounds, confidence=confidence)


def mean_interval(
    mean: float,
    error: float,
    df: float,
    *,
    bounds: Bounds = (None, None),
    confidence: float = 0.95,
) -> tuple[float, float]:
    """Return an interval of a mean that stays inside its bounds.

    Without bounds, or with one, it is mean -+ t * error, cut off at the bound. With two it is
    Wilson's interval of a share (1927), with t in place of z and as many cases as a share with
    that standard error has: the spread shrinks towards the bounds, and so do the ends. Away from
    the bounds and with a small error both are the same.

    Numbers that are all the same have no standard error. Then at most a share of further ones
    differs (Wilson's bound for 0 of df + 1), and the ends are where the mean would be if all of
    those were at a bound.

    Args:
        mean: the mean.
        error: its standard error.
        df: degrees of freedom of the standard error, whole or not.
        bounds: the least and the most a number can be.
        confidence: share of such intervals that cover the true mean, between 0 and 1.

    >>> [round(end, 3) for end in mean_interval(0.9, 0.05, 9, bounds=(0, 1))]
    [0.733, 0.967]
    >>> [round(end, 3) for end in mean_interval(1.0, 0.0, 2, bounds=(0, 1))]
    [0.439, 1.0]
    """
    t = student_t_quantile((1 + _confidence(confidence)) / 2, df)
    least, most = bounds
    if least is None or most is None:
        low, high = mean - t * error, mean + t * error
        return (
            low if least is None else max(least, low),
            high if most is None else min(most, high),
        )
    if error == 0:
        z = NormalDist().inv_cdf((1 + confidence) / 2)
        differing = z * z / (df + 1 + z * z)
        return mean - differing * (mean - least), mean + differing * (most - mean)
    span = most - least
    share, variance = (mean - least) / span, (error / span) ** 2
    low, high = _wilson(share, share * (1 - share) / variance, t)
    return max(least, least + span * low), min(most, least + span * high)


def wilson(successes: int, n: int, confidence: float = 0.95) -> tuple[float, float]:
    """Return Wilson's interval (1927) of a share, inside 0..1 and sound for few cases.

    Raises:
        ValueError: n is not positive, or successes are not between 0 and n.

    >>> [round(end, 4) for end in wilson(8, 10)]
    [0.4902, 0.9433]
    """
    if n < 1 or not 0 <= successes <= n:
        raise ValueError(f"a share needs 0 <= successes <= n and n > 0, not {successes} of {n}")
    z = NormalDist().inv_cdf((1 + _confidence(confidence)) / 2)
    low, high = _wilson(successes / n, n, z)
    # At the ends the formula is exact, its rounding is not.
    return 0.0 if successes == 0 else max(0.0, low), 1.0 if successes == n else min(1.0, high)


def _wilson(share: float, n: float, z: float) -> tuple[float, float]:
    fraction = z * z / n
    centre = (share + fraction / 2) / (1 + fraction)
    half = z / (1 + fraction) * math.sqrt(share * (1 - share) / n + fraction / (4 * n))
    return centre - half, centre + half


def _confidence(confidence: float) -> float:
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must be between 0 and 1, not {confidence}")
    return confidence
