"""Every parameter of every public function and class refuses wrong values, with its name."""

from __future__ import annotations

import asyncio
import inspect
import shutil
from collections.abc import Callable, Iterable, Iterator
from enum import Enum
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

import judgekit
from docs.generate.groups import GROUPS
from judgekit.core.errors import WrongArgument

CASE = {"id": "a", "input": "Hi", "output": "Hello there"}
RUBRIC = Path(judgekit.__file__).parents[1] / "rubrics" / "tone.jinja"


def _judge() -> judgekit.FakeJudge:
    return judgekit.FakeJudge()


def _length() -> judgekit.Metric:
    return judgekit.create_metric("length", maximum=3)


def calls() -> dict[str, dict[str, Any]]:
    """Return arguments that are right for each callable; a later test changes one of them."""
    lone, judged = {"case": CASE, "metric": "length"}, {"judge": _judge()}
    several = {"cases": [CASE], "metrics": ["exact_match"]}
    answered = {"cases": [CASE], **judged}
    return {
        "Criterion": {"text": "Is kind", "points": 1},
        "load_cases": {"source": [CASE]},
        "from_pandas": {"frame": None}, "from_polars": {"frame": None},
        "from_hf": {"source": "none"},
        "to_pandas": {"cases": [CASE]}, "to_polars": {"cases": [CASE]}, "to_hf": {"cases": [CASE]},
        "score_sync": lone, "score": lone, "evaluate_sync": several, "evaluate": several,
        "create_metric": {"name": "quality", **judged},
        "metric": {"name": "wrong_argument"},
        "Rules": {}, "Limits": {},
        "Report.read": {"folder": "none"}, "Report.export": {"format": "csv", "path": "x.csv"},
        "Report.to_html": {}, "Report.to_pandas": {}, "Report.case": {"id": "a"},
        "LiteLLMJudge": {"model": "openai/x"}, "DecisionJudge": {"model": "openai/x"},
        "ManualJudge": {"name": "alex"}, "RecordedJudge": {"path": "none.jsonl"},
        "FakeJudge": {}, "LimitedJudge": judged,
        "Cassette": judged, "Cassette.open": {"path": "tape.jsonl", **judged},
        "RubricMetric": {"rubric": "quality", **judged},
        "PairwiseMetric": judged,
        "Jury": {"members": [_judge()]}, "PromptAlignment": judged,
        "load_rubric": {"path": str(RUBRIC)}, "lint_rubrics": {"sources": [str(RUBRIC)]},
        "rubric_stats": {"run": "none"},
        "Combined": {"of": [_length()], "name": "all"},
        "WithFallback": {"metric": _length(), "fallback": _length()},
        "HostedEmbedder": judged,
        "load_persona": {"path": "none.yaml"},
        "Authenticity": {"persona": "none.yaml"}, "BrandVoice": {"persona": "none.yaml", **judged},
        "load_suite": {"path": "none.yaml"}, "Overrides": {},
        "run_suite_sync": {"suite": "none.yaml"}, "run_suite": {"suite": "none.yaml"},
        "merge_shards": {"suite": "none.yaml", "folders": ["a"], "out": "b"},
        "submit_sync": {"suite": [CASE], "metrics": ["exact_match"]},
        "submit": {"suite": [CASE], "metrics": ["exact_match"]},
        "compare": {"base": "none", "new": "none"}, "agree": {"run": "none", "labels": "none"},
        "correct_means": {"run": "none", "labels": "none"}, "rank": {"sources": "none"},
        "answer_cases_sync": answered, "answer_cases": answered,
        "Analysis": dict.fromkeys(["intent", "requirements", "completeness", "appropriateness"], 1),
        "fold_prompt_alignment": {
            "analysis": judgekit.metrics.prompt_alignment.Analysis(1, 1, 1, 1)
        },
    }  # fmt: skip


class Foreign:
    """An object of another library."""


async def answered() -> str:
    return "x"


WRONG: dict[str, Callable[[], Any]] = {
    "an object": Foreign,
    "a number": lambda: 3.5,
    "a text": lambda: "nonsense",
    "a number as text": lambda: "5",
    "a list": lambda: ["a", {}],
    "a dict": lambda: {"foreign": 1},
    "a class": lambda: judgekit.FakeJudge,
    "a coroutine": answered,
    "bytes": lambda: b"x",
    "None": lambda: None,
    "a path": lambda: Path("missing/x"),
    "true": lambda: True,
    "not a number": lambda: float("nan"),
}
TAKEN = {
    "a number": ("float",),
    "a text": ("str", "Judge", "Metric"),
    "a number as text": ("str", "Judge", "Metric"),
    "a dict": ("Mapping[str, Any]", "Mapping[str, JsonValue]", "Mapping[str, float]", "dict["),
    "None": ("None", "PromptAlignment.mode"),
    "a path": ("Path", "Path | None"),
    "true": ("bool", "RubricMetric.scale"),
}
"""Kind of a value -> what annotations may take it."""
RETURNED = {
    "PendingRun",
    "metric_names",
    "Judge",
    "Metric",
    "Progress",
    "AnsweredCases",
    "Rubric",
    "Persona",
    "Suite",
}
"""Public names that take nothing, or that callers do not create."""


def public(name: str, report: judgekit.Report) -> Any:
    """Return what a name of `calls` stands for."""
    head, _, method = name.partition(".")
    if head == "Report" and method != "read":
        return getattr(report, method)
    home = next(import_module(group.module) for group in GROUPS if head in group.names)
    return getattr(getattr(home, head), method) if method else getattr(home, head)


def outcome(function: Any, name: str, arguments: dict[str, Any]) -> BaseException | None:
    """Call a function, also to the end of what it returns; return the error, if there is one."""
    positional = [arguments.pop(key) for key in ("sources",) if key in arguments]
    positional += [arguments.pop("name")] if name == "create_metric" else []
    try:
        returned = function(*positional, **arguments)
        if inspect.iscoroutine(returned):
            returned = asyncio.run(returned)
        if inspect.isgenerator(returned) or name == "load_cases":
            list(returned)
    except Exception as exc:
        return exc
    return None


def problem(name: str, parameter: inspect.Parameter, wrong: str, error: Any) -> str | None:
    """Return what is wrong with the outcome of a call with one wrong argument."""
    if error is None:
        annotation = f"{parameter.annotation} {name}.{parameter.name}"
        # Flags are texts of a command line, and read as such.
        taken = name == "Overrides" or any(word in annotation for word in TAKEN.get(wrong, ()))
        return None if taken else "is accepted"
    if not isinstance(error, judgekit.JudgekitError):
        return f"raises {type(error).__name__}: {error}"
    text = str(error)
    if any(word in text for word in ("\n", "pydantic", "://errors", " object at 0x")):
        return f"shows {text}"
    if isinstance(error, WrongArgument) and parameter.name not in text:
        return f"does not name {parameter.name}: {text}"
    return None


def faults_of(name: str, kinds: Iterable[str], report: judgekit.Report) -> Iterator[str]:
    """Yield what is wrong with the messages of one callable."""
    function = public(name, report)
    for key, parameter in inspect.signature(function).parameters.items():
        # `download` reaches for the network.
        if parameter.kind is parameter.VAR_KEYWORD or key[0] == "_" or key == "download":
            continue
        for wrong in kinds:
            value = WRONG[wrong]()
            error = outcome(function, name, {**calls()[name], key: value})
            if (fault := problem(name, parameter, wrong, error)) is not None:
                yield f"{name}({key}={wrong}) {fault}"
            if inspect.iscoroutine(value):
                value.close()
            for made in Path.cwd().iterdir():
                shutil.rmtree(made) if made.is_dir() else made.unlink()


TWINS = ("evaluate", "score", "answer_cases", "run_suite", "submit")
"""Forms with the same check as the ones that end in `_sync`."""


def test_a_wrong_argument_is_one_line_with_its_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    report = judgekit.evaluate_sync([CASE], ["exact_match"])
    names = [name for name in calls() if name not in TWINS]

    kinds = ("an object", "a coroutine")
    faults = [fault for name in names for fault in faults_of(name, kinds, report)]

    assert not faults, "\n".join(faults)


@pytest.mark.thorough
@pytest.mark.parametrize("name", calls())
def test_every_wrong_argument_is_one_line_with_its_name(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    report = judgekit.evaluate_sync([CASE], ["exact_match"])

    faults = list(faults_of(name, WRONG, report))

    assert not faults, "\n".join(faults)


def test_every_public_function_and_class_is_called():
    named = {name for group in GROUPS for name in group.names}
    values = (BaseModel, BaseException, Enum)
    made = {
        name for name in named - {"Report"}
        if isinstance(kind := public(name, report=None), type) and issubclass(kind, values)
    }  # fmt: skip

    assert named - made - RETURNED - {name.partition(".")[0] for name in calls()} == set()
