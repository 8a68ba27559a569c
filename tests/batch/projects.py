"""Projects on disk for runs with jobs, and what a run of them gives."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

from judgekit.batch.choice import BatchChoice
from judgekit.batch.jobs import Jobs
from judgekit.report.report import Report
from judgekit.suite.overrides import Overrides
from judgekit.suite.resolved import resolve
from judgekit.suite.run import run_suite_sync
from judgekit.suite.suite import Suite, open_suite

SEND = BatchChoice(sending=True)
PLAIN = "  clear: {criteria: {clear: Is it clear?}}\n"
PAIRS = """\
  jury: {criteria: {clear: Is it clear?, kind: Is it kind?}, jury: [judge, other]}
  groups: {criteria: {a: Is it a?, b: Is it b?, c: Is it c?}, calls: 2}
  orders: {criteria: {a: Is it a?, b: Is it b?}, order: balanced, samples: 2}
  claims: {metric: faithfulness}
"""
"""Metrics with a jury, samples, groups of criteria, orders, and two steps."""


class Project:
    """A suite in a folder of its own, with its own private store."""

    def __init__(
        self,
        folder: Path,
        base: str,
        *,
        metrics: str = PLAIN,
        cases: int = 3,
        more: str = "",
        model: str = "openai/fake",
        params: str = "{}",
    ) -> None:
        self.folder = folder
        folder.mkdir()
        self.suite = folder / "suite.yaml"
        server = f"api_base: {base}, price: {{input: 1, output: 2}}"
        second = f"{model.partition('/')[0]}/second"
        self.suite.write_text(
            f"judge: {{model: {model}, params: {params}, {server}}}\n"
            f"judges: {{other: {{model: {second}, {server}}}}}\n"
            f"cassette: tape.jsonl\ncases: cases.jsonl\n{more}metrics:\n{metrics}",
            encoding="utf-8",
        )
        rows = [
            {
                "id": f"c{n}",
                "input": f"case-{n}: what is it, ann@shop.example?",
                "output": f"It is {n}.",
                "context": [f"It is {n}, they say."],
                "reference": "It is.",
            }
            for n in range(cases)
        ]
        (folder / "cases.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))

    @property
    def home(self) -> Path:
        return self.folder / ".judgekit"

    @property
    def jobs(self) -> Jobs:
        return Jobs(self.home)

    def opened(
        self, *, record: str = "new_episodes", batches: BatchChoice | None = None, **flags: Any
    ) -> Suite:
        # Every test has a value of its own, which is restored after it.
        os.environ["JUDGEKIT_HOME"] = str(self.home)
        overrides = Overrides(record=record, **flags)
        return open_suite(resolve(self.suite, overrides), batches=batches)

    def run(self, **options: Any) -> Report:
        return run_suite_sync(self.opened(**options), out=self.folder / "run")

    def send(self, **options: Any) -> Report:
        return self.run(batches=SEND, **options)

    def rows(self) -> list[Any]:
        """Return all that a run gives: cases and rows with values, reasons and keys."""
        lines = (self.folder / "run" / "results.jsonl").read_text("utf-8").splitlines()
        return [json.loads(line) for line in lines]

    def replays(self, other: Project) -> list[Any]:
        """Return what a replay of this suite gives on the tape of another project."""
        shutil.copy(other.folder / "tape.jsonl", self.folder / "tape.jsonl")
        report = self.run(record="none")
        assert report.exit_code == 0
        return self.rows()
