"""The gated sum of difference, quality and alignment, all on 0..1."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

WEIGHTS: Mapping[str, float] = MappingProxyType(
    {"difference": 0.2, "quality": 0.3, "alignment": 0.5}
)
GATE = 0.7
"""Least difference at which steering counts as having had an effect."""


def passes_gate(difference: float, *, gate: float = GATE) -> bool:
    """Return whether a difference on 0..1 reaches the gate; exactly the gate passes.

    Compared to nine decimals: 99 x 69/99 + 1 is 70, whatever binary fractions make of it.
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
    """Return 0 below the gate, else the weighted sum; everything on 0..1.

    >>> round(overall_personalization(0.9, 0.8, 0.6), 10)
    0.72
    >>> overall_personalization(0.69, 1.0, 1.0)
    0.0
    """
    if not passes_gate(difference, gate=gate):
        return 0.0
    parts = (
        weights["difference"] * difference,
        weights["quality"] * quality,
        weights["alignment"] * alignment,
    )
    return min(1.0, sum(parts))
