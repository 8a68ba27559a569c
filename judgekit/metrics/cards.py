"""The documentation of a metric: its card, and its options for authors of suites."""

from __future__ import annotations

import inspect
import json
import re
import types
import typing
from collections.abc import Mapping, Sequence
from dataclasses import is_dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

from judgekit.core.protocols import Card, CardExample
from judgekit.core.yaml_file import parse_yaml
from judgekit.metrics.adapter import is_metric, option_of
from judgekit.metrics.catalogue import BUILTIN

FILE = "cards.yaml"


def card_of(name: str) -> Card | None:
    """Return the card of a built-in metric; `None` for any other name."""
    entry = BUILTIN.get(name)
    return None if entry is None else _cards(entry.module.rpartition(".")[0])[entry.attribute]


@cache
def _cards(package: str) -> dict[str, Card]:
    data, _ = parse_yaml(files(package).joinpath(FILE).read_text("utf-8"), file=FILE)
    return {
        name: Card(**{**card, "example": CardExample(**card["example"])})
        for name, card in data.items()
    }


_LEFT_OUT = ("judge", "name")
_PLAIN = {
    str: "text",
    int: "integer",
    float: "number",
    bool: "true or false",
    Path: "file",
    type(None): "null",
    Any: "any value",
}
_ITEM = re.compile(r"^    (\w+): (.*(?:\n {6,}.*)*)", re.MULTILINE)


class _Absent(type):
    """Creates a placeholder for a name that is imported for type checkers only."""

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return cls

    def __getitem__(cls, _: Any) -> Any:
        return cls


class Option(NamedTuple):
    """An option of a metric."""

    name: str
    kind: str
    """The type in words; a class in backquotes is available from Python only."""
    default: str | None
    """The default as YAML; `None` if the option is required."""
    says: str
    """The purpose of the option."""


def options_of(maker: Any, says: Mapping[str, str] | None = None) -> tuple[Option, ...]:
    """Return the options of a metric, in the order of its signature.

    Args:
        maker: the class or function that makes it; a ready metric has none.
        says: the purpose of each option; by default the `Args:` of its docstring, which is the
            only source for a metric of another package.
    """
    if is_metric(maker):
        return ()
    kinds = _kinds(maker)
    texts = _documented(maker) if says is None else says
    return tuple(
        Option(
            option_of(parameter.name),
            _kind(kinds.get(parameter.name, parameter.annotation)),
            None if parameter.default is parameter.empty else _default(parameter.default),
            texts.get(option_of(parameter.name), ""),
        )
        for parameter in inspect.signature(maker).parameters.values()
        if parameter.name not in _LEFT_OUT
    )


def _default(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False)
    except TypeError:
        return "(see above)"


def _kinds(maker: Any) -> dict[str, Any]:
    """Return the annotation of each parameter."""
    if not isinstance(maker, type):
        return _hints(maker)
    kinds: dict[str, Any] = {}
    for home in reversed(maker.__mro__):
        own = vars(home).get("__init__")
        # The docstring that a dataclass generates repeats only its own fields.
        written = inspect.isfunction(own) and not is_dataclass(home)
        kinds |= _hints(own if written else home)
    return kinds


def _hints(home: Any) -> dict[str, Any]:
    """Return annotations as types; names for type checkers only become placeholders."""
    absent: dict[str, Any] = {}
    while True:
        try:
            return typing.get_type_hints(home, localns=absent)
        except NameError as exc:
            name = str(exc.name)
            absent[name] = _Absent(name, (), {})


def _kind(of: Any) -> str:
    origin, inside = typing.get_origin(of), typing.get_args(of)
    if origin is typing.Literal:
        return " or ".join(f"`{json.dumps(value)}`" for value in inside)
    if origin in (types.UnionType, typing.Union):
        kinds = [_kind(one) for one in inside]
        return " or ".join(dict.fromkeys(kinds))
    if of in _PLAIN:
        return _PLAIN[of]
    if origin is not None and issubclass(origin, Mapping):
        return "mapping" if inside[1] is Any else f"mapping to {_kind(inside[1])}"
    if origin is not None and issubclass(origin, Sequence):
        return f"list of {_kind(inside[0])}"
    return f"`{getattr(of, '__name__', of)}`"


def _documented(maker: Any) -> dict[str, str]:
    """Return the `Args:` of a docstring, or of those of its base classes."""
    homes = inspect.getmro(maker) if isinstance(maker, type) else (maker,)
    texts: dict[str, str] = {}
    for home in homes:
        _, _, arguments = (inspect.getdoc(home) or "").partition("\nArgs:\n")
        for name, text in _ITEM.findall(arguments.split("\n\n")[0]):
            says = " ".join(text.split())
            texts.setdefault(name, says[:1].upper() + says[1:])
    return texts
