"""One suite live, at the flex tier, in jobs and mixed gives the same in all that a run writes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from judgekit.report.export.export import FORMATS
from judgekit.report.report import Report

from .projects import PAIRS, Project
from .server import Provider

pytestmark = pytest.mark.loopback
GATED = "  clear: {criteria: {clear: Is it clear?}, threshold: 0.5, gate: {mean: 0.1}}\n"
MORE = "redact: [{find: email}]\n"
PROVENANCE = ("cost", "tier", "saved")
"""What a recording says about its price."""


def exports(project: Project, report: Report) -> dict[str, Any]:
    """Return all exports that are text, without what they say about tiers and prices."""
    texts: dict[str, Any] = {}
    for format in FORMATS:
        if format not in ("excel", "parquet"):
            file = report.export(format, project.folder / f"export.{format}")
            texts[format] = file.read_bytes()
    lines = texts["markdown"].splitlines(keepends=True)
    texts["markdown"] = [line for line in lines if b"saved by cache and tier" not in line]
    # Not `run`: when it ran, and what it cost. Not `verdict`, with the folder of the page.
    texts["json"] = {
        name: part
        for name, part in json.loads(texts["json"]).items()
        if name not in ("run", "verdict")
    }
    return texts


def recordings(project: Project) -> list[str]:
    """Return the lines of the tape without the prices of the replies."""
    rows = map(json.loads, (project.folder / "tape.jsonl").read_text("utf-8").splitlines())
    lines = []
    for row in rows:
        row.pop("sha256", None)
        for name in PROVENANCE:
            row.get("reply", {}).pop(name, None)
        lines.append(json.dumps(row, sort_keys=True))
    return sorted(lines)


def in_jobs(project: Project) -> Report:
    while (report := project.send()).exit_code == 4:
        pass
    return report


def test_live_flex_batch_and_mixed_runs_are_equal(tmp_path: Path) -> None:
    with Provider() as provider:
        live, flex, batch, mixed = projects = [
            Project(tmp_path / name, provider.base, metrics=PAIRS + GATED, cases=2, more=MORE)
            for name in ("live", "flex", "batch", "mixed")
        ]
        reports = [live.run(), flex.run(tier="flex")]
        asked, provider.live = provider.live // 2, 0
        assert {body.get("service_tier") for body in provider.asked} == {None, "flex"}

        reports.append(in_jobs(batch))
        assert len(provider.jobs) == 3  # two judges, then the verdicts about the claims
        assert provider.live == 0
        assert len(provider.sent) == len(set(provider.sent)) == asked
        mixed.send(limit=1)
        mixed.run(tier="flex", limit=1)
        reports.append(mixed.run())
    assert {report.exit_code for report in reports} == {1}  # the gate fails, everywhere
    same_everywhere(projects, reports)


def same_everywhere(projects: list[Project], reports: list[Report]) -> None:
    """Check that runs gave the same, and that each replays on the tape of the next one."""
    tapes = [(one.folder / "tape.jsonl").read_text("utf-8") for one in projects]
    assert len(set(tapes)) > 1  # prices and tiers do differ
    first, *others = [
        (one.rows(), exports(one, report), recordings(one))
        for one, report in zip(projects, reports, strict=True)
    ]
    for other in others:
        assert other == first
    for one, tape in zip(projects, [*tapes[1:], tapes[0]], strict=True):
        (one.folder / "tape.jsonl").write_text(tape, "utf-8")
        report = one.run(record="none")
        assert report.exit_code == reports[0].exit_code
        assert (one.rows(), exports(one, report)) == first[:2]
