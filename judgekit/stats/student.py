"""Student's t distribution for any positive number of degrees of freedom, not only whole ones."""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist

_MANY = 200
"""Degrees of freedom from which the expansion around the normal is exact to 1e-9."""
_SMALLEST = 1e-300
"""Replaces 0 as a divisor in the continued fraction."""


def student_t_p(t: float, df: float) -> float:
    """Return the two-sided p of a t statistic: P(|T| >= |t|), between 0 and 1.

    Raises:
        ValueError: df is not above 0, or t is not a number.

    >>> round(student_t_p(2.228139, 10), 6), round(student_t_p(2.0, 4.37), 6)
    (0.05, 0.110133)
    """
    if not df > 0 or math.isnan(t):
        raise ValueError(f"no p of t = {t} with {df} degrees of freedom")
    return min(1.0, max(0.0, 2 * _upper_tail(abs(t), df)))


@lru_cache(maxsize=1024)
def student_t_quantile(probability: float, df: float) -> float:
    """Return a quantile of Student's t distribution; accurate to 1e-8.

    Raises:
        ValueError: the probability is not between 0.5 and 1, or df is not above 0.

    >>> round(student_t_quantile(0.975, 10), 6), round(student_t_quantile(0.975, 1.92), 6)
    (2.228139, 4.479102)
    """
    if not 0.5 < probability < 1 or not df > 0:
        raise ValueError(f"no quantile of {probability} with {df} degrees of freedom")
    if df >= _MANY:
        return _expanded(NormalDist().inv_cdf(probability), df)
    low, high = 0.0, 1.0
    while _upper_tail(high, df) > 1 - probability:
        low, high = high, high * 2
    while high - low > 1e-13 * high:
        middle = (low + high) / 2
        if _upper_tail(middle, df) > 1 - probability:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _expanded(z: float, df: float) -> float:
    """Cornish and Fisher's expansion (Abramowitz and Stegun 26.7.5)."""
    terms = (
        z,
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return math.fsum(term / df**power for power, term in enumerate(terms))


def _upper_tail(t: float, df: float) -> float:
    """Return P(T > t) for t >= 0: half the incomplete beta ratio (A. and S. 26.7.1)."""
    square = t * t
    if math.isinf(square):
        return 0.0
    a, b = df / 2, 0.5
    x, rest = df / (df + square), square / (df + square)
    if rest == 0:
        return 0.5
    # x ** a * rest ** b / Beta(a, b); x is close to 1 if t is small relative to df.
    log = a * -math.log1p(square / df) + b * math.log(rest)
    front = math.exp(log + math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b))
    if x < (a + 1) / (a + b + 2):
        return front * _fraction(a, b, x) / a / 2
    return 0.5 - front * _fraction(b, a, rest) / b / 2


def _fraction(a: float, b: float, x: float) -> float:
    """Return the continued fraction of the incomplete beta function (DLMF 8.17.22), by Lentz."""
    c, d = 1.0, 1 / _nonzero(1 - (a + b) * x / (a + 1))
    value = d
    for m in range(1, 10_000):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        step = 1.0
        for term in (even, odd):
            d = 1 / _nonzero(1 + term * d)
            c = _nonzero(1 + term / c)
            step = c * d
            value *= step
        if abs(step - 1) < 1e-15:
            break
    return value


def _nonzero(value: float) -> float:
    return value if abs(value) > _SMALLEST else _SMALLEST
