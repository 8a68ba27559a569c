"""The base of every value: frozen, strict about its fields, finite numbers only.

What it takes to show one in a notebook is loaded when a notebook asks.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from pydantic import BaseModel, ConfigDict

if TYPE_CHECKING:
    from judgekit.core.display.parts import DisplayPart as Shown


class Displayed(ABC):
    """Shown by itself, it is a table in a notebook and readable text at a prompt."""

    @abstractmethod
    def _parts_shown(self) -> Iterable[Shown]:
        """Return what there is to see."""

    def _text_shown(self) -> str | None:
        """Return the text of a prompt, where it is not the same in plain letters."""
        return None

    def _repr_html_(self) -> str:
        from judgekit.core.display.html import to_html

        return to_html(self._parts_shown())

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        # Only asked of what is shown by itself: inside a list, a value is its one-line repr.
        from judgekit.core.display.bundle import bundle

        return bundle(self._parts_shown(), text=self._text_shown())


class Value(BaseModel):
    """A frozen pydantic model that refuses unknown fields, NaN and infinities."""

    # A module of many values does without `from __future__ import annotations`: to read each
    # annotation back from its text is a third of what pydantic takes to make a class.
    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        allow_inf_nan=False,
        # Models that a command never uses are never built: half of the start-up time.
        defer_build=True,
    )

    def __repr_args__(self) -> Iterable[tuple[str | None, Any]]:
        for name, field in type(self).model_fields.items():
            value = getattr(self, name, None)
            if value != field.get_default(call_default_factory=True, validated_data={}):
                yield name, _Short(value)

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Return a copy, with some fields changed; nothing that was worked out is taken along."""
        copied = super().model_copy(update=update, deep=deep)
        for name in copied.__dict__.keys() - type(self).model_fields.keys():
            del copied.__dict__[name]
        return copied


class _Short(str):
    """What a repr says of a field: the beginning of long texts, and of long lists."""

    __slots__ = ()

    def __new__(cls, value: Any) -> Self:
        most, entries = 80, 6
        if isinstance(value, str):
            said = repr(value[:most])
            said += f"… ({len(value)} characters)" if len(value) > most else ""
        elif isinstance(value, (tuple, list)):
            inner = ", ".join(cls(item) for item in value[:entries])
            said = f"[{inner}{f', … ({len(value)})' if len(value) > entries else ''}]"
        elif isinstance(value, dict):
            inner = ", ".join(f"{cls(k)}: {cls(v)}" for k, v in list(value.items())[:entries])
            said = f"{{{inner}{f', … ({len(value)})' if len(value) > entries else ''}}}"
        else:
            said = repr(value)
        return super().__new__(cls, said)

    def __repr__(self) -> str:
        return str(self)


V = TypeVar("V", bound=Value)
_new = object.__new__
_put_fields = BaseModel.__dict__["__dict__"].__set__
_put_names = BaseModel.__dict__["__pydantic_fields_set__"].__set__
_put_extra = BaseModel.__dict__["__pydantic_extra__"].__set__
_put_private = BaseModel.__dict__["__pydantic_private__"].__set__


class _Names(dict[type[Value], set[str]]):
    """The names of the fields of each kind, found when they are first wanted."""

    def __missing__(self, kind: type[Value]) -> set[str]:
        names = self[kind] = set(kind.model_fields)
        return names


_names = _Names()


def trusted(kind: type[V], fields: dict[str, Any]) -> V:
    """Return a value made of fields that are right already, such as those of checked values.

    Nothing is checked and nothing is filled in: `fields` names every field of the kind, in its
    order, and belongs to the value from then on. A replay does this fifty times a row, and
    `model_construct` takes eight times as long.
    """
    value = _new(kind)
    _put_fields(value, fields)
    _put_names(value, _names[kind])
    _put_extra(value, None)
    _put_private(value, None)
    return value


def to_json_bytes(value: Value) -> bytes:
    """Return the JSON of a value in UTF-8, without the fields that are at their defaults.

    Raises:
        PydanticSerializationError: a text holds half a character.
    """
    said: bytes = type(value).__pydantic_serializer__.to_json(value, exclude_defaults=True)
    return said


Json = Any
"""A JSON value. pydantic's own type for it runs Python code for every value in every value; what
these fields hold is either read from JSON or checked by `check_json`."""


_SCALARS = frozenset((str, int, bool, type(None)))


def is_json(value: Any) -> bool:
    """Return whether a value is made of JSON's own types only.

    `check_json` also takes subclasses of them, and says what is wrong where; it takes three times
    as long.
    """
    kind = type(value)
    if kind in _SCALARS:
        return True
    if kind is float:
        return math.isfinite(value)
    if kind is dict:
        return all(type(key) is str and is_json(item) for key, item in value.items())
    return kind in (list, tuple) and all(map(is_json, value))


def check_json(value: Any, *, where: str) -> None:
    """Refuse what JSON has no word for: NaN, infinities, objects, keys that are not text.

    Raises:
        ValueError: naming the place.
    """
    if value is None or isinstance(value, (str, bool, int)):
        return
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"{where} is {value}, not a finite number")
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
