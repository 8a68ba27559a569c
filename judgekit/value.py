"""The base of every value: frozen, strict about its fields, finite numbers only."""

from __future__ import annotations

import math
from typing import Any

from pydantic import BaseModel, ConfigDict


class Value(BaseModel):
    """A frozen pydantic model that refuses unknown fields, NaN and infinities."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        allow_inf_nan=False,
        # Models that a command never uses are never built: half of the start-up time.
        defer_build=True,
    )


Json = Any
"""A JSON value. pydantic's own type for it runs Python code for every value in every value; what
these fields hold is either read from JSON or checked by `check_json`."""


def check_json(value: Any, *, where: str) -> None:
    """Refuse what JSON has no word for: NaN, infinities, objects, keys that are not text.

    Raises:
        ValueError: naming the place.
    """
    if value is None or isinstance(value, (str, bool, int)):
        return
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"{where} is {value}, which is no number to report")
    elif isinstance(value, (list, tuple)):
        for number, item in enumerate(value):
            check_json(item, where=f"{where}[{number}]")
    elif isinstance(value, dict):
        for key, item in value.items():
            if not isinstance(key, str):
                raise ValueError(f"{where} has a key {key!r} that is not text")
            check_json(item, where=f"{where}.{key}")
    else:
        raise ValueError(f"{where} is a {type(value).__name__}, which is not JSON")
