"""When a value passes, and the minimum number of values for a reliable interval."""

from __future__ import annotations

from judgekit.core.comparing import at_least, at_most

FEW = 30
"""Minimum number of independent values for a reliable interval."""


def passes(value: float | None, threshold: float | None, higher_is_better: bool) -> bool | None:
    """Return whether a value passes its threshold, to 12 digits; `None` if either is missing."""
    if value is None or threshold is None:
        return None
    reached = at_least if higher_is_better else at_most
    return reached(value, threshold)
