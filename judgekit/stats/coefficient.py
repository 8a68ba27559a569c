"""A coefficient of agreement."""

from __future__ import annotations

from judgekit.core.value import Value


class Coefficient(Value):
    """A figure of agreement with its 95 % interval."""

    value: float | None
    """`None` where there is nothing to tell apart: everybody gave one and the same answer."""
    low: float | None = None
    high: float | None = None
    too_few: str | None = None
    """Why there is no interval."""
