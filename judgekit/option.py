"""What a metric can be told: its options, as whoever writes a suite would want them explained."""

from __future__ import annotations

import ast
import inspect
import json
import re
import textwrap
import types
import typing
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from judgekit.protocols import Metric

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


class Option(NamedTuple):
    """An option of a metric."""

    name: str
    kind: str
    """What it takes, in words; a class of Python in backquotes can be given from Python only."""
    default: str | None
    """As a suite would write it; `None` where it has to be given."""
    says: str
    """What it is for, from the docstring of the class or of the field."""


def options_of(made: Any) -> tuple[Option, ...]:
    """Return the options of a metric, in the order of its signature.

    Args:
        made: the class or function that makes it; a metric ready-made has none.
    """
    if isinstance(made, Metric) and not isinstance(made, type):
        return ()
    kinds, said = _kinds(made), _said(made)
    return tuple(
        Option(
            parameter.name,
            _kind(kinds.get(parameter.name, parameter.annotation)),
            None if parameter.default is parameter.empty else _default(parameter.default),
            said.get(parameter.name, ""),
        )
        for parameter in inspect.signature(made).parameters.values()
        if parameter.name not in _LEFT_OUT
    )


def _default(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False)
    except TypeError:
        return "(see above)"


def _kinds(made: Any) -> dict[str, Any]:
    """Return annotations as types; as they are written where they cannot be looked up."""
    homes: Sequence[Any] = (made,)
    if isinstance(made, type):
        own = vars(made).get("__init__")
        homes = made.__mro__[::-1] if own is None else (own,)
    found: dict[str, Any] = {}
    for home in homes:
        try:
            found |= typing.get_type_hints(home)
        except NameError:
            found |= inspect.get_annotations(home)
    return found


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


def _said(made: Any) -> dict[str, str]:
    """Return what docstrings say of each option: the class before those it is made of."""
    homes = made.__mro__ if isinstance(made, type) else (made,)
    found: dict[str, str] = {}
    for home in homes:
        if home.__module__.startswith(("builtins", "typing")):
            continue
        for name, text in (*_arguments(inspect.getdoc(home) or ""), *fields_said(home)):
            found.setdefault(name, text[:1].upper() + text[1:])
    return found


def _arguments(documentation: str) -> Iterator[tuple[str, str]]:
    """Yield the arguments a docstring explains."""
    _, _, arguments = documentation.partition("\nArgs:\n")
    for name, text in _ITEM.findall(arguments.split("\n\n")[0]):
        yield name, " ".join(text.split())


@cache
def fields_said(home: Any) -> tuple[tuple[str, str], ...]:
    """Return the fields of a class that have a text below them, with that text."""
    try:
        (tree,) = ast.parse(textwrap.dedent(inspect.getsource(home))).body
    except (OSError, TypeError, SyntaxError):
        return ()
    body = tree.body if isinstance(tree, ast.ClassDef) else []
    return tuple(
        (field.target.id, " ".join(text.value.value.split()))
        for field, text in pairwise(body)
        if isinstance(field, ast.AnnAssign)
        and isinstance(field.target, ast.Name)
        and isinstance(text, ast.Expr)
        and isinstance(text.value, ast.Constant)
        and isinstance(text.value.value, str)
    )
