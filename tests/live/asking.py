"""Asking the fake server through everything a real run goes through."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from judgekit.cassette.cassette import Cassette
from judgekit.cassette.store import Store
from judgekit.core.case import Case
from judgekit.core.score import Failure, Result
from judgekit.judges.limits import LimitedJudge
from judgekit.judges.litellm import LiteLLMJudge
from judgekit.metrics.rubric import RubricMetric
from judgekit.report.report import Report
from judgekit.rubric.load import load_rubric
from judgekit.runner.evaluation import evaluate

from .server import Server

MODEL = "openai/judge"

RUBRIC = """\
---
name: brief
version: 1
extends: base
description: Whether an answer is polite and right.
requires: [output]
criteria:
  right:
    weight: 0.5
    text: Is it right?
    levels:
      wholly: {value: 1.0, text: "in all it says"}
      partly: {value: 0.5, text: "in some of it"}
      not: {value: 0.0, text: "in nothing"}
  polite:
    weight: 0.5
    kind: boolean
    text: Is it polite?
---
"""


def cases(tokens: Iterable[str]) -> list[Case]:
    """Return a case for each token; the server tells them apart by it."""
    return [Case(id=token, output=f"This is the answer to {token}.") for token in tokens]


def tokens(count: int) -> list[str]:
    return [f"case-{number:03d}" for number in range(count)]


def write_rubric(folder: Path) -> Path:
    path = folder / "brief.jinja"
    path.write_text(RUBRIC, encoding="utf-8")
    return path


def write_suite(folder: Path, server: Server, asked: Iterable[str], **judge: Any) -> Path:
    """Write a suite that asks the server, for a process of its own."""
    write_rubric(folder)
    with (folder / "cases.jsonl").open("w", encoding="utf-8") as lines:
        for case in cases(asked):
            lines.write(case.model_dump_json(exclude_defaults=True) + "\n")
    suite = {
        "cases": "cases.jsonl",
        "judge": {"model": MODEL, "api_base": server.base, **judge},
        "cassette": "tape.jsonl",
        "metrics": {"brief": {"rubric": "brief.jinja", "threshold": 0.5}},
        "limits": {"concurrency": CONCURRENCY},
    }
    path = folder / "suite.yaml"
    path.write_text(json.dumps(suite), encoding="utf-8")
    return path


CONCURRENCY = 8
UNDER_WAY = 2 * CONCURRENCY
"""Rows that a run works on at once; no more replies than these may be on their way to the store."""


def stored(suite: Path) -> set[str]:
    """Return the tokens of the replies that the store of a suite holds."""
    folder = suite.with_name("store")
    if not (folder / "cache.db").exists():
        return set()
    store = Store(folder)
    try:
        texts = [store.get(key) or "" for key in list(store.keys())]
    finally:
        store.close()
    return {token for text in texts for token in re.findall(r"case-\d{3}", text)}


def command(suite: Path, *flags: str) -> list[str]:
    """Return the command line that runs a suite and may ask."""
    python = [sys.executable, "-W", "error::ResourceWarning", "-m", "judgekit"]
    return [*python, *arguments(suite), *flags]


def arguments(suite: Path) -> list[str]:
    out = suite.with_name("out")
    return ["run", str(suite), "--record", "new_episodes", "--out", str(out)]


def judge_of(server: Server, **options: Any) -> LiteLLMJudge:
    """Return a judge that loses no time, on the top rung unprobed; `options` go before."""
    quick: dict[str, Any] = {"timeout": 20.0, "retries": 1, "max_wait": 0.05, "reasks": 1}
    quick["mode"] = "json_schema"
    return LiteLLMJudge(MODEL, **{"api_base": server.base, **quick, **options})


class Outcome:
    """What a run came to."""

    def __init__(self, report: Report, cassette: Cassette, limited: LimitedJudge) -> None:
        self.report = report
        self.cassette = cassette
        self.limited = limited
        self.rows: dict[str, Result] = {
            scored.case.id: scored.rows[0].result for scored in report.results
        }

    @property
    def kinds(self) -> dict[str, str]:
        """Return `scored` or the kind of failure, for every case."""
        return {case: _kind(row) for case, row in self.rows.items()}


async def run_async(
    judge: Any,
    asked: Iterable[str],
    folder: Path,
    *,
    store: Any = None,
    window: int = 16,
    out: Path | None = None,
    stop: asyncio.Event | None = None,
    **limits: Any,
) -> Outcome:
    """Evaluate a case for each token, recording to a store and a tape in `folder`."""
    limited = LimitedJudge(judge, **{"max_outages": 0, **limits})
    cassette = Cassette(
        limited,
        tape=folder / "tape.jsonl",
        store=Store(folder / "store") if store is None else store,
        record="new_episodes",
    )
    metric = RubricMetric(load_rubric(write_rubric(folder)), judge=cassette)
    try:
        report = await evaluate(cases(asked), [metric], window=window, out=out, stop=stop)
    finally:
        cassette.close()
    return Outcome(report, cassette, limited)


def run(judge: Any, asked: Iterable[str], folder: Path, **options: Any) -> Outcome:
    """Run from synchronous code, and give up after two minutes: nothing may hang."""

    async def bounded() -> Outcome:
        async with asyncio.timeout(120):
            return await run_async(judge, asked, folder, **options)

    return asyncio.run(bounded())


def _kind(row: Result) -> str:
    if not isinstance(row, Failure):
        return row.status
    # A mistake of our own is no outcome any test expects: show it instead of its name.
    return row.message if row.kind == "metric_error" else row.kind
