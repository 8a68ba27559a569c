"""The schema of a model, with the docstrings of its fields, and of the options of a metric."""

from __future__ import annotations

import ast
import builtins
import inspect
import json
import textwrap
from collections.abc import Mapping
from importlib import import_module
from itertools import pairwise
from types import MappingProxyType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel, PydanticUserError, TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue


class DescribedSchema(GenerateJsonSchema):
    """Omits titles, and uses the docstring of a field as its description."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        """Return `False`: no field gets a title."""
        return False

    def model_schema(self, schema: Any) -> JsonSchemaValue:
        """Return the schema of a class, with a description of each field."""
        result = super().model_schema(schema)
        result.pop("title", None)
        model: type[BaseModel] = schema["cls"]
        docs = _docs_of(model)
        for name, field in model.model_fields.items():
            entry = result["properties"].get(field.alias or name)
            if isinstance(entry, dict):
                if name in docs:
                    entry.setdefault("description", docs[name])
                if entry.get("default", ...) is None:
                    del entry["default"]
        return result


def _docs_of(model: type[BaseModel]) -> dict[str, str]:
    """Return the docstrings of the fields of a class, each as one line."""
    docs: dict[str, str] = {}
    for cls in reversed(model.__mro__):
        if not issubclass(cls, BaseModel) or not cls.__module__.startswith("judgekit"):
            continue
        (node,) = ast.parse(textwrap.dedent(inspect.getsource(cls))).body
        assert isinstance(node, ast.ClassDef)  # noqa: S101 - the source of a class
        for pair in pairwise(node.body):
            match pair:
                case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(ast.Constant(str(text))):
                    docs[name] = " ".join(text.split())
    return docs


def schema_of_model(model: type[BaseModel]) -> dict[str, Any]:
    """Return the schema of a model as plain data."""
    result = model.model_json_schema(by_alias=True, schema_generator=DescribedSchema)
    plain: dict[str, Any] = json.loads(json.dumps(result))
    return plain


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
