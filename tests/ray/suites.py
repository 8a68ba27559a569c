"""A small suite in a folder, and the files that must be the same however it is run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from judgekit.suite.overrides import Overrides
from judgekit.suite.run import run_suite_sync
from judgekit.suite.suite import load_suite

SAME = ("results.jsonl", "report.json", "tape.jsonl")
METRICS = {
    "polite": {"criteria": {"polite": "Is it polite?"}, "threshold": 0.5, "gate": {"mean": 0.1}},
    "exact_match": {"threshold": 1.0},
}


def write_suite(folder: Path, *, cases: int = 23, **keys: Any) -> Path:
    """Write a suite with its cases; every fourth case lacks a reference, so that a row fails."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = [
        {
            "id": f"c/{number}\n\u2028é",
            "input": f"Question {number}?",
            "output": f"Answer to case-{number}.",
            **({"reference": f"Answer {number % 9}."} if number % 4 else {}),
        }
        for number in range(cases)
    ]
    (folder / "cases.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n", "utf-8")
    suite: dict[str, Any] = {
        "cases": "cases.jsonl",
        "judge": "fake/judge",
        "cassette": "recorded.jsonl",
        "metrics": METRICS,
        "limits": {"max_failures": 1_000},
        **keys,
    }
    path = folder / "suite.yaml"
    path.write_text(json.dumps(suite), "utf-8")
    return path


def run_alone(suite: Path, out: Path, **flags: Any) -> Any:
    """Run a suite in one process."""
    flags.setdefault("record", "new_episodes")
    return run_suite_sync(load_suite(suite, Overrides(**flags)), out=out)


def assert_same(one: Path, other: Path) -> None:
    for name in SAME:
        assert (one / name).read_bytes() == (other / name).read_bytes(), name
