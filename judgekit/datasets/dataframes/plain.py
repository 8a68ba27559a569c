"""Values of tables as plain Python: what stands for a missing value becomes `None`."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any
from uuid import UUID

_MISSING = ("NAType", "NaTType")


def plain(value: Any, *, padded: bool = False) -> Any:
    """Return a value of a table without what only its library knows.

    NaN, NA and NaT are missing values; arrays are lists; spans of time and UUIDs are texts. What
    is no JSON after that is left for others to refuse.

    Args:
        value: a cell, or something inside one.
        padded: whether objects come from a typed list, in which each has the keys of all: then
            a key without a value is none.
    """
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float):
        return float(value) if value == value else None  # noqa: PLR0124 - NaN is not itself
    kind = type(value)
    if kind.__name__ in _MISSING and kind.__module__.startswith("pandas"):
        return None
    if isinstance(value, Mapping):
        inside = {key: plain(item, padded=padded) for key, item in value.items()}
        return {k: v for k, v in inside.items() if v is not None} if padded else inside
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(item, padded=padded) for item in value]
    if isinstance(value, (timedelta, UUID)):
        return str(value)
    return _array(value) if kind.__module__ == "numpy" else value


def _array(value: Any) -> Any:
    """Return an array, or a number of one, as lists and numbers."""
    if value.dtype.kind in "mM":  # times: as numbers they say nothing
        texts = value.astype(str).tolist()
        return _times(texts)
    if value.dtype.kind == "O" or getattr(value, "ndim", 0):
        # Lists of a Parquet file come as arrays; the objects in them are padded.
        return [plain(item, padded=True) for item in value.tolist()]
    return plain(value.item())


def _times(texts: Any) -> Any:
    if isinstance(texts, list):
        return [_times(text) for text in texts]
    return None if texts == "NaT" else texts
