"""Suites and rubrics drawn from the documented keys, with mistakes, for schema and loader."""

from __future__ import annotations

import re
from copy import deepcopy
from pathlib import Path
from random import Random
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError

from judgekit.authoring.schemas import schema
from judgekit.core.errors import ConfigError
from judgekit.core.yaml_file import to_yaml
from judgekit.rubric.load import load_rubric
from judgekit.suite.suite import build_suite

LOADER_ALONE = {
    "a bound below another": r"is not below maximum|is above maximum",
    "words without any value": r"none of its words has a value",
    "weights that must add up": r"weights? (?:of|add)|add up to|have no weight|has no weight",
    "a name that something else defines": (
        r"no (?:metric|rubric) named|no gate on|which was not found|is abstract"
        r"|it does not inherit"
    ),
    "a key that another one makes necessary": r"needs a judge: give|needs a minimum or a maximum",
    "criteria and a template that an extended file may have": (
        r"has no criteria|the template never shows"
    ),
    "values that a metric checks when it is made": (
        r"must be a whole number of at least|is outside the values of"
    ),
    "a name that another key takes": r"is a criterion and a detail",
}
"""Rules that JSON Schema cannot say of one file: what -> the loader's words."""

_WORDS = {"good": 1, "fair": 0.5, "bad": 0}
_TYPING_ERRORS = {
    "threshold": "treshold", "maximum": "maxmum", "text": "txt", "criteria": "critera",
    "levels": "level", "kind": "kinds", "gate": "gates", "samples": "sample", "name": "nam",
    "unit": "units", "fallback": "falback", "use": "uses", "metrics": "metric",
}  # fmt: skip


def _criterion(random: Random) -> dict[str, Any]:
    text = {"text": random.choice(["Is it kind?", "How clear is it?"])}
    shapes: list[dict[str, Any]] = [
        {}, {"kind": "boolean"}, {"kind": "score"}, {"kind": "number"},
        {"kind": "levels", "levels": _WORDS}, {"levels": _WORDS},
        {"kind": "score", "levels": _WORDS},
        {"options": {"yes": 1, "no": 0, "n/a": None}}, {"kind": "choice", "options": _WORDS},
        {"kind": "checklist"}, {"items": ["a", "b"]}, {"kind": "checklist", "items": ["a"]},
        {"minimum": 1, "maximum": 5}, {"kind": "number", "maximum": 10},
    ]  # fmt: skip
    more = [{}, {"quotes": True}, {"reverse": True}, {"details": {"why": "In a word."}}]
    return {**text, **deepcopy(random.choice(shapes)), **random.choice(more)}


def _criteria(random: Random) -> dict[str, Any]:
    return {f"c{n}": _criterion(random) for n in range(random.randint(1, 3))}


def suite(random: Random) -> dict[str, Any]:
    """Return a suite that is right."""
    common = [{}, {"threshold": 0.5}, {"gate": {"mean": 0.4}}, {"samples": 3}]
    judged: list[dict[str, Any]] = [
        {"criteria": _criteria(random)},
        {"rubric": "quality", "fallback": {"use": "length", "maximum": 9}},
        {"rubric": "safety"},
    ]
    computed: list[dict[str, Any]] = [
        {"metric": "length", "maximum": 9, "unit": "words"},
        {"metric": "contains", "any_of": ["a"]},
    ]
    metrics = {
        "first": {**random.choice(judged), **random.choice(common)},
        "second": {**random.choice(computed), **random.choice(common[:3])},
    }
    return {"metrics": metrics, "judge": "fake/judge"}


def rubric(random: Random) -> dict[str, Any]:
    """Return the front matter of a rubric that is right."""
    front = {"name": "mine", "extends": "base", "criteria": _criteria(random)}
    return {**front, **random.choice([{}, {"description": "Judges."}, {"requires": ["output"]}])}


_WRONG = ["x", -1, 0, None, True, [], {}, "levels", "number", "score", "choice", 2.5]
_ADDED: dict[str, Any] = {
    "levels": _WORDS, "options": _WORDS, "items": ["a", "a"], "kind": "levels", "minimum": 0,
    "nullable": True, "treshold": 1, "weigth": 1,
}  # fmt: skip


def mutated(random: Random, data: dict[str, Any]) -> dict[str, Any]:
    """Return a file with one change: a key misspelt, removed or added, or another value."""
    data = deepcopy(data)
    spots = list(_spots(data))
    place, key = random.choice(spots)
    how = random.randrange(4)
    if how == 0:
        place[_TYPING_ERRORS.get(key, f"{key}x")] = place.pop(key)
    elif how == 1:
        del place[key]
    elif how == 2:
        place[key] = random.choice(_WRONG)
    else:
        added = random.choice(sorted(_ADDED))
        place[added] = deepcopy(_ADDED[added])
    return data


def _spots(data: Any) -> Any:
    for key, value in data.items():
        yield data, key
        if isinstance(value, dict):
            yield from _spots(value)


_VALIDATORS = {kind: Draft202012Validator(schema(kind)) for kind in ("suite", "rubric")}


def disagreement(kind: str, data: dict[str, Any], folder: Path) -> str | None:
    """Return what schema and loader say of a file if one takes it and the other does not."""
    if kind == "rubric":
        path = folder / "mine.jinja"
        path.write_text(f"---\n{to_yaml(data)}---\n", "utf-8")
    try:
        load_rubric(path) if kind == "rubric" else build_suite(data, base=folder)
        message = ""
    except ConfigError as exc:
        message = str(exc)
    faults = list(_VALIDATORS[kind].iter_errors(data))
    if bool(faults) == bool(message):
        return None
    if not faults and any(re.search(words, message) for words in LOADER_ALONE.values()):
        return None
    if not message and all(map(_is_converted, faults)):
        return None
    schema_says = faults[0].message if faults else "takes it"
    return f"{kind}: schema: {schema_says}; loader: {message or 'takes it'}: {data}"


def _is_converted(fault: ValidationError) -> bool:
    """Return whether a fault is about a scalar that the loader converts.

    YAML reads `text: 2.5` and `reverse: 0` as numbers. The loader takes them for what was meant;
    an editor had better underline them.
    """
    if fault.validator == "type" and isinstance(fault.instance, (bool, int, float)):
        return True
    return any(map(_is_converted, fault.context or ()))


def disagreements(count: int, *, seed: int, folder: Path) -> list[str]:
    """Return the disagreements about drawn files, half of them with one or two mistakes."""
    random = Random(seed)
    problems = []
    for number in range(count):
        kind, draw = (("suite", suite), ("rubric", rubric))[number % 2]
        data = draw(random)
        for _ in range(random.choice([0, 0, 1, 2])):
            data = mutated(random, data) if data else data
        if (problem := disagreement(kind, data, folder)) is not None:
            problems.append(problem)
    return problems
