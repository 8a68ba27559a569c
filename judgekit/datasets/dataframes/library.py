"""Detects the library of a data frame without importing it."""

from __future__ import annotations

from typing import Any, Literal

Library = Literal["pandas", "polars", "datasets"]
_LIBRARIES: tuple[Library, ...] = ("pandas", "polars", "datasets")


def library_of(value: Any) -> Library | None:
    """Return the library that a data frame comes from; `None` for other values.

    >>> library_of([]) is None
    True
    """
    for kind in type(value).__mro__:
        first = kind.__module__.partition(".")[0]
        if first in _LIBRARIES:
            library: Library = first
            return library
    return None
