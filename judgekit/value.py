"""The base of every value: frozen, strict about its fields, finite numbers only."""

from __future__ import annotations

import math
from typing import Any, TypeVar

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


V = TypeVar("V", bound=Value)
_put = object.__setattr__
_named: dict[type[Value], set[str]] = {}


def trusted(kind: type[V], fields: dict[str, Any]) -> V:
    """Return a value made of fields that are right already, such as those of checked values.

    Nothing is checked and nothing is filled in: `fields` names every field of the kind, in its
    order, and belongs to the value from then on. A replay does this fifty times a row, and
    `model_construct` takes three times as long.
    """
    value = kind.__new__(kind)
    given = _named.get(kind)
    if given is None:
        given = _named[kind] = set(kind.model_fields)
    _put(value, "__dict__", fields)
    _put(value, "__pydantic_fields_set__", given)
    _put(value, "__pydantic_extra__", None)
    _put(value, "__pydantic_private__", None)
    return value


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
