"""The schemas of suites, rubrics, cases and results, from the models that read them."""

from __future__ import annotations

import ast
import builtins
import inspect
import json
import textwrap
from collections.abc import Mapping, Sequence
from copy import deepcopy
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel, PydanticUserError, TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue

from judgekit.authoring.schemas.rules import (
    close_criterion,
    close_gates,
    close_judges,
    close_parameter,
    close_redaction,
    close_tests,
    embedder_schema,
    entry_rules,
    has,
    kind_rules,
    suite_rules,
    with_key,
)
from judgekit.cassette.mode import RecordMode
from judgekit.core.case import Case
from judgekit.core.case_field import CASE_WORDS, TEXT_LISTS
from judgekit.core.score import Row
from judgekit.core.yaml_file import package_data
from judgekit.datasets.field_names import ALIASES
from judgekit.metrics.adapter import class_facts, option_of
from judgekit.metrics.catalogue import BUILTIN, PAIRWISE
from judgekit.metrics.registry import find
from judgekit.report.folder import VERSION
from judgekit.rubric.library import rubric_names
from judgekit.rubric.testfile import TestedFile
from judgekit.suite.file import FallbackFile, SuiteFile
from judgekit.suite.plan import SUBJECTS


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
        kinds = [fields[name], {"type": "string"}, {"type": "null"}]
        fields[name] = {"anyOf": kinds, "description": about}
    return {**case, "required": []}


def _row_schema(defs: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a row of cases; add its parts to `defs`.

    Rows of other tools have their own keys, so every key is allowed.
    """
    case = _case_schema(defs)
    fields = case["properties"]
    for name, field in fields.items():
        kinds: list[dict[str, Any]] = [{"type": "null"}]
        if name in CASE_WORDS:
            kinds += [{"type": "number"}, {"type": "boolean"}]
        if name in ("input", "output"):  # messages, or JSON
            kinds += [{"type": "array"}, {"type": "object"}]
        if name == "id":
            kinds.append({"type": "integer"})
        about = field.pop("description", "")
        fields[name] = {"anyOf": [*field.get("anyOf", [field]), *kinds], "description": about}
    for alias, name in ALIASES.items():
        fields[alias] = {**fields[name], "description": f"Another name of `{name}`."}
    return {**case, "additionalProperties": True}


def cases_schema() -> dict[str, Any]:
    """Return the schema of a row."""
    defs: dict[str, Any] = {}
    return {"$defs": defs, **_row_schema(defs)}


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
    close_criterion(criterion)
    close_parameter(defs["ParameterFile"])
    schema["properties"]["parameters"]["propertyNames"] = {"pattern": "^[A-Za-z][A-Za-z0-9_]*$"}
    close_tests(defs)
    defs["Case"] = _case_schema(defs)
    for name in ("ExampleFile", "TestFile"):
        # The model allows any mapping; the schema requires a case.
        defs[name]["properties"]["case"] = _ref("Case")
    return schema


def suite_schema() -> dict[str, Any]:
    """Return the schema of a suite, with all built-in metrics and rubrics."""
    schema = schema_of_model(SuiteFile)
    defs = schema["$defs"]
    modes = [mode.value for mode in RecordMode]
    schema["properties"]["record"]["anyOf"] = [{"enum": modes}, {"type": "null"}]
    defs["Case"] = _row_schema(defs)
    for kind in schema["properties"]["cases"]["anyOf"]:
        if kind.get("type") == "array":
            kind["items"] = _ref("Case")
    rubrics = [name for name in rubric_names() if name != "base"]
    common = defs.pop("MetricFile")["properties"]
    close_criterion(defs["CriterionFile"])
    close_gates(defs["GateFile"])
    close_redaction(schema)
    close_judges(schema)
    defs["embedder"] = embedder_schema(_ref("JudgeFile"))
    schema["properties"]["embedder"]["anyOf"] = [_ref("embedder"), {"type": "null"}]
    common["jury"]["oneOf"][0]["anyOf"][0]["uniqueItems"] = True
    common["metric"]["examples"] = list(BUILTIN)
    common["rubric"]["examples"] = rubrics
    computed = [name for name in BUILTIN if not BUILTIN[name].judged]
    judged = [name for name in BUILTIN if name not in computed]
    for use in (defs["FallbackFile"]["properties"]["use"], *_texts(common["fallback"])):
        use |= {"examples": computed, "not": {"enum": judged}}

    _add_kinds(defs, common, rubrics=rubrics, computed=computed)
    nothing = {"type": "null"}
    kinds = [has(key) for key in (*SUBJECTS, "combine", "of")]
    of_a_kind, own = {"type": "object", "anyOf": kinds}, _ref("metric-of-a-kind")
    by_name = {
        name: {"if": of_a_kind, "then": own, "else": {"anyOf": [_ref(f"metric.{name}"), nothing]}}
        for name in (*BUILTIN, *rubrics)
    }
    others = {"anyOf": [own, nothing]}
    defs["entry"] = entry_rules()
    schema["properties"]["metrics"] |= {
        "properties": by_name,
        "additionalProperties": others,
        "allOf": [{"additionalProperties": _ref("entry")}],
    }
    schema["allOf"] = suite_rules()
    return schema


def _add_kinds(
    defs: dict[str, Any],
    common: dict[str, Any],
    *,
    rubrics: Sequence[str],
    computed: Sequence[str],
) -> None:
    """Add the schemas of metrics to the definitions.

    Args:
        defs: the definitions of the suite.
        common: the settings of every metric.
        rubrics: the built-in rubrics.
        computed: the built-in metrics that need no judge.
    """
    rubric = options_schema("judgekit.metrics.rubric", "RubricMetric")
    number = {"type": "number", "minimum": 0}
    kinds = ["object", "array", "null"]
    weights = {"type": kinds, "additionalProperties": number, "items": number}
    combined = {"properties": {"weights": weights}, "required": []}
    judged = [name for name in BUILTIN if name not in computed]
    by_rubric = kind_rules(judged=True, asks="verdict", pairwise=False)
    for name, builtin in BUILTIN.items():
        options = options_schema(builtin.module, builtin.attribute, preset=builtin.preset)
        if (embedder := options["properties"].get("embedder")) is not None:
            embedder |= _ref("embedder")
        gate = _gate_of(name, class_facts(builtin.load()).figures, common["gate"], defs)
        maker = find(name)
        if maker.judged and "mode" in options["properties"]:
            options["properties"]["mode"]["enum"].append(None)
            del options["properties"]["mode"]["type"]
        if maker.asks == "verdict" and not maker.takes("samples"):
            options["properties"]["samples"] = rubric["properties"]["samples"]
        entry = _entry({**common, "gate": gate}, options, about=builtin.summary)
        pairwise = maker.takes("opponent")
        kind = kind_rules(judged=maker.judged, asks=maker.asks, pairwise=pairwise)
        defs[f"metric.{name}"] = {**entry, "allOf": [kind]}
        if name in computed:
            rule = _options_of_fallback(name, options)
            defs["FallbackFile"].setdefault("allOf", []).append(rule)
    for name in rubrics:
        if name not in BUILTIN:  # the figures of a rubric depend on its criteria
            defs[f"metric.{name}"] = {**_entry(common, rubric), "allOf": [by_rubric]}
    entry = _entry(common, rubric, about="a rubric, answered by a judge")
    defs["metric-by-rubric"] = {**entry, "allOf": [by_rubric]}
    defs["metric-of-metrics"] = _entry(common, combined, about="a combination of metrics")
    defs["metric-of-a-kind"] = {
        "type": "object",
        "description": "a metric with its own name",
        "properties": common,
        "allOf": [
            *(_when("metric", f"metric.{name}", named=name) for name in BUILTIN),
            *(_when("rubric", f"metric.{name}", named=name) for name in judged),
            _when("rubric", "metric-by-rubric", unlike=judged),
            _when("criteria", "metric-by-rubric"),
            _when("pairwise", f"metric.{PAIRWISE}"),
            _when("of", "metric-of-metrics"),
            _when("combine", "metric-of-metrics"),
        ],
    }


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
    return {"if": with_key("use", {"const": name}), "then": rule}


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


def _when(
    key: str, then: str, *, named: str | None = None, unlike: Sequence[str] = ()
) -> dict[str, Any]:
    """Return the rule that an entry with a key has the keys of a kind of metric.

    Args:
        key: the key.
        then: the name of the kind's definition.
        named: only if the value is this name, also with a version.
        unlike: only if the value is none of these names.
    """
    if named is not None:
        return {"if": with_key(key, {"pattern": f"^{named}(@|$)"}), "then": _ref(then)}
    value = has(key)
    if unlike:
        others = {"pattern": f"^({'|'.join(unlike)})(@|$)"}
        value["properties"][key]["not"] = {"anyOf": [{"type": "null"}, others]}
    return {"if": value, "then": _ref(then)}


def _entry(common: dict[str, Any], options: dict[str, Any], *, about: str = "") -> dict[str, Any]:
    entry = {
        "type": "object",
        "properties": {**options["properties"], **common},
        "required": options["required"],
        "additionalProperties": False,
    }
    return {**entry, "description": about} if about else entry
