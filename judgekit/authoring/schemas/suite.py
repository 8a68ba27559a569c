"""The schema of a suite: metrics with their options, and gates with their figures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from judgekit.authoring.schemas.cases import loosely_listed
from judgekit.authoring.schemas.model import schema_of_model
from judgekit.authoring.schemas.options import options_schema
from judgekit.cassette.mode import RecordMode
from judgekit.core.case import Case
from judgekit.metrics.adapter import class_facts
from judgekit.metrics.catalogue import BUILTIN
from judgekit.rubric.library import rubric_names
from judgekit.suite.file import SuiteFile


def suite_schema() -> dict[str, Any]:
    """Return the schema of a suite, with all built-in metrics and rubrics."""
    schema = schema_of_model(SuiteFile)
    defs = schema["$defs"]
    modes = [mode.value for mode in RecordMode]
    schema["properties"]["record"]["anyOf"] = [{"enum": modes}, {"type": "null"}]
    case = loosely_listed(schema_of_model(Case))
    defs.update(case.pop("$defs", {}))
    defs["Case"] = {**case, "required": [], "additionalProperties": True}
    for kind in schema["properties"]["cases"]["anyOf"]:
        if kind.get("type") == "array":
            kind["items"] = {"$ref": "#/$defs/Case"}
    names = [name for name in (*BUILTIN, *rubric_names()) if name != "base"]
    entry = defs.pop("MetricFile")
    common = entry["properties"]
    _close_gates(defs["GateFile"])
    common["metric"]["examples"] = list(BUILTIN)
    common["rubric"]["examples"] = [n for n in rubric_names() if n != "base"]
    computed = [name for name in BUILTIN if not BUILTIN[name].judged]
    defs["FallbackFile"]["properties"]["use"]["examples"] = computed

    rubric = options_schema("judgekit.metrics.rubric", "RubricMetric")
    weights = {"type": ["object", "null"], "additionalProperties": {"type": "number"}}
    combined = {"properties": {"weights": weights}, "required": []}
    for name in names:
        if (builtin := BUILTIN.get(name)) is None:  # the figures of a rubric depend on its criteria
            defs[f"metric.{name}"] = _entry(common, rubric, about=None)
            continue
        options = options_schema(builtin.module, builtin.attribute, preset=builtin.preset)
        gate = _gate_of(name, class_facts(builtin.load()).figures, common["gate"], defs)
        defs[f"metric.{name}"] = _entry({**common, "gate": gate}, options, about=builtin.summary)
    defs["metric-by-rubric"] = _entry(common, rubric, about="a rubric, answered by a judge")
    defs["metric-of-metrics"] = _entry(common, combined, about="a combination of metrics")
    defs["metric-of-a-kind"] = {
        "type": "object",
        "description": "a metric with its own name",
        "properties": common,
        "allOf": [
            *(_when({"metric": {"const": name}}, f"metric.{name}") for name in BUILTIN),
            _when({"rubric": True}, "metric-by-rubric"),
            _when({"of": True}, "metric-of-metrics"),
            _when({"combine": True}, "metric-of-metrics"),
        ],
    }
    nothing = {"type": "null"}
    kinds = [{"required": [key]} for key in ("metric", "rubric", "combine", "of")]
    own = {"$ref": "#/$defs/metric-of-a-kind"}
    by_name = {
        name: {
            "if": {"type": "object", "anyOf": kinds},
            "then": own,
            "else": {"anyOf": [{"$ref": f"#/$defs/metric.{name}"}, nothing]},
        }
        for name in names
    }
    others = {"anyOf": [own, nothing]}
    schema["properties"]["metrics"] |= {"properties": by_name, "additionalProperties": others}
    return schema


def _close_gates(gate: dict[str, Any]) -> None:
    """Forbid null as a bound: a gate without a bound is left out."""
    for entry in gate["properties"].values():
        if isinstance(entry.get("anyOf"), list):
            entry["anyOf"] = [kind for kind in entry["anyOf"] if kind != {"type": "null"}]


def _gate_of(
    name: str, figures: Any, common: dict[str, Any], defs: dict[str, Any]
) -> dict[str, Any]:
    """Return the schema of the gates of a metric: the common figures, and its own."""
    if not isinstance(figures, Mapping):  # the figures depend on the options
        return common
    own = f"gate.{name}" if figures else "gate"
    gate = defs["GateFile"]
    number = gate["additionalProperties"]
    defs[own] = {
        **gate,
        "properties": {**gate["properties"], **dict.fromkeys(figures, number)},
        "additionalProperties": False,
    }
    one = {"$ref": f"#/$defs/{own}"}
    several = {"type": "array", "items": one}
    return {"description": common["description"], "anyOf": [one, several]}


def _when(properties: dict[str, Any], then: str) -> dict[str, Any]:
    return {
        "if": {"required": list(properties), "properties": properties},
        "then": {"$ref": f"#/$defs/{then}"},
    }


def _entry(common: dict[str, Any], options: dict[str, Any], *, about: str | None) -> dict[str, Any]:
    entry = {
        "type": "object",
        "properties": {**options["properties"], **common},
        "required": options["required"],
        "additionalProperties": False,
    }
    return {**entry, "description": about} if about else entry
