"""The options of a metric, as its constructor has them."""

from __future__ import annotations

import builtins
import inspect
from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from pydantic import PydanticUserError, TypeAdapter

from judgekit.authoring.schemas.model import Described

NEEDED = "needed"
"""Marks an option without a default."""
_NOT_OPTIONS = {"name", "judge", "rubric", "of", "combine", "response_model", "value"}
"""Parameters of metrics that a suite says in another way, or that only Python can give."""


def options_schema(
    module: str, attribute: str, *, preset: Mapping[str, Any] = MappingProxyType({})
) -> dict[str, Any]:
    """Return the options a metric takes in a suite, with their types and defaults."""
    made = getattr(import_module(module), attribute)
    written = import_module(made.__init__.__module__)  # that of a base, where that has the options
    hints = get_type_hints(made.__init__, localns=_Names(vars(written)))
    options: dict[str, Any] = {}
    for name, parameter in inspect.signature(made).parameters.items():
        if name in _NOT_OPTIONS:
            continue
        option = _schema_of(hints.get(name, Any))
        default = preset.get(name, parameter.default)
        if default is parameter.empty:
            option[NEEDED] = True
        elif default is not None and default != ():
            option["default"] = default
        options[name] = option
    return options


class _Names(dict[str, Any]):
    """The names of a module; what it imports for type checkers only is anything at all."""

    def __missing__(self, name: str) -> Any:
        return getattr(builtins, name, Any)


def _schema_of(annotation: Any) -> dict[str, Any]:
    """Return the schema of what an option may be; what has none in JSON is left out."""
    if get_origin(annotation) in (Union, UnionType):
        kinds = [found for part in get_args(annotation) if (found := _schema_of(part))]
        return kinds[0] if len(kinds) == 1 else {"anyOf": kinds}
    if annotation == tuple[str, ...]:
        return {"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "string"}]}
    if annotation is Any:
        return {}
    try:
        return TypeAdapter(annotation).json_schema(schema_generator=Described)
    except PydanticUserError:
        return {}
