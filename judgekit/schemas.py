"""JSON Schemas of the files people write and read, so that an editor completes and checks them.

They are derived from the models that read the files. What only a whole project can tell (weights
that add up, a rubric that is not there) is left to the program.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import json
import textwrap
from collections.abc import Callable, Mapping
from importlib import import_module
from types import MappingProxyType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel, PydanticUserError, TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue

from judgekit.case import Case
from judgekit.cassette.mode import RecordMode
from judgekit.catalogue import BUILTIN
from judgekit.datasets.names import ALIASES
from judgekit.errors import ConfigError
from judgekit.filemodel import near
from judgekit.metrics.voice.personafile import PersonaFile
from judgekit.report.folder import VERSION
from judgekit.rubric.shelf import rubric_names
from judgekit.rubric.testfile import TestedFile
from judgekit.score import Row
from judgekit.suitefile import SuiteFile

Kind = Literal["suite", "rubric", "cases", "results", "persona"]
KINDS: tuple[Kind, ...] = get_args(Kind)

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_NEEDED = "needed"
"""Marks an option without a default."""
_NOT_OPTIONS = {"name", "judge", "rubric", "of", "combine", "response_model", "value"}
"""Parameters of metrics that a suite says in another way, or that only Python can give."""


def schema(kind: str) -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of a kind of file.

    Of `cases` and `results`, files of JSON Lines, it is the schema of one line.

    Raises:
        ConfigError: there is no such kind.
    """
    if kind not in KINDS:
        raise ConfigError(f"no schema of {kind!r}{near(kind, list(KINDS))}")
    made = _MAKERS[kind]()
    head = {"$schema": _DIALECT, "$id": f"urn:judgekit:schema:{kind}:1", "title": _TITLES[kind]}
    return {**head, **{key: value for key, value in made.items() if key not in head}}


def schema_text(kind: str) -> str:
    """Return a schema as people keep it in a file.

    Raises:
        ConfigError: there is no such kind.
    """
    return json.dumps(schema(kind), ensure_ascii=False, indent=1) + "\n"


# -- models to schemas ------------------------------------------------------------


class _Described(GenerateJsonSchema):
    """Leaves titles out, and takes what stands under a field as its description."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

    def model_schema(self, schema: Any) -> JsonSchemaValue:
        made = super().model_schema(schema)
        made.pop("title", None)
        model: type[BaseModel] = schema["cls"]
        docs = _docs_of(model)
        for name, field in model.model_fields.items():
            entry = made["properties"].get(field.alias or name)
            if isinstance(entry, dict):
                if name in docs:
                    entry.setdefault("description", docs[name])
                if entry.get("default", ...) is None:
                    del entry["default"]
        return made


def _docs_of(model: type[BaseModel]) -> dict[str, str]:
    """Return the text literals that stand under the fields of a class, each in one line."""
    docs: dict[str, str] = {}
    for cls in reversed(model.__mro__):
        if not issubclass(cls, BaseModel) or not cls.__module__.startswith("judgekit"):
            continue
        (node,) = ast.parse(textwrap.dedent(inspect.getsource(cls))).body
        assert isinstance(node, ast.ClassDef)  # noqa: S101 - the source of a class
        for field, text in zip(node.body, node.body[1:], strict=False):
            if (
                isinstance(field, ast.AnnAssign)
                and isinstance(field.target, ast.Name)
                and isinstance(text, ast.Expr)
                and isinstance(text.value, ast.Constant)
                and isinstance(text.value.value, str)
            ):
                docs[field.target.id] = " ".join(text.value.value.split())
    return docs


def _of(model: type[BaseModel]) -> dict[str, Any]:
    made = model.model_json_schema(by_alias=True, schema_generator=_Described)
    plain: dict[str, Any] = json.loads(json.dumps(made))
    return plain


# -- the suite --------------------------------------------------------------------


def _suite() -> dict[str, Any]:
    made = _of(SuiteFile)
    defs = made["$defs"]
    made["properties"]["record"] = {
        **made["properties"]["record"],
        "anyOf": [{"enum": [mode.value for mode in RecordMode]}, {"type": "null"}],
    }
    names = [name for name in (*BUILTIN, *rubric_names()) if name != "base"]
    entry = defs.pop("MetricFile")
    common = entry["properties"]
    _close_gates(defs["GateFile"])
    common["metric"]["examples"] = list(BUILTIN)
    common["rubric"]["examples"] = [n for n in rubric_names() if n != "base"]
    computed = [name for name in BUILTIN if not BUILTIN[name].judged]
    use = defs["FallbackFile"]["properties"]["use"]
    use["examples"] = computed

    rubric = _options("judgekit.metrics.rubric", "RubricMetric")
    combined = {"weights": {"type": ["object", "null"], "additionalProperties": {"type": "number"}}}
    for name in names:
        builtin = BUILTIN.get(name)
        options = rubric
        figures: Any = None  # a rubric's depend on what it asks for
        if builtin is not None:
            options = _options(builtin.module, builtin.attribute, preset=builtin.preset)
            made_by = getattr(import_module(builtin.module), builtin.attribute)
            figures = getattr(made_by, "figures", None) or {}
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
    """Let no null stand where a bound does: a gate without a bound is left out."""
    for entry in gate["properties"].values():
        if isinstance(entry.get("anyOf"), list):
            entry["anyOf"] = [kind for kind in entry["anyOf"] if kind != {"type": "null"}]


def _gate_of(
    name: str, figures: Any, common: dict[str, Any], defs: dict[str, Any]
) -> dict[str, Any]:
    """Return the schema of a metric's gates: the figures everyone has, and its own."""
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
        name: {key: value for key, value in option.items() if key != _NEEDED}
        for name, option in options.items()
    }
    entry = {
        "type": "object",
        "properties": {**plain, **common},
        "required": [name for name, option in options.items() if _NEEDED in option],
        "additionalProperties": False,
    }
    return {**entry, "description": about} if about else entry


def _options(
    module: str, attribute: str, *, preset: Mapping[str, Any] = MappingProxyType({})
) -> dict[str, Any]:
    """Return the options a metric takes in a suite, with their types and defaults."""
    made = getattr(import_module(module), attribute)
    written = import_module(made.__init__.__module__)  # that of a base, where that has the options
    hints = get_type_hints(made.__init__, localns=_Names(vars(written)))
    options: dict[str, Any] = {}
    for name, parameter in inspect.signature(made).parameters.items():
        if name in _NOT_OPTIONS:
            continue
        option = _schema_of(hints.get(name, Any))
        default = preset.get(name, parameter.default)
        if default is parameter.empty:
            option[_NEEDED] = True
        elif default is not None and default != ():
            option["default"] = default
        options[name] = option
    return options


class _Names(dict[str, Any]):
    """The names of a module; what it imports for type checkers only is anything at all."""

    def __missing__(self, name: str) -> Any:
        return getattr(builtins, name, Any)


def _schema_of(annotation: Any) -> dict[str, Any]:
    """Return the schema of what an option may be; what has none in JSON is left out."""
    if get_origin(annotation) in (Union, UnionType):
        kinds = [found for part in get_args(annotation) if (found := _schema_of(part))]
        return kinds[0] if len(kinds) == 1 else {"anyOf": kinds}
    if annotation == tuple[str, ...]:
        return {"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "string"}]}
    if annotation is Any:
        return {}
    try:
        return TypeAdapter(annotation).json_schema(schema_generator=_Described)
    except PydanticUserError:
        return {}


# -- the others -------------------------------------------------------------------


def _rubric() -> dict[str, Any]:
    made = _of(TestedFile)
    defs = made["$defs"]
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
        {"if": _said("kind", {"const": "choice"}), "then": _given("options")},
        {"if": _given("levels"), "then": {"not": _given("minimum")}},
        {"if": _given("levels"), "then": {"properties": {"levels": _EVERY_LEVEL_HAS_A_VALUE}}},
        {
            "if": {"anyOf": [_given("items"), _said("kind", {"const": "checklist"})]},
            "then": {"properties": {"nullable": {"const": False}}},
        },
    ]
    case = _of(Case)
    defs.update(case.pop("$defs", {}))
    del case["properties"]["id"]
    defs["Case"] = _loosely_listed({**case, "required": []})
    for name in ("ExampleFile", "TestFile"):
        # Any mapping of texts to anything so far: what it holds is a case.
        entry = defs.get(name, {}).get("properties", {}).get("case")
        if entry is not None:
            defs[name]["properties"]["case"] = {"$ref": "#/$defs/Case"}
    return made


_EVERY_LEVEL_HAS_A_VALUE = {
    "additionalProperties": {"not": {"type": "null"}, "required": ["value"]},
}


def _said(key: str, value: dict[str, Any]) -> dict[str, Any]:
    return {"required": [key], "properties": {key: value}}


def _given(key: str) -> dict[str, Any]:
    return _said(key, {"not": {"type": "null"}})


def _only(key: str, kind: str) -> dict[str, Any]:
    """Say that a key belongs to one kind of criterion."""
    others = {"choice": "options", "checklist": "items"}
    implied = [{"not": _given(other)} for k, other in others.items() if k != kind]
    said = {"if": _given("kind"), "then": {"properties": {"kind": {"const": kind}}}}
    if kind == "score":
        return {"if": _given(key), "then": {**said, "else": {"allOf": implied}}}
    return {"if": _given(key), "then": said}


def _loosely_listed(case: dict[str, Any]) -> dict[str, Any]:
    """Let one text stand where a case has several."""
    fields = case["properties"]
    for name in ("reference", "context", "choices"):
        about = fields[name].pop("description", "")
        fields[name] = {"anyOf": [fields[name], {"type": "string"}], "description": about}
    return case


def _cases() -> dict[str, Any]:
    """Return the schema of a row; keys it does not know are kept as metadata."""
    made = _loosely_listed(_of(Case))
    fields = made["properties"]
    for alias, field in ALIASES.items():
        fields[alias] = {**fields[field], "description": f"Another name of `{field}`."}
    return {**made, "required": [], "additionalProperties": True}


def _results() -> dict[str, Any]:
    row, case = _of(Row), _of(Case)
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


_MAKERS: dict[str, Callable[[], dict[str, Any]]] = {
    "suite": _suite,
    "rubric": _rubric,
    "cases": _cases,
    "results": _results,
    "persona": lambda: _of(PersonaFile),
}
_TITLES = {
    "suite": "A judgekit suite",
    "rubric": "The front matter of a judgekit rubric",
    "cases": "A line of a judgekit file of cases",
    "results": "A line of the results of judgekit run --out",
    "persona": "A judgekit persona",
}

__all__ = ["KINDS", "Kind", "schema", "schema_text"]
