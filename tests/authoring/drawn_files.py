"""Suites and rubrics drawn from the documented keys, with mistakes, for schema and loader."""

from __future__ import annotations

import re
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from random import Random
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError

from judgekit.authoring.schemas import schema
from judgekit.core.errors import ConfigError, DatasetError
from judgekit.core.yaml_file import to_yaml
from judgekit.metrics.catalogue import BUILTIN
from judgekit.rubric.load import load_rubric
from judgekit.suite.suite import build_suite
from tests.authoring import right_values as right

LOADER_ALONE = {
    "a bound below another": r"is not below maximum|is above maximum|min \S+ is above max",
    "words without any value": r"none of its words has a value",
    "weights that must add up, or that all criteria of a group have": (
        r"weights? (?:of|add)|add up to|have no weight|has no weight|the weights are all penalties"
        r"|give every criterion of a group a weight|weights must (?:be|name|not)"
    ),
    "a name that something else defines": (
        r"no (?:metric|rubric) named|no gate on|which was not found|is abstract"
        r"|it does not inherit|no judge has the role|has no parameter|which the suite does not have"
        r"|unknown parameter '[\w.]+'|no test is named|has no mode|is not among the modes"
        r"|an expectation about|which is no criterion|still a criterion|which has no criteria"
        r"|group '\w+' has no criteria|(?:no|twice a) judge '\w+' in the jury|is never used"
    ),
    "a key that another one makes necessary": (
        r"needs a judge: give|needs a minimum or a maximum|readout needs probabilities"
        r"|max_cost needs the price|has no default, so the test must set it"
    ),
    "keys that an extended file may have": (
        r"has no criteria|the template never shows|has several modes|but has no modes"
        r"|a choice needs at least two choices|belong to a (?:number|choice)"
    ),
    "values of the kind that another key or file gives": (
        r"answers do not fit the criteria|no such answer|has no words to answer with"
        r"|answers true or false|can never (?:abstain|be)|the criterion has no quotes"
        r"|parameter '\w+' must"
    ),
    "values that a metric checks when it is made": (
        r"(?:^|: )\w+ must (?:be|contain) |is outside the values of"
    ),
    "a name that another key takes": (
        r"is a criterion and a detail|two tests are named|contains itself|cannot be above itself"
        r"|are the same to every recording"
    ),
    "what another file contains": (
        r"no such (?:file|folder|rubric file)|the labels are about|has \d+ rows of"
        r"|the run is still going|not a run folder|must be in the rubric's own folder"
    ),
    "patterns": r"is not a regular expression|also matches the empty text",
    "texts with parameters": r"an item is answered word for word",
    "rows, which are read by the shape that their keys have": r"^row \d+: ",
    "what a judge, an embedder or the environment takes": (
        r"has no provider|answers in a terminal|does not support criterion|unknown parameter '\w+'"
        r"|is not set in the environment|must begin with http|is not known; built in"
        r"|^headers|headers: headers[.:]"
    ),
}
"""Rules that JSON Schema cannot say of one file: what -> the loader's words."""


# -- right files --------------------------------------------------------------------


def _some(
    random: Random, table: dict[str, list[Any]], *, share: float = 0.25, but: str = ""
) -> dict[str, Any]:
    """Return some keys of a table, each with one of its values."""
    chosen = [key for key in table if random.random() < share and key not in but.split()]
    return {key: deepcopy(random.choice(table[key])) for key in chosen}


def _one(random: Random, values: Any) -> Any:
    return deepcopy(random.choice(values))


def _criterion(random: Random) -> dict[str, Any]:
    shape = _one(random, right.CRITERION_SHAPES)
    more = _some(random, right.CRITERION)
    if shape.get("kind") != "checklist" and "items" not in shape and random.random() < 0.2:
        more["nullable"] = True
    return {"text": random.choice(right.TEXTS), **shape, **more}


def _criteria(random: Random) -> dict[str, Any]:
    criteria = {f"c{n}": _criterion(random) for n in range(random.randint(1, 3))}
    if random.random() < 0.2:
        for criterion in criteria.values():
            criterion["weight"] = 1 / len(criteria)
    return criteria


def _judge(random: Random, name: str) -> Any:
    """Return a judge; each role has its model, so that no two are the same."""
    model = f"openai/{name}"
    if random.random() < 0.1:
        return {"model": model, **_some(random, right.DECISIONS, share=1)}
    if random.random() < 0.1:
        return {"model": f"manual/{name}", "answers": "answers.yaml"}
    if random.random() < 0.1:
        return {"recorded": "verdicts.jsonl"} if name == "third" else f"fake/{name}"
    if random.random() < 0.3:
        return model
    return {"model": model, **_one(random, right.TIERS), **_some(random, right.JUDGE)}


def _cases(random: Random) -> Any:
    shape = random.randrange(3)
    if shape == 0:
        return "cases.jsonl"
    if shape == 1:
        return {"path": "cases.jsonl", **_some(random, right.CASES)}
    row = {"response": "Yes.", **_some(random, right.ROW, but="id output")}
    return [row, {"id": "b", **_some(random, right.ROW, but="id")}]


def _gate(random: Random) -> Any:
    one = {**_some(random, right.GATES, share=0.2), "mean": 0.5}
    return [one, {"min": 0}] if random.random() < 0.2 else one


def _metric(random: Random) -> dict[str, Any]:
    kind = random.randrange(5)
    entry = _some(random, right.METRIC)
    if random.random() < 0.3:
        entry["gate"] = _gate(random)
    if kind == 0:
        return {**_one(random, right.COMPUTED), **entry}
    if kind == 1:
        return {**_one(random, right.OTHER), **entry}
    subject = _one(random, right.NAMED)
    if kind == 2:
        subject = {"criteria": _criteria(random), **_some(random, right.INLINE)}
        if random.random() < 0.2:
            subject["criteria"] = {"kind": "Is it kind?"}
    asking = {**_some(random, right.JUDGED), **_some(random, right.BY_RUBRIC)}
    asking |= {**_one(random, right.VOTERS), **_one(random, right.READOUTS)}
    return {**subject, **entry, **asking}


def suite(random: Random) -> dict[str, Any]:
    """Return a suite that is right."""
    metrics = {"first": _metric(random), "second": {**_one(random, right.COMPUTED)}}
    metrics["second"] |= _some(random, right.METRIC)
    top = _some(random, right.SUITE, share=0.2)
    if random.random() < 0.1:
        metrics["second"] |= {"gate": {"pass_rate": 0.5, "not_worse": 0.1}, "threshold": 0.5}
        top["gate"] = {"baseline": "old"}
    elif random.random() < 0.1:
        gate = {"mean": 0.5, "corrected": True, "labels": {"any": True}}
        metrics["second"]["gate"], top["labels"] = gate, "labels.jsonl"
    if random.random() < 0.3:
        metrics["both"] = _one(random, right.PARTS) | _some(random, right.METRIC)
    judges = {role: _judge(random, role) for role in right.ROLES}
    if top.get("record") == "all":  # a schema cannot say that no judge may send jobs then
        for judge in judges.values():
            if isinstance(judge, dict) and judge.get("tier") == "batch":
                judge.update(tier="flex", fallback_tier=None)
    if random.random() < 0.5:
        top["judge"] = judges.pop("judge")
    if random.random() < 0.3:
        top["limits"] = _some(random, right.LIMITS)
    return {"cases": _cases(random), **top, "judges": judges, "metrics": metrics}


def rubric(random: Random) -> dict[str, Any]:
    """Return the front matter of a rubric that is right."""
    front = {"name": "mine", "extends": "base", "criteria": _criteria(random)}
    front |= _some(random, right.RUBRIC, share=0.2)
    criteria = front["criteria"]
    if random.random() < 0.2:
        front["criteria"] = criteria = {f"g.{id}": one for id, one in criteria.items()}
        front["groups"] = {"g": {"requires": ["output"], "text": "The answer."}}
        front["modes"] = {"plain": {"g": 1}, "other": {"g": 1.0}}
        front["default_mode"] = "plain"
        front["renamed"] = {}
    if random.random() < 0.3:
        front["parameters"] = _one(random, right.PARAMETERS)
        criteria[min(criteria)]["text"] = "Is it kind to {{ parameters.reader }}?"
    if random.random() < 0.3:
        front["examples"] = _examples(random, front)
    elif random.random() < 0.2:
        front["criteria"] = {"c0": {"text": "Is it kind?", "kind": "boolean"}}
        front["examples"] = _one(random, right.BY_FILE)
        for key in ("groups", "modes", "default_mode", "parameters"):
            front.pop(key, None)
    if random.random() < 0.4:
        front |= _tests(random, front)
    return front


def _answer(criterion: dict[str, Any]) -> Any:
    """Return an answer to a criterion, as an ideal judge gives it."""
    words = criterion.get("levels") or criterion.get("options")
    value: Any = 1
    if words:
        value = next(iter(words))
    elif criterion.get("kind") == "boolean":
        value = True
    return value


def _examples(random: Random, front: dict[str, Any]) -> Any:
    answers = {
        id: {"reason": "So.", "value": _answer(one)}
        for id, one in front["criteria"].items()
        if not {"items", "quotes", "details"} & one.keys() and one.get("kind") != "checklist"
    }
    case = {"output": "Yes.", **_some(random, right.CASE)}
    return [{"case": case, "answers": answers}] if answers else []


def _tests(random: Random, front: dict[str, Any]) -> dict[str, Any]:
    def test(name: str) -> dict[str, Any]:
        expect: dict[str, Any] = {"value": _one(random, right.EXPECTATIONS)}
        for id, one in front["criteria"].items():
            if one.get("kind") == "boolean":
                expect[id] = random.choice([True, False, {"answer": True}])
            elif words := one.get("levels") or one.get("options"):
                expect[id] = random.choice([min(words), {"answer": max(words)}])
            elif one.get("quotes"):
                quotes = ["Yes", ["Yes"], {"contain": "Yes", "from": "output"}, {"from": "input"}]
                expect[id] = {"min": 0, "quotes": random.choice(quotes)}
            elif one.get("nullable"):
                expect[id] = {"status": "abstained"}
        case = {"output": "Yes.", **_some(random, right.CASE, but="expected")}
        made = {"name": name, "case": case, "expect": expect}
        if front.get("modes"):
            made["mode"] = "other"
        return made | _settings(front)

    if random.random() < 0.2:
        status = {"value": {"status": "invalid_case"}}
        return {"tests": [{"case": {"input": "?"}, "expect": status, **_settings(front)}]}
    ordering = {"better": "good", "worse": "bad", **_one(random, [{}, {"by": 0.2}])}
    if random.random() < 0.5:
        ordering["criterion"] = random.choice(list(front["criteria"]))
    return {"tests": [test("good"), test("bad")], "orderings": [ordering]}


def _settings(front: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters of a test, for a rubric whose parameter has no default."""
    declared = front.get("parameters", {}).get("reader")
    if not isinstance(declared, dict) or "default" in declared:
        return {}
    values = {"list": ["a"], "boolean": True}
    return {"parameters": {"reader": values.get(declared.get("kind", ""), "us")}}


# -- mistakes -----------------------------------------------------------------------

WRONG: list[Any] = [
    "x", "", "2", -1, 0, 1, 2.5, 10**13, True, False, None, [], ["x"], [3], [{}], {}, {"x": 1},
    {"x": None}, "levels", "number", "{{ parameters.none }}",
]  # fmt: skip
"""Values that are wrong for most keys: each type, and numbers that are out of range."""

_ALL = [
    table
    for table in vars(right).values()
    if isinstance(table, dict) and all(isinstance(values, list) for values in table.values())
]
ADDED: dict[str, list[Any]] = {key: values for table in _ALL for key, values in table.items()}
ADDED |= {
    "levels": right.LEVELS, "options": [right.WORDS], "items": [["a", "a"], ["a"]],
    "kind": ["levels", "choice"], "minimum": [0], "maximum": [3], "nullable": [True],
    "judge": ["second"], "jury": [["judge", "second"]], "quorum": [2], "vote": ["mean"],
    "readout": ["mode"], "likelihood": ["second"], "rubric": ["quality"], "metric": ["length"],
    "pairwise": ["preference"], "with": ["reference"], "of": [["first"]], "combine": ["min"],
    "criteria": [{"c": {"text": "Is it?"}}], "parameters": [{}, {"x": 1}], "weight": [0.5, 0],
    "model": ["openai/x"], "recorded": ["verdicts.jsonl"], "answers": ["answers.yaml"],
    "api": ["decisions"], "corrected": [True], "not_worse": [0.1], "pass_rate": [0.5],
    "file": ["rows.jsonl"], "status": ["abstained"], "answer": [True], "find": ["email"],
    "use": ["length"], "weights": ["points", {"first": 1}], "treshold": [1], "api_key": ["x"],
}  # fmt: skip
"""Keys that may contradict those of an entry, with values that are right somewhere."""


def _misspelt(random: Random, key: str) -> str:
    """Return a key with one letter missing, doubled or exchanged."""
    at = random.randrange(len(key))
    return random.choice(
        [key[:at] + key[at + 1 :], key[:at] + key[at] + key[at:], key + "s", key[:at] + "q"]
    )


def mutated(random: Random, data: dict[str, Any]) -> dict[str, Any]:
    """Return a file with one change: a key misspelt, removed or added, or another value."""
    data = deepcopy(data)
    place, key = _one_spot(random, data)
    how = random.randrange(6)
    if how == 0 and isinstance(place, dict):
        place[_misspelt(random, str(key))] = place.pop(key)
    elif how == 1:
        del place[key]
    elif how == 2 and isinstance(place, dict):
        added = random.choice(sorted(ADDED))
        place[added] = _one(random, ADDED[added])
    elif how == 3 and isinstance(place[key], (int, float)):
        place[key] = random.choice([-place[key], place[key] * 1000, place[key] + 0.5, 0, 10**15])
    elif how == 3 and isinstance(place[key], list):
        place[key] = random.choice([[], place[key] * 2, [place[key]], place[key][:1]])
    else:
        place[key] = _one(random, WRONG)
    return data


def _one_spot(random: Random, data: Any) -> tuple[Any, Any]:
    """Return a container and a key in it, each different key with the same chance."""
    by_key: dict[Any, list[tuple[Any, Any]]] = {}
    for place, key in spots(data):
        by_key.setdefault(key, []).append((place, key))
    return random.choice(random.choice(list(by_key.values())))


def spots(data: Any) -> Iterator[tuple[Any, Any]]:
    """Yield each mapping or list inside, with each of its keys or indices."""
    for key, value in data.items() if isinstance(data, dict) else enumerate(data):
        yield data, key
        if isinstance(value, (dict, list)):
            yield from spots(value)


# -- schema and loader --------------------------------------------------------------

_VALIDATORS = {kind: Draft202012Validator(schema(kind)) for kind in ("suite", "rubric")}


def prepare(folder: Path) -> Path:
    """Write the files that drawn files name, and return the folder."""
    for name, text in right.FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    return folder


def disagreement(kind: str, data: dict[str, Any], folder: Path) -> str | None:
    """Return what schema and loader say of a file if one takes it and the other does not."""
    message = refusal(kind, data, folder)
    faults = list(_VALIDATORS[kind].iter_errors(data))
    if bool(faults) == bool(message):
        return None
    if not faults and any(re.search(words, message) for words in LOADER_ALONE.values()):
        return None
    if not message and all(map(_is_converted, faults)):
        return None
    schema_says = faults[0].message if faults else "takes it"
    return f"{kind}: schema: {schema_says}; loader: {message or 'takes it'}: {data}"


def refusal(kind: str, data: dict[str, Any], folder: Path) -> str:
    """Return the message with which the loader refuses a file; empty if it takes it."""
    try:
        if kind == "rubric":
            path = folder / "mine.jinja"
            path.write_text(f"---\n{to_yaml(data)}---\n", "utf-8")
            rubric = load_rubric(path)
            rubric.tests, rubric.orderings  # noqa: B018 - they are read when they are needed
            return ""
        made = build_suite(data, base=folder)
        if isinstance(data.get("cases"), list):
            list(made.cases())
    except (ConfigError, DatasetError) as exc:
        return str(exc) or "refused"
    return ""


def _is_converted(fault: ValidationError) -> bool:
    """Return whether a fault is about a scalar that the loader converts.

    YAML reads `text: 2.5` and `reverse: 0` as numbers, and `maximum: "2"` as a text. The loader
    takes them for what was meant; an editor had better underline them.
    """
    if fault.validator == "type" and isinstance(fault.instance, (bool, int, float)):
        return True
    if fault.validator == "type" and fault.instance in ("2", "1", "0"):
        return True
    if fault.validator == "enum" and "missing-tests" in fault.validator_value:
        return True  # `judgekit rubric lint` refuses an unknown rule; a run has no use for them
    return any(map(_is_converted, fault.context or ()))


DRAWN = {"suite": suite, "rubric": rubric}


def drawn(kind: str, random: Random) -> dict[str, Any]:
    """Return a file with no mistake, one or two."""
    data = DRAWN[kind](random)
    for _ in range(random.choice([0, 1, 1, 1, 2])):
        data = mutated(random, data) if data else data
    return data


def swept(kind: str, random: Random, count: int) -> Iterator[dict[str, Any]]:
    """Yield files in which one key has a wrong value: every value for each key of `count` files."""
    done = set()
    for _ in range(count):
        data = DRAWN[kind](random)
        for place, key in list(spots(data)):
            right_value = place[key]
            for value in WRONG:
                if (key, repr(value)) not in done and isinstance(key, str):
                    done.add((key, repr(value)))
                    place[key] = deepcopy(value)
                    yield data
            place[key] = right_value


def options(random: Random) -> Iterator[dict[str, Any]]:
    """Yield suites in which an option of a metric has a wrong value: each one for each option."""
    defs = schema("suite")["$defs"]
    needed: dict[str, dict[str, Any]] = {"regex": {"pattern": "a"}, "length": {"maximum": 3}}
    for name in BUILTIN:
        own = defs[f"metric.{name}"]["properties"].keys()
        for option in sorted(own - defs["metric-of-a-kind"]["properties"].keys()):
            for value in random.sample(WRONG, len(WRONG)):
                entry = {**needed.get(name, {}), option: deepcopy(value)}
                yield {"judge": "openai/judge", "metrics": {name: entry}}


def disagreements(kind: str, count: int, *, seed: int, folder: Path) -> list[str]:
    """Return the disagreements about drawn files, most of them with one or two mistakes."""
    random = Random(seed)
    prepare(folder)
    problems = (disagreement(kind, drawn(kind, random), folder) for _ in range(count))
    return [problem for problem in problems if problem is not None]
