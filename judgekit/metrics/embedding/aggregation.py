"""Cosines to numbers: the equations of the quality definitions, without any embedder.

A cosine is compared as a metric reports it, rounded to four decimals, so that what another batch
changes in its seventh digit changes no outcome.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

TAU = 0.8
"""Where two texts count as saying the same, if a metric is told no other place."""
DIGITS = 4


def semantic_accuracy(similarities: Sequence[float], *, tau: float = TAU) -> float | None:
    """Return the share of similarities of at least tau, equation (7); `None` of none.

    >>> semantic_accuracy([0.8, 0.79], tau=0.8)
    0.5
    """
    hits = [is_accurate(similarity, tau) for similarity in similarities]
    return sum(hits) / len(hits) if hits else None


def is_accurate(similarity: float, tau: float) -> bool:
    """Return whether a similarity is at least tau: *not* strict, unlike `is_covered`."""
    return round(similarity, DIGITS) >= tau


def is_covered(similarity: float, tau: float) -> bool:
    """Return whether a similarity is greater than tau, equation (5): strict."""
    return round(similarity, DIGITS) > tau


def facts_covered(response: Sequence[str], truth: Sequence[str]) -> float | None:
    """Return the share of true facts among those of a response, equation (4); `None` of none.

    Both are sets: what is said twice counts once.

    >>> facts_covered(["a", "a", "c"], ["a", "b"])
    0.5
    """
    expected = set(truth)
    return len(expected & set(response)) / len(expected) if expected else None


def facts_covered_semantic(cosines: Sequence[Sequence[float]], *, tau: float = TAU) -> float | None:
    """Return the share of true facts near one of a response, equations (4) and (5).

    Args:
        cosines: a row for every fact of the truth, a column for every fact of the response.
        tau: a fact is covered if a cosine is greater.

    >>> facts_covered_semantic([[0.9, 0.1], [0.8, 0.3]])
    0.5
    """
    hits = [any(is_covered(cosine, tau) for cosine in row) for row in cosines]
    return sum(hits) / len(hits) if hits else None


def mean(values: Sequence[float]) -> float:
    """Return the mean; the sum is exact, so that no order changes it."""
    return math.fsum(values) / len(values)
