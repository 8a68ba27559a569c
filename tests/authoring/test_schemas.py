"""The schemas say yes to what the program takes, and no to what they can know to be wrong."""

from __future__ import annotations

import inspect
import json
import re
from functools import cache
from importlib import import_module
from pathlib import Path
from random import Random
from typing import ClassVar

import pytest
from jsonschema import Draft202012Validator
from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema

from judgekit.authoring.schemas import KINDS, schema, schema_text, small_schema_text
from judgekit.core.errors import ConfigError
from judgekit.core.file_model import FileModel
from judgekit.core.yaml_file import parse_yaml
from judgekit.metrics.adapter import option_of
from judgekit.metrics.catalogue import BUILTIN
from judgekit.rubric.file import RubricFile
from judgekit.rubric.folders import split_front_matter
from judgekit.rubric.testfile import TestedFile
from judgekit.suite.file import SuiteFile
from judgekit.suite.run import run_suite
from judgekit.suite.suite import load_suite
from tests.authoring.drawn_files import DRAWN, disagreements
from tests.each import each

ROOT = Path(__file__).parents[2]
SUITES = sorted((ROOT / "examples").rglob("suite*.yaml"))
RUBRICS = sorted(p for f in ("rubrics", "examples") for p in (ROOT / f).rglob("[!_]*.jinja"))
WRONG_RUBRICS = re.findall(
    r"^##### (.+)\n---\n((?s:.*?))\n---((?s:.*?))\n##> (\d+): (.+)$",
    (ROOT / "tests" / "data" / "wrong_rubrics.txt").read_text("utf-8"),
    re.M,
)


@cache
def validator(kind):
    return Draft202012Validator(schema(kind))


@cache
def small(kind):
    """Return the validator of a project, which must say the same."""
    return Draft202012Validator(json.loads(small_schema_text(kind)))


def faults(kind, data):
    found = [error.message for error in validator(kind).iter_errors(data)]
    assert small(kind).is_valid(data) is (found == [])
    return found


def read(text):
    return parse_yaml(text, file="here.yaml")[0]


def suite_with(**metrics):
    return {"cases": "c.jsonl", "metrics": metrics}


def distinct(part, seen):
    """Return a schema in which each part that repeats another one is `True`."""
    if not isinstance(part, dict) or (text := json.dumps(part)) in seen:
        return True if isinstance(part, dict) else part
    seen.add(text)
    kept = dict(part)
    for key in ("properties", "$defs", "patternProperties"):
        if isinstance(inner := part.get(key), dict):
            kept[key] = {name: distinct(value, seen) for name, value in inner.items()}
    for key in ("anyOf", "oneOf", "allOf", "prefixItems"):
        if isinstance(inner := part.get(key), list):
            kept[key] = [distinct(value, seen) for value in inner]
    for key in ("items", "additionalProperties"):
        if key in part:
            kept[key] = distinct(part[key], seen)
    return kept


@pytest.mark.parametrize("kind", KINDS)
def test_a_schema_is_a_schema_named_without_a_host(kind):
    made = validator(kind).schema

    Draft202012Validator.check_schema(distinct(made, set()))
    assert made["$id"] == f"urn:judgekit:schema:{kind}:1"
    assert made["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert json.loads(schema_text(kind)) == made
    assert "://" not in json.dumps(made).replace(made["$schema"], "")


def test_the_schemas_of_a_project_are_small_and_keep_the_help():
    sizes = {kind: len(small_schema_text(kind)) for kind in ("suite", "rubric", "cases")}

    assert sizes["suite"] < 150_000
    assert sum(sizes.values()) < 170_000
    assert "equality with an accepted answer, after normalisation" in small_schema_text("suite")
    for kind in KINDS:
        Draft202012Validator.check_schema(json.loads(small_schema_text(kind)))


def test_a_kind_that_is_not_there_is_said():
    with pytest.raises(ConfigError, match="no schema of 'suit'; did you mean 'suite'"):
        schema("suit")


@pytest.mark.parametrize("path", SUITES, ids=lambda p: str(p.relative_to(ROOT)))
def test_every_example_suite_is_right(path):
    assert faults("suite", read(path.read_text("utf-8"))) == []


@each("path", RUBRICS, ids=lambda p: p.stem)
def test_every_rubric_is_right(path):
    front, _ = split_front_matter(path.read_text("utf-8"))

    assert faults("rubric", read(front)) == []


def test_suites_and_rubrics_of_the_documentation_are_right():
    readme = (ROOT / "README.md").read_text("utf-8")
    tutorial = (ROOT / "docs" / "author-a-rubric.md").read_text("utf-8")
    yaml = re.findall(r"^```yaml\n(.*?)^```$", readme + tutorial, re.S | re.M)
    jinja = re.findall(r"^```jinja\n---\n(.*?)^---$", tutorial, re.S | re.M)

    assert yaml
    assert jinja
    assert [faults("suite", read(text)) for text in yaml] == [[]] * len(yaml)
    assert [faults("rubric", read(text)) for text in jinja] == [[]] * len(jinja)


def test_every_line_of_a_run_and_of_its_cases_is_right(tmp_path):
    import asyncio

    example = ROOT / "examples" / "support_assistant"
    asyncio.run(run_suite(load_suite(example / "suite.yaml"), out=tmp_path))
    results = (tmp_path / "results.jsonl").read_text("utf-8").splitlines()
    cases = (example / "cases.jsonl").read_text("utf-8").splitlines()

    assert len(results) > 100
    assert [faults("results", json.loads(line)) for line in results] == [[]] * len(results)
    assert [faults("cases", json.loads(line)) for line in cases] == [[]] * len(cases)


@pytest.mark.parametrize(
    "row",
    [
        {"case": "a", "metric": "m", "result": {"type": "score", "value": "1"}},
        {"case": "a", "metric": "m", "result": {"value": 1}},
        {"case": "a", "metric": "m", "result": {"type": "failure", "kind": "odd", "message": ""}},
        {"case": "a", "metric": "m", "result": {"type": "failure", "kind": "empty"}},
        {"judgekit": "results", "manifest": "x", "version": 1},
        {"type": "case"},
        [],
    ],
)
def test_a_line_that_is_no_result_is_refused(row):
    assert faults("results", row)


@pytest.mark.parametrize(
    ("row", "right"),
    [
        ({"input": "a", "answer": "b"}, True),
        ({"id": "a", "reference": ["x", "y"], "topic": 3}, True),
        ({"output": "a", "reference": "x"}, True),
        ({"output": 3, "reference": 1.5, "baseline": True}, True),
        ({"output": {}}, True),
        ({"context": {}}, False),
        ({"id": ""}, False),
        ({"reference": [{}]}, False),
        ({"history": [{"role": "robot"}]}, False),
    ],
)
def test_a_case_is_checked_as_a_row(row, right):
    assert (faults("cases", row) == []) is right


# -- suites -----------------------------------------------------------------------

RIGHT = [
    suite_with(length=None),
    suite_with(length={"maximum": 9, "unit": "words", "gate": {"mean": 0.5}}),
    suite_with(length={"gate": [{"mean": 1}, {"where": {"topic": ["a", 3]}, "min": 0}]}),
    suite_with(quality={"gate": {"unverified_quotes": 0, "abstained": "5%", "undecided": "fail"}}),
    {**suite_with(length={"gate": {"not_worse": 0.1}}), "gate": {"baseline": "b", "cost": 1}},
    suite_with(brief={"metric": "length", "maximum": 9}),
    suite_with(length={"metric": "regex", "pattern": "x"}),
    suite_with(safety={"samples": 3, "mode": None}, tone={"rubric": "tone", "history": 2}),
    suite_with(a={"combine": "weighted_mean", "of": ["b"], "weights": {"b": 1}}, b=None),
    suite_with(contains={"any_of": "one"}, polite={"of_a_plugin": 1}),
    {**suite_with(length=None), "judge": "none", "record": "none", "$schema": "../s.json"},
    {**suite_with(length=None), "judge": "openai/gpt-6-luna", "redact": ["[0-9]+", "email"]},
    {**suite_with(quality={"fallback": "length"}), "cases": {"path": "-", "limit": 3}},
]
WRONG = {
    "a key": {**suite_with(length=None), "casess": "x"},
    "no metrics": {"cases": "c.jsonl"},
    "an empty list of metrics": suite_with(),
    "an option": suite_with(length={"maximun": 3}),
    "an option under a name of one's own": suite_with(brief={"metric": "length", "maximun": 3}),
    "an option of a rubric": suite_with(tone={"rubric": "tone", "sample": 3}),
    "an option's word": suite_with(length={"unit": "word"}),
    "an option's type": suite_with(length={"maximum": "many"}),
    "a missing option": suite_with(regex={"expect": "absent"}),
    "a threshold": suite_with(length={"threshold": "high"}),
    "a gate": suite_with(length={"gate": {"meen": 1}}),
    "a gate's type": suite_with(length={"gate": {"mean": "high"}}),
    "a gate's list": suite_with(length={"gate": [{"mean": 1}, 3]}),
    "a gate's share": suite_with(length={"gate": {"coverage": 2}}),
    "a gate's count": suite_with(length={"gate": {"failed": "many"}}),
    "a gate's word": suite_with(length={"gate": {"undecided": "maybe"}}),
    "a gate's margin": suite_with(length={"gate": {"not_worse": -1}}),
    "a gate of the run": {**suite_with(length=None), "gate": {"mean": 1}},
    "a combination": suite_with(a={"combine": "sum", "of": ["b"]}),
    "a fallback": suite_with(quality={"fallback": {"usee": "length"}}),
    "a record mode": {**suite_with(length=None), "record": "new"},
    "a key of the judge": {**suite_with(length=None), "judge": {"model": "m", "modle": "m"}},
    "an api key": {**suite_with(length=None), "judge": {"model": "m", "api_key": "x"}},
    "a mode": {**suite_with(length=None), "judge": {"model": "m", "mode": "xml"}},
    "no model": {**suite_with(length=None), "judge": {"params": {}}},
    "a limit": {**suite_with(length=None), "limits": {"concurrency": 0}},
    "a shape of cases": {**suite_with(length=None), "cases": {"path": "c", "format": "odd"}},
    "a list": [],
}


@pytest.mark.parametrize("data", RIGHT)
def test_a_right_suite_is_right(data):
    assert faults("suite", data) == []


@each("data", WRONG.values(), ids=WRONG)
def test_a_wrong_suite_is_refused(data):
    assert faults("suite", data)


@each("name", BUILTIN)
def test_the_options_of_every_metric_are_those_it_takes(name):
    entry = BUILTIN[name]
    made = inspect.signature(getattr(import_module(entry.module), entry.attribute)).parameters
    known = validator("suite").schema["$defs"][f"metric.{name}"]

    for name_of_parameter, parameter in made.items():
        option = option_of(name_of_parameter)
        if option in ("name", "judge", "rubric", "of"):
            continue
        assert option in known["properties"], option
        assert known["properties"][option], option
        default = entry.preset.get(option, parameter.default)
        assert (option in known["required"]) == (default is parameter.empty)
        if isinstance(default, (bool, int, float, str)):
            assert known["properties"][option]["default"] == default


def test_every_key_of_a_suite_says_what_it_is():
    made = validator("suite").schema
    silent = [
        f"{place}.{key}"
        for place, entry in [("suite", made), *made["$defs"].items()]
        if place.endswith("File") or place == "suite"
        for key, value in entry["properties"].items()
        if "description" not in value and "$ref" not in value
    ]

    assert silent == []


class Shorthands(GenerateJsonSchema):
    """Collects the validators that take more than the schema says."""

    found: ClassVar[list[str]] = []

    def function_before_schema(self, schema):
        if "json_schema_input_schema" not in schema:
            self.found.append(schema["function"]["function"].__name__)
        return super().function_before_schema(schema)


@pytest.mark.parametrize("model", [SuiteFile, RubricFile], ids=["suite", "rubric"])
def test_a_short_way_of_writing_is_in_the_schema_too(model):
    # Give BeforeValidator a json_schema_input_type: what people may write instead.
    Shorthands.found.clear()
    model.model_json_schema(schema_generator=Shorthands)

    assert Shorthands.found == []


# -- rubrics ----------------------------------------------------------------------

KNOWN = """\
empty front; front is list; no name; bad name; unknown key; unknown far key; crit no text;
crit empty text; crit is text; crit unknown key; bad kind; bad id; two dots; weight zero;
weight text; weights word; combine word; choice no options; options one; level null; level
beyond; levels and min; levels on boolean; options on score; items on score; min on
choice; item twice; nullable checklist; detail reserved; detail kind; nullable word;
requires unknown; group requires unknown; version 0; version text; example bad field;
example no answers; test bad field; details dup; extends abstract list; unclosed front; a
test with an unknown bound
"""
"""Those of the table that a schema can know to be wrong."""


def test_a_wrong_rubric_is_refused_where_a_schema_can_know():
    refused = set()
    for name, front, *_ in WRONG_RUBRICS:
        try:
            data = read(front)
        except ConfigError:
            continue
        if faults("rubric", data):
            refused.add(name)

    known = set(" ".join(KNOWN.split()).split("; "))
    assert len(known) >= 40
    assert known <= refused


@pytest.mark.parametrize(
    "criterion",
    [
        {"text": "A."},
        {"text": "A.", "kind": "boolean", "quotes": True, "nullable": True},
        {"text": "A.", "levels": {"good": 1, "bad": {"value": 0, "text": "no"}}},
        {"text": "A.", "options": {"good": 1, "bad": 0, "no matter": None}},
        {"text": "A.", "items": ["one", "two"], "weight": 0.5},
        {"text": "A.", "minimum": 1, "maximum": 5, "reverse": True},
        {"text": "A.", "details": {"worst": "The worst sentence."}},
        None,
    ],
)
def test_a_right_criterion_is_right(criterion):
    assert faults("rubric", {"name": "mine", "criteria": {"a": criterion}}) == []


def test_an_editors_line_is_no_mistake(tmp_path):
    from judgekit.rubric.load import load_rubric

    suite = tmp_path / "suite.yaml"
    suite.write_text("$schema: s.json\nmetrics: {length: {maximum: 9}}\n", "utf-8")
    rubric = tmp_path / "mine.jinja"
    rubric.write_text(
        "---\n$schema: s.json\nname: mine\nextends: base\ncriteria: {a: {text: A.}}\n---\n", "utf-8"
    )

    assert load_suite(suite).metrics
    assert load_rubric(rubric).name == "mine"


@pytest.mark.parametrize("kind", ["suite", "rubric"])
def test_schema_and_loader_agree_on_drawn_files(kind, tmp_path):
    assert disagreements(kind, 200, seed=0, folder=tmp_path) == []


def keys_of(value):
    """Return class and key of every setting of a file, from its models."""
    if isinstance(value, BaseModel):
        yield from ((type(value).__name__, name) for name in value.model_fields_set)
        value = dict(value)
    inside = value.values() if isinstance(value, dict) else value
    for part in inside if isinstance(value, dict | list) else ():
        yield from keys_of(part)


@pytest.mark.parametrize(("kind", "model"), [("suite", SuiteFile), ("rubric", TestedFile)])
def test_every_key_of_a_file_is_drawn(kind, model):
    random = Random(0)
    keys = {key for _ in range(600) for key in keys_of(model.model_validate(DRAWN[kind](random)))}

    models = {cls for cls in FileModel.__subclasses__() if cls.__name__ in {c for c, _ in keys}}
    every = {(cls.__name__, name) for cls in {*models, model} for name in cls.model_fields}
    assert len(keys) > 40
    assert every - keys == set()


@each(
    ("criterion", "fits"),
    [
        ({"kind": "levels", "levels": {"good": 1, "bad": 0}}, True),
        ({"kind": "number"}, True),
        ({"kind": "number", "minimum": 1, "maximum": 5}, True),
        ({"kind": "levels"}, False),
        ({"kind": "number", "levels": {"good": 1, "bad": 0}}, False),
        ({"levels": {}}, False),
        ({"items": ["a"], "options": {"good": 1, "bad": 0}}, False),
    ],
)
def test_the_schemas_take_every_documented_kind_of_criterion(criterion, fits):
    criteria = {"a": {"text": "Is it kind?", **criterion}}

    assert (
        faults("rubric", {"name": "mine", "extends": "base", "criteria": criteria}) == []
    ) is fits
    assert (faults("suite", suite_with(mine={"criteria": criteria})) == []) is fits


@each(
    "entry",
    [
        {"criteria": {"a": {"text": "Is it kind?"}}},
        {"rubric": "quality"},
        {"metric": "length", "maximum": 3},
        {"of": ["length"]},
    ],
)
def test_a_misspelt_key_of_a_metric_is_seen(entry):
    assert faults("suite", suite_with(mine={**entry, "threshold": 0.5})) == []
    assert faults("suite", suite_with(mine={**entry, "treshold": 0.5})) != []


@pytest.mark.parametrize(
    ("fallback", "fits"),
    [
        ("length", True),
        ({"use": "length", "maximum": 3}, True),
        ({"use": "length", "maximum": 3, "on_budget": True}, True),
        ({"use": "of_another_package", "limit": 1}, True),
        ({"use": "length", "maxmum": 3}, False),
        ({"use": "length", "maximum": "x"}, False),
        ({"use": "regex"}, False),
        ({"use": "quality"}, False),
        ("quality", False),
    ],
)
def test_a_fallback_has_the_options_of_its_metric(fallback, fits):
    suite = {"cases": "c.jsonl", "metrics": {"quality": {"fallback": fallback}}}

    assert validator("suite").is_valid(suite) is fits
