"""The options of a metric, from its constructor."""

from __future__ import annotations

import builtins
import inspect
from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from pydantic import PydanticUserError, TypeAdapter

from judgekit.authoring.schemas.model import DescribedSchema

_NOT_OPTIONS = {"name", "judge", "rubric", "of", "combine", "response_model", "value"}
"""Parameters that a suite sets in another way, or that only Python can set."""


def options_schema(
    module: str, attribute: str, *, preset: Mapping[str, Any] = MappingProxyType({})
) -> dict[str, Any]:
    """Return the schema of the options of a metric in a suite, with types and defaults."""
    metric = getattr(import_module(module), attribute)
    module_of_init = import_module(metric.__init__.__module__)  # may be that of a base class
    hints = get_type_hints(metric.__init__, localns=_ModuleNames(vars(module_of_init)))
    options: dict[str, Any] = {}
    required = []
    for name, parameter in inspect.signature(metric).parameters.items():
        if name in _NOT_OPTIONS:
            continue
        option = _schema_of(hints.get(name, Any))
        default = preset.get(name, parameter.default)
        if default is parameter.empty:
            required.append(name)
        elif default is not None and default != ():
            option["default"] = default
        options[name] = option
    return {"properties": options, "required": required}


class _ModuleNames(dict[str, Any]):
    """The names of a module; a name that only type checkers import is `Any`."""

    def __missing__(self, name: str) -> Any:
        return vars(builtins).get(name, Any)


def _schema_of(annotation: Any) -> dict[str, Any]:
    """Return the schema of the values of an option; types without a JSON form are left out."""
    if get_origin(annotation) in (Union, UnionType):
        kinds = [kind for part in get_args(annotation) if (kind := _schema_of(part))]
        return kinds[0] if len(kinds) == 1 else {"anyOf": kinds}
    if annotation == tuple[str, ...]:
        return {"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "string"}]}
    if annotation is Any:
        return {}
    try:
        return TypeAdapter(annotation).json_schema(schema_generator=DescribedSchema)
    except PydanticUserError:
        return {}
