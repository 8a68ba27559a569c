"""The weighted sum of difference, quality and alignment with a gate, all on 0..1."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

WEIGHTS: Mapping[str, float] = MappingProxyType(
    {"difference": 0.2, "quality": 0.3, "alignment": 0.5}
)
GATE = 0.7
"""Minimum difference that counts as an effect of steering."""


def passes_gate(difference: float, *, gate: float = GATE) -> bool:
    """Return whether a difference on 0..1 reaches the gate; a difference equal to it passes.

    Both are rounded to nine decimals, because 99 x 69/99 + 1 is not exactly 70 in binary.
    """
    return round(difference, 9) >= round(gate, 9)


def overall_personalization(
    difference: float,
    quality: float,
    alignment: float,
    *,
    gate: float = GATE,
    weights: Mapping[str, float] = WEIGHTS,
) -> float:
    """Return 0 below the gate, else the weighted sum, all on 0..1.

    >>> round(overall_personalization(0.9, 0.8, 0.6), 10)
    0.72
    >>> overall_personalization(0.69, 1.0, 1.0)
    0.0
    """
    if not passes_gate(difference, gate=gate):
        return 0.0
    scores = {"difference": difference, "quality": quality, "alignment": alignment}
    return min(1.0, sum(weights[name] * score for name, score in scores.items()))
