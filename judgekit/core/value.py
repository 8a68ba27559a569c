"""The base class of values: frozen, without unknown fields, with finite numbers only."""

import math
import types
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from pathlib import PurePath
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeGuard, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import SchemaValidator, core_schema

from judgekit.core.errors import InvalidValue
from judgekit.core.suggest import suggest
from judgekit.core.value_rule import value_rule

if TYPE_CHECKING:
    from judgekit.core.display.parts import DisplayPart as Shown


class Displayed(ABC):
    """A value that is shown as a table in notebooks and as readable text in IPython."""

    @abstractmethod
    def _parts_shown(self) -> Iterable["Shown"]:
        """Return the parts to display."""

    def _text_shown(self) -> str | None:
        """Return the text for a Python prompt, if it differs from the plain text of the parts."""
        return None

    def _repr_html_(self) -> str:
        from judgekit.core.display.html import to_html

        return to_html(self._parts_shown())

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        # IPython calls this for a top-level value; inside a list it uses the repr.
        from judgekit.core.display.html import bundle

        return bundle(self._parts_shown(), text=self._text_shown())

    if not TYPE_CHECKING:
        # Type checkers report these themselves.

        def __getattr__(self, name: str) -> Any:
            # A name of the class comes here if its property raised an AttributeError.
            if name.startswith("_") or hasattr(type(self), name):
                inherited = getattr(super(), "__getattr__", super().__getattribute__)
                return inherited(name)
            from judgekit.core.wrong_name import wrong_attribute

            raise wrong_attribute(self, name)

        def __getitem__(self, key: Any) -> Any:
            from judgekit.core.wrong_name import wrong_entry

            raise wrong_entry(self, key)


_constructors: dict[type[BaseModel], tuple[Callable[[Any], Any], set[str]]] = {}
"""Class -> a function that makes a value from fields, extra fields and names; and the names."""


class Value(BaseModel):
    """A frozen pydantic model that refuses unknown fields, NaN and infinities."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        allow_inf_nan=False,
        # Most commands use few models; building all would double the start-up time.
        defer_build=True,
    )

    other_names: ClassVar[Mapping[str, str]] = MappingProxyType({})
    """Words that other tools use for a field -> the field."""

    if not TYPE_CHECKING:

        def __init__(self, /, *unnamed: Any, **fields: Any) -> None:
            if unnamed:
                first = next(iter(type(self).model_fields), "")
                owner = type(self).__name__
                raise InvalidValue(f"{owner}: name each field: {owner}({first}=..., ...)")
            try:
                self.__pydantic_validator__.validate_python(fields, self_instance=self)
            except ValidationError as exc:
                raise invalid(type(self), exc) from exc

        # Otherwise pydantic calls it for every nested value, too.
        __init__.__pydantic_base_init__ = True

    if not TYPE_CHECKING:

        def __setattr__(self, name: str, value: Any) -> None:
            if name in type(self).model_fields:
                owner, copy = type(self).__name__, f"model_copy(update={{{name!r}: ...}})"
                raise InvalidValue(f"{owner}: {name} cannot be changed; make a copy: {copy}")
            super().__setattr__(name, value)

        def __delattr__(self, name: str) -> None:
            raise InvalidValue(f"{type(self).__name__}: {name} cannot be deleted")

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:
        # A model takes its fields from the inner schema; `any_schema` passes them on unchecked.
        # Once a class has a validator, pydantic-core would use that instead of this schema.
        schema = core_schema.model_schema(cls, core_schema.any_schema())
        _constructors[cls] = SchemaValidator(schema).validate_python, set(cls.model_fields)

    def __repr_args__(self) -> Iterable[tuple[str | None, Any]]:
        for name, field in type(self).model_fields.items():
            value = getattr(self, name, None)
            if value != field.get_default(call_default_factory=True, validated_data={}):
                yield name, _Short(value)

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Return a copy with some fields changed, without cached properties."""
        copied = super().model_copy(update=update, deep=deep)
        for name in copied.__dict__.keys() - type(self).model_fields.keys():
            del copied.__dict__[name]
        return copied


def invalid(model: type[BaseModel], exc: ValidationError) -> InvalidValue:
    """Return the error of a constructor, without the words of pydantic."""
    faults = exc.errors(include_url=False)
    # A missing field is often present under another spelling.
    fault = next((f for f in faults if f["type"] == "extra_forbidden"), faults[0])
    path = ".".join(str(step) for step in fault["loc"])[:100]
    rule = value_rule(fault)
    if fault["type"] == "extra_forbidden":
        known = list(model.model_fields) if len(fault["loc"]) == 1 else []
        meant = getattr(model, "other_names", {}).get(path)
        hint = f"; did you mean {meant!r}?" if meant else suggest(path, known)
        return InvalidValue(f"{model.__name__}: unknown field {path!r}{hint}")
    if not path:
        return InvalidValue(f"{model.__name__}: {rule}")
    if fault["type"] == "missing":
        return InvalidValue(f"{model.__name__}: {path!r} is missing; add {path}=...")
    return InvalidValue(f"{model.__name__}: {path} {rule}, not {described(fault['input'])}")


def sparse(*, default: Any) -> Any:
    """Return a field that JSON omits at its default.

    Values that do not use a field of a later version keep the bytes that earlier versions wrote.
    """
    return Field(default=default, exclude_if=lambda value: value == default)


def shortened(value: Any) -> str:
    """Return the repr of a value for a message; long texts and lists are shortened."""
    return str(_Short(value))


def described(value: Any) -> str:
    """Return a value as a message shows it; an object without a readable form by its class.

    Example:
        >>> described("5"), described(int), described(object())
        ("'5'", 'the class int', 'an object of object')
    """
    if isinstance(value, type):
        return f"the class {value.__name__}"
    if is_coroutine(value):
        return f"a coroutine of {value.__name__}"
    if isinstance(value, str | bytes | int | float | list | tuple | dict | None | PurePath):
        return str(_Short(value))
    if isinstance(value, types.FunctionType | types.MethodType | types.BuiltinFunctionType):
        return f"the function {value.__name__}"
    return f"an object of {type(value).__name__}"


def is_coroutine(value: object) -> "TypeGuard[types.CoroutineType[Any, Any, Any]]":
    """Return whether a value is the result of an async function that was not awaited."""
    return isinstance(value, types.CoroutineType)


class _Short(str):
    """A field in a repr: long texts and lists are shortened."""

    __slots__ = ()

    def __new__(cls, value: Any) -> Self:
        most, entries = 80, 6
        if isinstance(value, str):
            text = repr(value[:most])
            text += f"… ({len(value)} characters)" if len(value) > most else ""
        elif isinstance(value, (tuple, list)):
            inner = ", ".join(cls(item) for item in value[:entries])
            text = f"[{inner}{f', … ({len(value)})' if len(value) > entries else ''}]"
        elif isinstance(value, dict):
            inner = ", ".join(f"{cls(k)}: {cls(v)}" for k, v in list(value.items())[:entries])
            text = f"{{{inner}{f', … ({len(value)})' if len(value) > entries else ''}}}"
        else:
            text = repr(value)
        return super().__new__(cls, text)

    def __repr__(self) -> str:
        return str(self)


V = TypeVar("V", bound=Value)


def trusted(kind: type[V], fields: dict[str, Any]) -> V:
    """Build a value from valid fields, without validation.

    A replay builds about 20 values per row. A row takes 1.26 million instructions with this
    function, 1.64 with validation (a quarter of a replay) and 2.00 with `model_construct`.

    Args:
        kind: the class of the value.
        fields: every field of the class, in its order; the value keeps this dict.
    """
    construct, names = _constructors[kind]
    value: V = construct((fields, None, names))
    return value


def to_json_bytes(value: Value) -> bytes:
    """Return the JSON of a value in UTF-8, without fields at their defaults.

    Raises:
        PydanticSerializationError: a text contains half of a surrogate pair.
    """
    data: bytes = type(value).__pydantic_serializer__.to_json(value, exclude_defaults=True)
    return data


Json = Any
"""A JSON value: read from JSON, or checked by `check_json`. pydantic's `JsonValue` is slow because
it runs Python code for every nested value."""


_SCALARS = frozenset((str, int, bool, type(None)))


_MOST_ITEMS = 10_000


def is_json(*values: Any) -> bool:
    """Return whether values consist of JSON types; False also for their subclasses.

    A quick check before `check_json`, which is exact and names the location of a fault but takes
    several times longer. Also False for values with many items and for values that contain
    themselves.
    """
    items = list(values)
    for item in items:  # the loop appends the contents of each item to the list
        kind = type(item)
        if kind in _SCALARS:
            continue
        if kind is float:
            if not math.isfinite(item):
                return False
        elif kind is dict:
            for key in item:
                if type(key) is not str:
                    return False
            items += item.values()
        elif kind is list or kind is tuple:
            items += item
        else:
            return False
        if len(items) > _MOST_ITEMS:
            return False
    return True


def check_json(value: Any, *, where: str) -> None:
    """Reject a value that is not JSON: NaN, infinities, other objects, keys that are not strings.

    Raises:
        ValueError: with the location of the fault.
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
