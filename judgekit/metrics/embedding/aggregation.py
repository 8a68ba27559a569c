"""Scores from cosines: the equations of the quality definitions, without an embedder.

Cosines are compared after rounding to four decimals, as metrics report them. The batch may change
the seventh digit of a vector; rounding keeps the outcome the same.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

TAU = 0.8
"""Default cosine from which two texts count as equal in meaning."""
DIGITS = 4


def semantic_accuracy(similarities: Sequence[float], *, tau: float = TAU) -> float | None:
    """Return the share of similarities of at least tau, equation (7); `None` if there are none.

    >>> semantic_accuracy([0.8, 0.79], tau=0.8)
    0.5
    """
    hits = [is_accurate(similarity, tau) for similarity in similarities]
    return sum(hits) / len(hits) if hits else None


def is_accurate(similarity: float, tau: float) -> bool:
    """Return whether a similarity is at least tau; `is_covered` excludes tau itself."""
    return round(similarity, DIGITS) >= tau


def is_covered(similarity: float, tau: float) -> bool:
    """Return whether a similarity is greater than tau, equation (5)."""
    return round(similarity, DIGITS) > tau


def facts_covered(response: Sequence[str], truth: Sequence[str]) -> float | None:
    """Return the share of true facts in a response, equation (4); `None` if there are none.

    Duplicates count once.

    >>> facts_covered(["a", "a", "c"], ["a", "b"])
    0.5
    """
    facts = set(truth)
    return len(facts & set(response)) / len(facts) if facts else None


def facts_covered_semantic(cosines: Sequence[Sequence[float]], *, tau: float = TAU) -> float | None:
    """Return the share of true facts similar to a fact of a response, equations (4) and (5).

    Args:
        cosines: a row per true fact, a column per fact of the response.
        tau: a fact is covered if one of its cosines is greater.

    >>> facts_covered_semantic([[0.9, 0.1], [0.8, 0.3]])
    0.5
    """
    hits = [any(is_covered(cosine, tau) for cosine in row) for row in cosines]
    return sum(hits) / len(hits) if hits else None


def mean(values: Sequence[float]) -> float:
    """Return the mean; the sum is exact and so independent of the order."""
    return math.fsum(values) / len(values)
