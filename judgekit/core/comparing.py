"""Compare a computed number with a bound that a person wrote.

Sums of decimal fractions are off in the 16th digit, so a perfect verdict could miss a threshold of
1. Numbers that are equal to 12 digits are therefore equal to a bound: with every threshold, band,
gate, tau and theta. Comparisons with bounds that are no decision of a person, such as the ends of a
range, stay exact.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

EQUAL = 1e-12
"""Largest difference of equal numbers, relative for numbers above 1."""


def equal(value: float, bound: float) -> bool:
    """Return whether a number is equal to a bound, to 12 digits.

    >>> equal(0.1 + 0.2, 0.3), equal(0.3 + 1e-9, 0.3)
    (True, False)
    """
    return value == bound or math.isclose(value, bound, rel_tol=EQUAL, abs_tol=EQUAL)


def at_least(value: float, bound: float) -> bool:
    """Return whether a number reaches a bound.

    >>> at_least(0.9999999999999998, 1.0)
    True
    """
    return value >= bound or equal(value, bound)


def at_most(value: float, bound: float) -> bool:
    """Return whether a number is a bound or below it."""
    return value <= bound or equal(value, bound)


def above(value: float, bound: float) -> bool:
    """Return whether a number is above a bound; one that is equal to it is not.

    >>> above(0.1 + 0.2, 0.3)
    False
    """
    return not at_most(value, bound)


def below(value: float, bound: float) -> bool:
    """Return whether a number is below a bound; one that is equal to it is not."""
    return not at_least(value, bound)


def mean_within(mean: float, values: Sequence[float]) -> float:
    """Return a mean with positive weights, which lies between its values.

    Equal values have exactly their own mean: rounding must not move it out of their range.

    >>> mean_within(0.4 * 0.7 + 0.3 * 0.7 + 0.3 * 0.7, [0.7, 0.7, 0.7])
    0.7

    Args:
        mean: the mean, with the error of its sum.
        values: the values, at least one.
    """
    return min(max(mean, min(values)), max(values))
