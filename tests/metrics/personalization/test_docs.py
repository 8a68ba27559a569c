"""What docs/metrics/personalization.md says of its suites and metrics is so."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest

from judgekit.metrics.catalogue import FAMILIES
from judgekit.suite.run import run_suite
from judgekit.suite.suite import load_suite

ROOT = Path(__file__).parents[3]
TEXT = (ROOT / "docs" / "metrics" / "personalization.md").read_text("utf-8")
BLOCKS = re.findall(r"(?:`([\w.]+)`:\n\n)?^```(\w+)\n(.*?)^```$", TEXT, re.DOTALL | re.MULTILINE)
FILES = {name: text for name, _, text in BLOCKS if name}


@pytest.fixture
def project(tmp_path, monkeypatch):
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, "utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_suite_scores_what_the_page_is_about(project):
    report = asyncio.run(run_suite(load_suite("suite.yaml")))

    values = {
        row.case: row.result.value
        for scored in report.results
        for row in scored.rows
        if row.metric == "personalization"
    }
    assert values["thanks"] == 0.0
    assert values["monday"] > 0.5
    assert values["rain"] > 0.5


def test_the_task_is_half_solved(project):
    report = asyncio.run(run_suite(load_suite("task.yaml")))

    assert report.metrics["task"].mean == 0.5


def test_the_page_names_every_metric_of_the_family():
    for entry in FAMILIES["personalization"]:
        assert f"`{entry.name}`" in TEXT
