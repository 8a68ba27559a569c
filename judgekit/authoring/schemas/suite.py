"""The schema of a suite: metrics with their options, and gates with their figures."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from judgekit.authoring.schemas.cases import loosely_listed
from judgekit.authoring.schemas.model import schema_of_model
from judgekit.authoring.schemas.options import NEEDED, options_schema
from judgekit.cassette.mode import RecordMode
from judgekit.core.case import Case
from judgekit.metrics.adapter import class_facts
from judgekit.metrics.catalogue import BUILTIN
from judgekit.rubric.library import rubric_names
from judgekit.suite.file import SuiteFile


def suite_schema() -> dict[str, Any]:
    """Return the schema of a suite, with all built-in metrics and rubrics."""
    made = schema_of_model(SuiteFile)
    defs = made["$defs"]
    made["properties"]["record"] = {
        **made["properties"]["record"],
        "anyOf": [{"enum": [mode.value for mode in RecordMode]}, {"type": "null"}],
    }
    case = loosely_listed(schema_of_model(Case))
    defs.update(case.pop("$defs", {}))
    defs["Case"] = {**case, "required": [], "additionalProperties": True}
    for kind in made["properties"]["cases"]["anyOf"]:
        if kind.get("type") == "array":
            kind["items"] = {"$ref": "#/$defs/Case"}
    names = [name for name in (*BUILTIN, *rubric_names()) if name != "base"]
    entry = defs.pop("MetricFile")
    common = entry["properties"]
    _close_gates(defs["GateFile"])
    common["metric"]["examples"] = list(BUILTIN)
    common["rubric"]["examples"] = [n for n in rubric_names() if n != "base"]
    computed = [name for name in BUILTIN if not BUILTIN[name].judged]
    use = defs["FallbackFile"]["properties"]["use"]
    use["examples"] = computed

    rubric = options_schema("judgekit.metrics.rubric", "RubricMetric")
    combined = {"weights": {"type": ["object", "null"], "additionalProperties": {"type": "number"}}}
    for name in names:
        builtin = BUILTIN.get(name)
        options = rubric
        figures: Any = None  # a rubric's depend on what it asks for
        if builtin is not None:
            options = options_schema(builtin.module, builtin.attribute, preset=builtin.preset)
            made_by = getattr(import_module(builtin.module), builtin.attribute)
            figures = class_facts(made_by).figures
        gate = _gate_of(name, figures, common["gate"], defs)
        defs[f"metric.{name}"] = _entry(
            {**common, "gate": gate},
            options,
            about=builtin and builtin.summary,
        )
    defs["metric-by-rubric"] = _entry(common, rubric, about="a rubric, answered by a judge")
    defs["metric-of-metrics"] = _entry(common, combined, about="several metrics taken together")
    defs["metric-of-a-kind"] = {
        "type": "object",
        "description": "a metric under a name of its own",
        "properties": common,
        "allOf": [
            *(
                _when({"metric": {"const": name}}, f"metric.{name}")
                for name in BUILTIN
            ),
            _when({"rubric": True}, "metric-by-rubric"),
            _when({"of": True}, "metric-of-metrics"),
            _when({"combine": True}, "metric-of-metrics"),
        ],
    }  # fmt: skip
    nothing = {"type": "null"}
    kinds = [{"required": [key]} for key in ("metric", "rubric", "combine", "of")]
    own = {"$ref": "#/$defs/metric-of-a-kind"}
    made["properties"]["metrics"] = {
        **made["properties"]["metrics"],
        "properties": {
            name: {
                "if": {"type": "object", "anyOf": kinds},
                "then": own,
                "else": {"anyOf": [{"$ref": f"#/$defs/metric.{name}"}, nothing]},
            }
            for name in names
        },
        "additionalProperties": {"anyOf": [own, nothing]},
    }
    return made


def _close_gates(gate: dict[str, Any]) -> None:
    """Forbid null as a bound: a gate without a bound is left out."""
    for entry in gate["properties"].values():
        if isinstance(entry.get("anyOf"), list):
            entry["anyOf"] = [kind for kind in entry["anyOf"] if kind != {"type": "null"}]


def _gate_of(
    name: str, figures: Any, common: dict[str, Any], defs: dict[str, Any]
) -> dict[str, Any]:
    """Return the schema of the gates of a metric: the common figures, and its own."""
    if not _told(figures):
        return common
    own = f"gate.{name}" if figures else "gate"
    made = defs["GateFile"]
    number = made["additionalProperties"]
    defs[own] = {
        **made,
        "properties": {**made["properties"], **dict.fromkeys(figures, number)},
        "additionalProperties": False,
    }
    one = {"$ref": f"#/$defs/{own}"}
    several = {"type": "array", "items": one}
    return {"description": common["description"], "anyOf": [one, several]}


def _told(figures: Any) -> bool:
    """Return whether a class says which figures it makes; for some, that depends on options."""
    return isinstance(figures, Mapping)


def _when(said: dict[str, Any], then: str) -> dict[str, Any]:
    return {
        "if": {"required": list(said), "properties": said},
        "then": {"$ref": f"#/$defs/{then}"},
    }


def _entry(common: dict[str, Any], options: dict[str, Any], *, about: str | None) -> dict[str, Any]:
    plain = {
        name: {key: value for key, value in option.items() if key != NEEDED}
        for name, option in options.items()
    }
    entry = {
        "type": "object",
        "properties": {**plain, **common},
        "required": [name for name, option in options.items() if NEEDED in option],
        "additionalProperties": False,
    }
    return {**entry, "description": about} if about else entry
