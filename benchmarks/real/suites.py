"""The parts that are suites: an example, and criteria in one request each or eight in one."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from benchmarks.real.page import Section
from judgekit.authoring.rubric_test.agreement import (
    JudgedTwice,
    count_replies,
    criterion_agreement,
)
from judgekit.core.score import Failure, Result
from judgekit.report.report import Report
from judgekit.suite.judge_file import JudgeFile
from judgekit.suite.overrides import Overrides
from judgekit.suite.run import run_suite_sync
from judgekit.suite.suite import load_suite

PARTS = ("support", "calls")
EXAMPLE = Path(__file__).parents[2] / "examples" / "support_assistant" / "suite.yaml"
CALLS = Path(__file__).with_name("calls.yaml")
EACH, EIGHT = "one_each", "eight_in_one"


def run(part: str, judge: JudgeFile, *, out: Path, cases: int) -> None:
    """Write the suite of a part to its folder, and run it; recorded replies are not asked for."""
    folder = out / part
    folder.mkdir(exist_ok=True)
    suite = _support(cases) if part == "support" else _calls(folder, cases)
    settings = judge.model_dump(mode="json", exclude_defaults=True)
    whole = suite | {"judge": settings, "cassette": "tape.jsonl", "limits": {"concurrency": 1}}
    (folder / "suite.yaml").write_text(json.dumps(whole), "utf-8")
    chosen = Overrides(record="new_episodes", api_base=judge.api_base)
    stop = asyncio.Event()
    run_suite_sync(
        load_suite(folder / "suite.yaml", chosen), out=folder / "run", page=True, stop=stop
    )
    if stop.is_set():
        raise KeyboardInterrupt


def _support(cases: int) -> dict[str, Any]:
    written = yaml.safe_load(EXAMPLE.read_text("utf-8"))
    kept = {name: written["metrics"][name] for name in ("safety", "quality", "prompt_alignment")}
    metrics = {name: _asking(options) for name, options in kept.items()}
    path = str(EXAMPLE.parent / written["cases"])
    return {"name": "Support", "cases": {"path": path, "limit": cases}, "metrics": metrics}


def _asking(options: Mapping[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in options.items() if k not in ("gate", "fallback", "threshold")}


def _calls(folder: Path, cases: int) -> dict[str, Any]:
    rows = [
        {
            "id": f"case-{number}",
            "input": one["input"],
            "output": one["output"],
            "expected": {
                "criteria": [{"criterion": text, "points": 1} for text in one["criteria"]]
            },
        }
        for number, one in enumerate(_authored()[:cases], 1)
    ]
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / "cases.jsonl").write_text(lines, "utf-8")
    metrics = {
        EACH: {"metric": "points", "calls": "each"},
        EIGHT: {"metric": "points", "calls": 8},
    }
    return {"name": "Calls", "cases": "cases.jsonl", "metrics": metrics}


def _authored() -> list[dict[str, Any]]:
    authored: list[dict[str, Any]] = yaml.safe_load(CALLS.read_text("utf-8"))
    return authored


def sections(out: Path) -> Iterator[Section]:
    """Yield the tables of the parts that ran."""
    for part in PARTS:
        if (out / part / "tape.jsonl").exists():
            report = run_suite_sync(load_suite(out / part / "suite.yaml"))
            yield from (_of_support if part == "support" else _of_calls)(report)


def _results(report: Report) -> dict[str, dict[str, Result]]:
    """Return metric -> case -> result."""
    found: dict[str, dict[str, Result]] = {}
    for case, rows in report.results:
        for row in rows:
            found.setdefault(row.metric, {})[case.id] = row.result
    return found


def _of_support(report: Report) -> Iterator[Section]:
    authored = _results(run_suite_sync(load_suite(EXAMPLE)))
    rows = []
    for metric, results in _results(report).items():
        replies = count_replies(results)
        pairs = (JudgedTwice(result, authored[metric][case]) for case, result in results.items())
        for one in criterion_agreement(pairs):
            away = "-" if one.difference is None else f"{one.difference:.2f}"
            same = f"{one.same} of {one.cases}"
            rows.append((metric, one.criterion, f"{replies.valid} of {replies.asked}", same, away))
    head = ("metric", "criterion", "valid", "same as authored", "mean difference")
    yield Section("The support assistant", head, rows)


def _of_calls(report: Report) -> Iterator[Section]:
    results = _results(report)
    truth = [answer for one in _authored() for answer in one["criteria"].values()]
    answers = {metric: _answers(results[metric]) for metric in (EACH, EIGHT)}
    rows = []
    for metric, given in answers.items():
        replies = count_replies(results[metric])
        known = [
            (said, wanted) for said, wanted in zip(given, truth, strict=False) if said is not None
        ]
        right = sum(said == wanted for said, wanted in known)
        rows.append((metric, f"{replies.valid} of {replies.asked}", f"{right} of {len(known)}"))
    both = [(a, b) for a, b in zip(*answers.values(), strict=True) if None not in (a, b)]
    same = f"{sum(a == b for a, b in both)} of {len(both)} criteria have the same answer in both"
    yield Section("Criteria in one request", ("calls", "valid", "as authored"), rows, same)


def _answers(results: Mapping[str, Result]) -> list[bool | None]:
    """Return the answers to the criteria of all cases, in order; `None` without one."""
    answers: list[bool | None] = []
    for result, one in zip(results.values(), _authored(), strict=False):
        parts = () if isinstance(result, Failure) else result.parts
        said = [part.answer if isinstance(part.answer, bool) else None for part in parts]
        answers += said if len(said) == len(one["criteria"]) else [None] * len(one["criteria"])
    return answers
