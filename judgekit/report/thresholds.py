"""When a value passes, and how many values a useful interval needs."""

from __future__ import annotations

FEW = 30
"""Independent values below which an interval says little."""


def passes(value: float | None, threshold: float | None, higher_is_better: bool) -> bool | None:
    """Return whether a value passes its threshold; `None` without either."""
    if value is None or threshold is None:
        return None
    return value >= threshold if higher_is_better else value <= threshold
