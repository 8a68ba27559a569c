"""The figures of a data set: mean, spread and interval of numbers, interval of a share."""

from __future__ import annotations

import math
from functools import lru_cache
from math import isfinite
from statistics import NormalDist

_MANY = 200
"""Degrees of freedom from which the expansion of t around the normal is exact to 1e-9."""


class MeanInterval:
    """Mean, standard deviation and Student-t interval of numbers met one by one.

    Welford's algorithm (1962): one pass, constant memory, stable for numbers that differ little
    beside their size. The same numbers in the same order give the same bits.

    >>> figures = MeanInterval()
    >>> for value in (0.5, 0.7, 0.9):
    ...     figures.add(value)
    >>> round(figures.mean, 6), round(figures.sd, 6)
    (0.7, 0.2)
    """

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

    def interval(
        self,
        *,
        confidence: float = 0.95,
        within: tuple[float, float] | None = None,
        bounds: tuple[float | None, float | None] = (None, None),
    ) -> tuple[float, float] | None:
        """Return mean -+ t * sd / sqrt(n); `None` of fewer than two numbers.

        Where all numbers are the same, t gives no width, after two of them as after two thousand.
        By Wilson, at most a share of further ones differs; were all of those at an end of what is
        possible, the mean would be where this interval ends.

        Args:
            confidence: Share of such intervals that cover the true mean, between 0 and 1.
            within: A range to clip the ends to, for display; the figures are not clipped.
            bounds: The least and the most a number can be, as far as there are bounds.
        """
        if self.sd is None:
            return None
        least, most = bounds
        if self._squares == 0 and least is not None and most is not None:
            share = wilson(0, self._n, confidence)[1]
            return self._mean - share * (self._mean - least), self._mean + share * (
                most - self._mean
            )
        t = student_t_quantile((1 + _confidence(confidence)) / 2, self._n - 1)
        half = t * self.sd / math.sqrt(self._n)
        low, high = self._mean - half, self._mean + half
        if within is not None:
            low, high = (max(within[0], min(within[1], end)) for end in (low, high))
        return low, high


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
    share, fraction = successes / n, z * z / n
    centre = (share + fraction / 2) / (1 + fraction)
    half = z / (1 + fraction) * math.sqrt(share * (1 - share) / n + fraction / (4 * n))
    # At the ends the formula is exact, its rounding is not.
    low = 0.0 if successes == 0 else max(0.0, centre - half)
    high = 1.0 if successes == n else min(1.0, centre + half)
    return low, high


def student_t_p(t: float, df: int) -> float:
    """Return the two-sided p of a t statistic: P(|T| >= |t|).

    Raises:
        ValueError: df is below 1, or t is not a number.

    >>> round(student_t_p(2.228139, 10), 6)
    0.05
    """
    if df < 1 or math.isnan(t):
        raise ValueError(f"no p of t = {t} with {df} degrees of freedom")
    return 1.0 if t == 0 else min(1.0, max(0.0, 2 * _upper_tail(abs(t), df)))


@lru_cache(maxsize=1024)
def student_t_quantile(probability: float, df: int) -> float:
    """Return the t below which a share of Student's distribution lies; accurate to 1e-8.

    Raises:
        ValueError: the probability is not between 0 and 1, or df is below 1.

    >>> round(student_t_quantile(0.975, 10), 6)
    2.228139
    """
    if not 0 < probability < 1 or df < 1:
        raise ValueError(f"no quantile of {probability} with {df} degrees of freedom")
    if probability < 0.5:
        return -student_t_quantile(1 - probability, df)
    if df >= _MANY:
        return _expanded(NormalDist().inv_cdf(probability), df)
    low, high = 0.0, 1.0
    while _upper_tail(high, df) > 1 - probability:
        low, high = high, high * 2
    while True:
        middle = (low + high) / 2
        if not low < middle < high:
            return middle
        if _upper_tail(middle, df) > 1 - probability:
            low = middle
        else:
            high = middle


def _confidence(confidence: float) -> float:
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must be between 0 and 1, not {confidence}")
    return confidence


def _expanded(z: float, df: int) -> float:
    """Cornish and Fisher's expansion (Abramowitz and Stegun 26.7.5)."""
    terms = (
        z,
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return math.fsum(term / df**power for power, term in enumerate(terms))


def _upper_tail(t: float, df: int) -> float:
    """Return P(T > t) for t >= 0 and a whole number of degrees of freedom.

    The finite sums of Abramowitz and Stegun 26.7.3 and 26.7.4, with theta = atan(t / sqrt(df)).
    """
    theta = math.atan(t / math.sqrt(df))
    sine, cosine = math.sin(theta), math.cos(theta)
    square = cosine * cosine
    odd = df % 2
    term = cosine if odd else 1.0
    terms = [term] if df > 1 else []
    for step in range(3 if odd else 2, df - 1, 2):
        term *= square * (step - 1) / step
        terms.append(term)
    total = sine * math.fsum(terms)
    both = 2 / math.pi * (theta + total) if odd else total
    return (1 - both) / 2
