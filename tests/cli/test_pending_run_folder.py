"""What commands do with a run that waits for batch jobs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

import judgekit
from judgekit.cli.app import app
from judgekit.core.errors import JudgePending, JudgeUnavailable

RUBRIC = """---
name: tone
extends: base
description: How is the answer?
criteria:
  clear: {text: "Is it clear?", kind: boolean}
---
"""
WAITS = "job batch_1 has not answered yet (in_progress)"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A complete run, and one with pending rows, a failed row and a missed gate."""
    root = tmp_path_factory.mktemp("pending")
    (root / "tone.jinja").write_text(RUBRIC, encoding="utf-8")
    cases = [{"id": f"c{n}", "input": "Why?", "output": f"So, {n}."} for n in range(8)]

    def reply(request: judgekit.Request) -> str:
        number = int(request.about.case[1:])
        if request.model == "fake/later" and number >= 6:
            raise JudgePending(WAITS)
        if request.model == "fake/later" and number == 5:
            raise JudgeUnavailable("no answer")
        return json.dumps({"clear": {"reason": "", "value": number % 2 == 0}})

    for name, gates in (("now", None), ("later", {"tone": {"mean": 0.9}})):
        metric = judgekit.RubricMetric(
            str(root / "tone.jinja"), judge=judgekit.FakeJudge(reply, model=f"fake/{name}")
        )
        judgekit.evaluate_sync(cases, [metric], gates=gates, out=root / name)
    label = {"metric": "tone", "labeller": "ann", "value": 1}
    rows = (json.dumps({"case": case["id"], **label}) + "\n" for case in cases)
    (root / "labels.jsonl").write_text("".join(rows), encoding="utf-8")
    return root


def invoke(*words: str | Path) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words])


def test_pending_comes_before_incomplete_and_before_a_missed_gate(folder: Path) -> None:
    report = judgekit.Report.read(folder / "later")
    assert report.exit_code == 4
    assert [gate.passed for gate in report.figures.gates] == [False]
    assert report.metrics["tone"].failures == {"pending": 2, "unavailable": 1}
    assert report.figures.incomplete == ("1 row failed (0 allowed)", "2 rows pending in batch jobs")


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["report", "later"], 0, "PENDING: 1 row failed (0 allowed) and 1 more reason"),
        (["compare", "now", "later"], 0, "cases left out: failed (pending)"),
        (["compare", "now", "later", "--fail-on", "regressions"], 0, "The new run is incomplete"),
        (["agree", "later", "labels.jsonl"], 0, "3 left out: the judge was not asked or could"),
        (["correct", "later", "labels.jsonl"], 0, "rows without a value of the judge: "),
        (["labels", "plan", "later", "-n", "3"], 0, "left out: 2 cases that the metric"),
        (["report", "later", "--json"], 0, '"word": "PENDING"'),
    ],
)
def test_commands_that_read_a_run(
    folder: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], code: int, said: str
) -> None:
    monkeypatch.chdir(folder)
    done = invoke(*words)
    assert (done.exit_code, said in " ".join(done.output.split())) == (code, True), done.output


@pytest.mark.parametrize(
    ("format", "said"),
    [
        ("junit", f'<error message="{WAITS}" type="pending">'),
        ("csv", f"failed,pending: {WAITS}"),
        ("csv-long", WAITS),
        ("markdown", "| c6 | pending | "),
        ("json", '"pending": 2'),
    ],
)
def test_exports_name_pending_rows(folder: Path, tmp_path: Path, format: str, said: str) -> None:
    path = judgekit.Report.read(folder / "later").export(format, tmp_path / "file")
    assert said in path.read_text("utf-8-sig")


def test_the_page_says_that_a_row_waits(folder: Path) -> None:
    page = judgekit.Report.read(folder / "later").to_html()
    assert "waits for a batch job" in Path(page).read_text("utf-8")
