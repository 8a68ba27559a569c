"""The schema of a rubric's front matter."""

from __future__ import annotations

from typing import Any

from judgekit.authoring.schemas.cases import loosely_listed
from judgekit.authoring.schemas.model import schema_of_model
from judgekit.core.case import Case
from judgekit.rubric.testfile import TestedFile


def rubric_schema() -> dict[str, Any]:
    """Return the schema of the front matter."""
    schema = schema_of_model(TestedFile)
    defs = schema["$defs"]
    criterion = defs["CriterionFile"]
    fields = criterion["properties"]
    for words in ("levels", "options"):
        for kind in fields[words]["anyOf"]:
            if kind.get("type") == "object":
                kind["minProperties"] = 2
    fields["items"]["uniqueItems"] = True
    fields["weight"]["not"] = {"const": 0}
    fields["details"]["propertyNames"] = {"not": {"enum": ["reason", "value", "quotes", "items"]}}
    criterion["allOf"] = [
        *(_only(key, "score") for key in ("levels", "minimum", "maximum")),
        _only("options", "choice"),
        _only("items", "checklist"),
        {"if": _with("kind", {"const": "choice"}), "then": _has("options")},
        {"if": _has("levels"), "then": {"not": _has("minimum")}},
        {"if": _has("levels"), "then": {"properties": {"levels": _EVERY_LEVEL_HAS_A_VALUE}}},
        {
            "if": {"anyOf": [_has("items"), _with("kind", {"const": "checklist"})]},
            "then": {"properties": {"nullable": {"const": False}}},
        },
    ]
    case = schema_of_model(Case)
    defs.update(case.pop("$defs", {}))
    del case["properties"]["id"]
    defs["Case"] = loosely_listed({**case, "required": []})
    for name in ("ExampleFile", "TestFile"):
        # The model allows any mapping; its content is a case.
        defs[name]["properties"]["case"] = {"$ref": "#/$defs/Case"}
    return schema


_EVERY_LEVEL_HAS_A_VALUE = {
    "additionalProperties": {"not": {"type": "null"}, "required": ["value"]},
}


def _with(key: str, value: dict[str, Any]) -> dict[str, Any]:
    return {"required": [key], "properties": {key: value}}


def _has(key: str) -> dict[str, Any]:
    return _with(key, {"not": {"type": "null"}})


def _only(key: str, kind: str) -> dict[str, Any]:
    """Return the rule that a key belongs to one kind of criterion."""
    others = {"choice": "options", "checklist": "items"}
    implied = [{"not": _has(other)} for k, other in others.items() if k != kind]
    rule = {"if": _has("kind"), "then": {"properties": {"kind": {"const": kind}}}}
    if kind == "score":
        return {"if": _has(key), "then": {**rule, "else": {"allOf": implied}}}
    return {"if": _has(key), "then": rule}
