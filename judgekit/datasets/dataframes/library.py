"""Whose object a value is, told without importing the library."""

from __future__ import annotations

from typing import Any, Literal

Library = Literal["pandas", "polars", "datasets"]
_LIBRARIES: tuple[Library, ...] = ("pandas", "polars", "datasets")


def library_of(value: Any) -> Library | None:
    """Return the library of data frames that a value is from, if it is from one.

    >>> library_of([]) is None
    True
    """
    for kind in type(value).__mro__:
        first = (getattr(kind, "__module__", None) or "").partition(".")[0]
        if first in _LIBRARIES:
            found: Library = first
            return found
    return None
