"""When a value passes, and the minimum number of values for a reliable interval."""

from __future__ import annotations

FEW = 30
"""Minimum number of independent values for a reliable interval."""


def passes(value: float | None, threshold: float | None, higher_is_better: bool) -> bool | None:
    """Return whether a value passes its threshold; `None` if either is missing."""
    if value is None or threshold is None:
        return None
    return value >= threshold if higher_is_better else value <= threshold
