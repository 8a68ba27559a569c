"""The schema of a model, with the docstrings of its fields as descriptions."""

from __future__ import annotations

import ast
import inspect
import json
import textwrap
from itertools import pairwise
from typing import Any

from pydantic import BaseModel
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
