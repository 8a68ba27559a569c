"""The schemas of a line of cases, and of a line of results."""

from __future__ import annotations

from typing import Any

from judgekit.authoring.schemas.model import schema_of_model
from judgekit.core.case import CASE_WORDS, Case
from judgekit.core.score import Row
from judgekit.datasets.field_names import ALIASES
from judgekit.report.folder import VERSION


def loosely_listed(case: dict[str, Any]) -> dict[str, Any]:
    """Accept one text where a case has several."""
    fields = case["properties"]
    for name in ("reference", "context", "choices"):
        about = fields[name].pop("description", "")
        fields[name] = {"anyOf": [fields[name], {"type": "string"}], "description": about}
    return case


def cases_schema() -> dict[str, Any]:
    """Return the schema of a row; unknown keys become metadata."""
    schema = loosely_listed(schema_of_model(Case))
    fields = schema["properties"]
    for name in CASE_WORDS:
        fields[name]["anyOf"] = [*fields[name]["anyOf"], {"type": "number"}, {"type": "boolean"}]
    for alias, field in ALIASES.items():
        fields[alias] = {**fields[field], "description": f"Another name of `{field}`."}
    return {**schema, "required": [], "additionalProperties": True}


def results_schema() -> dict[str, Any]:
    """Return the schema of a line of results.jsonl."""
    row, case = schema_of_model(Row), schema_of_model(Case)
    defs = {**row.pop("$defs"), **case.pop("$defs", {}), "Row": row, "Case": case}
    row["properties"]["result"].pop("discriminator", None)
    for name in ("Score", "Failure"):
        defs[name]["required"] = ["type", *defs[name].get("required", ())]
    header = {
        "type": "object",
        "properties": {
            "judgekit": {"const": "results"},
            "manifest": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
            "version": {"const": VERSION},
        },
        "required": ["judgekit", "manifest", "version"],
        "additionalProperties": False,
        "description": "The first line.",
    }
    subject = {
        "type": "object",
        "properties": {"type": {"const": "case"}, "case": {"$ref": "#/$defs/Case"}},
        "required": ["type", "case"],
        "additionalProperties": False,
        "description": "A case; the lines below it are its results.",
    }
    return {
        "$defs": defs,
        "description": "One line of results.jsonl.",
        "anyOf": [header, subject, {"$ref": "#/$defs/Row"}],
    }
