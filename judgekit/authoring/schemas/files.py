"""The schemas of suites, rubrics, cases and results, from the models that read them."""

from __future__ import annotations

import ast
import builtins
import inspect
import json
import textwrap
from collections.abc import Mapping
from copy import deepcopy
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel, PydanticUserError, TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue

from judgekit.cassette.mode import RecordMode
from judgekit.core.case import Case
from judgekit.core.case_field import CASE_WORDS, TEXT_LISTS
from judgekit.core.score import Row
from judgekit.core.yaml_file import package_data
from judgekit.datasets.field_names import ALIASES
from judgekit.metrics.adapter import class_facts, option_of
from judgekit.metrics.catalogue import BUILTIN
from judgekit.report.folder import VERSION
from judgekit.rubric.library import rubric_names
from judgekit.rubric.testfile import TestedFile
from judgekit.suite.file import FallbackFile, SuiteFile


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
            required.append(option_of(name))
        elif default is not None and default != ():
            option["default"] = default
        options[option_of(name)] = option
    return {"properties": options, "required": required}


class _ModuleNames(dict[str, Any]):
    """The names of a module; names that are only imported for type checkers are `Any`."""

    def __missing__(self, name: str) -> Any:
        return vars(builtins).get(name, Any)


def _schema_of(annotation: Any) -> dict[str, Any]:
    """Return the schema of the values of an option, without types that JSON cannot represent."""
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


def _ref(name: str) -> dict[str, str]:
    return {"$ref": f"#/$defs/{name}"}


def _case_schema(defs: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a case, also with one text instead of several; add parts to `defs`."""
    case = schema_of_model(Case)
    defs.update(case.pop("$defs", {}))
    fields = case["properties"]
    for name in TEXT_LISTS:
        about = fields[name].pop("description", "")
        fields[name] = {"anyOf": [fields[name], {"type": "string"}], "description": about}
    return {**case, "required": []}


def cases_schema() -> dict[str, Any]:
    """Return the schema of a row; unknown keys become metadata."""
    defs: dict[str, Any] = {}
    schema = {"$defs": defs, **_case_schema(defs), "additionalProperties": True}
    fields = schema["properties"]
    for name in CASE_WORDS:
        fields[name]["anyOf"] = [*fields[name]["anyOf"], {"type": "number"}, {"type": "boolean"}]
    for alias, field in ALIASES.items():
        fields[alias] = {**fields[field], "description": f"Another name of `{field}`."}
    return schema


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
        "anyOf": [lines["header"], lines["case"], _ref("Row")],
    }


def rubric_schema() -> dict[str, Any]:
    """Return the schema of the front matter."""
    from judgekit.authoring.lint.lint import lint_rules

    schema = schema_of_model(TestedFile)
    defs = schema["$defs"]
    criterion = defs["CriterionFile"]
    fields = criterion["properties"]
    silenceable = {"enum": [id for id, rule in lint_rules().items() if rule.silenceable]}
    for silences in (schema["properties"]["lint"], fields["lint"]):
        silences["propertyNames"] = silenceable
    _close_criterion(criterion)
    defs["Case"] = _case_schema(defs)
    del defs["Case"]["properties"]["id"]
    for name in ("ExampleFile", "TestFile"):
        # The model allows any mapping; the schema requires a case.
        defs[name]["properties"]["case"] = _ref("Case")
    return schema


def _close_criterion(criterion: dict[str, Any]) -> None:
    """Add to the schema of a criterion what its model checks; for rubrics and suites."""
    fields = criterion["properties"]
    for words in ("levels", "options"):
        for kind in fields[words]["anyOf"]:
            if kind.get("type") == "object":
                kind["minProperties"] = 2
    fields["items"]["uniqueItems"] = True
    fields["weight"]["not"] = {"const": 0}
    fields["details"]["propertyNames"] = {"not": {"enum": ["reason", "value", "quotes", "items"]}}
    valued = {"additionalProperties": {"not": {"type": "null"}, "required": ["value"]}}
    listed = {"anyOf": [_has("items"), _with("kind", {"const": "checklist"})]}
    criterion["allOf"] = [
        _only("levels", "score", "levels"),
        *(_only(key, "score", "levels", "number") for key in ("minimum", "maximum")),
        _only("options", "choice"),
        _only("items", "checklist"),
        {"if": _with("kind", {"const": "choice"}), "then": _has("options")},
        {"if": _with("kind", {"const": "levels"}), "then": _has("levels")},
        {"if": _with("kind", {"const": "number"}), "then": {"not": _has("levels")}},
        {"if": _has("levels"), "then": {"not": _has("minimum")}},
        {"if": _has("levels"), "then": {"properties": {"levels": valued}}},
        {"if": listed, "then": {"properties": {"nullable": {"const": False}}}},
    ]


def _with(key: str, value: dict[str, Any]) -> dict[str, Any]:
    return {"required": [key], "properties": {key: value}}


def _has(key: str) -> dict[str, Any]:
    return _with(key, {"not": {"type": "null"}})


def _only(key: str, kind: str, *also: str) -> dict[str, Any]:
    """Return the schema rule that a key is only allowed for one kind of criterion.

    Args:
        key: the key.
        kind: the kind.
        also: other words for the kind.
    """
    others = {"choice": "options", "checklist": "items"}
    implied = [{"not": _has(other)} for k, other in others.items() if k != kind]
    known = {"enum": [kind, *also]}
    rule = {"if": _has("kind"), "then": {"properties": {"kind": known}}}
    if kind == "score":
        return {"if": _has(key), "then": {**rule, "else": {"allOf": implied}}}
    if key == "items":  # options imply a choice, also beside items; no items imply nothing
        rule["else"] = {"not": _has("options"), "properties": {"items": {"minItems": 1}}}
    return {"if": _has(key), "then": rule}


def suite_schema() -> dict[str, Any]:
    """Return the schema of a suite, with all built-in metrics and rubrics."""
    schema = schema_of_model(SuiteFile)
    defs = schema["$defs"]
    modes = [mode.value for mode in RecordMode]
    schema["properties"]["record"]["anyOf"] = [{"enum": modes}, {"type": "null"}]
    defs["Case"] = {**_case_schema(defs), "additionalProperties": True}
    for kind in schema["properties"]["cases"]["anyOf"]:
        if kind.get("type") == "array":
            kind["items"] = _ref("Case")
    rubrics = [name for name in rubric_names() if name != "base"]
    common = defs.pop("MetricFile")["properties"]
    _close_criterion(defs["CriterionFile"])
    _close_gates(defs["GateFile"])
    common["metric"]["examples"] = list(BUILTIN)
    common["rubric"]["examples"] = rubrics
    computed = [name for name in BUILTIN if not BUILTIN[name].judged]
    judged = [name for name in BUILTIN if name not in computed]
    for use in (defs["FallbackFile"]["properties"]["use"], *_texts(common["fallback"])):
        use |= {"examples": computed, "not": {"enum": judged}}

    rubric = options_schema("judgekit.metrics.rubric", "RubricMetric")
    weights = {"type": ["object", "null"], "additionalProperties": {"type": "number"}}
    combined = {"properties": {"weights": weights}, "required": []}
    for name, builtin in BUILTIN.items():
        options = options_schema(builtin.module, builtin.attribute, preset=builtin.preset)
        gate = _gate_of(name, class_facts(builtin.load()).figures, common["gate"], defs)
        defs[f"metric.{name}"] = _entry({**common, "gate": gate}, options, about=builtin.summary)
        if name in computed:
            rule = _options_of_fallback(name, options)
            defs["FallbackFile"].setdefault("allOf", []).append(rule)
    for name in rubrics:
        if name not in BUILTIN:  # the figures of a rubric depend on its criteria
            defs[f"metric.{name}"] = _entry(common, rubric)
    defs["metric-by-rubric"] = _entry(common, rubric, about="a rubric, answered by a judge")
    defs["metric-of-metrics"] = _entry(common, combined, about="a combination of metrics")
    defs["metric-of-a-kind"] = {
        "type": "object",
        "description": "a metric with its own name",
        "properties": common,
        "allOf": [
            *(_when({"metric": {"const": name}}, f"metric.{name}") for name in BUILTIN),
            _when({"rubric": True}, "metric-by-rubric"),
            _when({"criteria": True}, "metric-by-rubric"),
            _when({"of": True}, "metric-of-metrics"),
            _when({"combine": True}, "metric-of-metrics"),
        ],
    }
    nothing = {"type": "null"}
    kinds = [{"required": [key]} for key in ("metric", "rubric", "combine", "of")]
    of_a_kind, own = {"type": "object", "anyOf": kinds}, _ref("metric-of-a-kind")
    by_name = {
        name: {"if": of_a_kind, "then": own, "else": {"anyOf": [_ref(f"metric.{name}"), nothing]}}
        for name in (*BUILTIN, *rubrics)
    }
    others = {"anyOf": [own, nothing]}
    schema["properties"]["metrics"] |= {"properties": by_name, "additionalProperties": others}
    return schema


def _texts(field: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the kinds of a field that are texts."""
    return [kind for kind in field["anyOf"] if kind.get("type") == "string"]


def _options_of_fallback(name: str, options: dict[str, Any]) -> dict[str, Any]:
    """Return the rule that a fallback has the options of the metric that it uses, and no other."""
    names = list(options["properties"])
    rule: dict[str, Any] = {
        "propertyNames": {"enum": [*FallbackFile.model_fields, *names]},
        "properties": {key: _ref(f"metric.{name}/properties/{key}") for key in names},
    }
    if options["required"]:
        rule["required"] = options["required"]
    return {"if": _with("use", {"const": name}), "then": rule}


def _close_gates(gate: dict[str, Any]) -> None:
    """Forbid null as a bound: a gate without a bound must be omitted."""
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
    kinds = [_ref(own), {"type": "array", "items": _ref(own)}]
    return {"description": common["description"], "anyOf": kinds}


def _when(properties: dict[str, Any], then: str) -> dict[str, Any]:
    return {"if": {"required": list(properties), "properties": properties}, "then": _ref(then)}


def _entry(common: dict[str, Any], options: dict[str, Any], *, about: str = "") -> dict[str, Any]:
    entry = {
        "type": "object",
        "properties": {**options["properties"], **common},
        "required": options["required"],
        "additionalProperties": False,
    }
    return {**entry, "description": about} if about else entry
