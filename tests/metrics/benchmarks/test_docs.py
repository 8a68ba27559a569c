"""What docs/metrics/benchmarks.md says of its suites and metrics is so."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
from pathlib import Path

import pytest

from judgekit.metrics.catalogue import FAMILIES
from judgekit.suite.run import run_suite
from judgekit.suite.suite import load_suite

ROOT = Path(__file__).parents[3]
TEXT = (ROOT / "docs" / "metrics" / "benchmarks.md").read_text("utf-8")
BLOCKS = re.findall(r"(?:`([\w.]+)`:\n\n)?^```(\w+)\n(.*?)^```$", TEXT, re.DOTALL | re.MULTILINE)
FILES = {name: text for name, _, text in BLOCKS if name}


@pytest.fixture
def project(tmp_path, monkeypatch):
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, "utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("name", "mean"), [("suite.yaml", 0.75), ("math.yaml", 1.0), ("code.yaml", 1.0)]
)
def test_the_suites_of_the_page_give_what_it_says(project, name, mean):
    if name == "code.yaml" and not shutil.which("bwrap"):
        pytest.skip("NOT TESTED: the sandbox needs bubblewrap (apt-get install bubblewrap)")

    report = asyncio.run(run_suite(load_suite(name), out=project / "out"))

    assert not report.figures.incomplete
    assert report.figures.metrics[0].mean == mean


def test_the_case_without_an_answer_is_told_apart(project):
    asyncio.run(run_suite(load_suite("suite.yaml"), out=project / "out"))

    lines = (project / "out" / "results.jsonl").read_text("utf-8").splitlines()
    rows = [row for row in map(json.loads, lines) if row.get("metric") == "generation"]
    said = {row["case"]: row["result"]["details"]["outcome"] for row in rows}
    assert said == {
        "roots": "matched", "capital": "matched", "prime": "matched", "shy": "no_answer",
    }  # fmt: skip


def test_the_page_names_every_metric_of_the_family():
    for entry in FAMILIES["benchmarks"]:
        assert f"`{entry.name}`" in TEXT
