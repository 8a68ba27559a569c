"""The schemas of a line of cases, and of a line of results."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from typing import Any

from judgekit.authoring.schemas.model import schema_of_model
from judgekit.core.case import CASE_WORDS, Case
from judgekit.core.score import Row
from judgekit.core.yaml_file import package_data
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
    lines = deepcopy(package_data(Path(__file__).with_name("results.yaml")))
    lines["header"]["properties"]["version"]["const"] = VERSION
    return {
        "$defs": defs,
        "description": "One line of results.jsonl.",
        "anyOf": [lines["header"], lines["case"], {"$ref": "#/$defs/Row"}],
    }
