"""docs/metrics/benchmarks.md: every file it shows is loaded, every command is run."""

from __future__ import annotations

import asyncio
import json
import re
import shlex
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from judgekit.catalogue import FAMILIES
from judgekit.cli.app import app
from judgekit.config import load_suite
from judgekit.run import run_suite

ROOT = Path(__file__).parents[3]
TEXT = (ROOT / "docs" / "metrics" / "benchmarks.md").read_text("utf-8")
BLOCKS = re.findall(r"(?:`([\w.]+)`:\n\n)?^```(\w+)\n(.*?)^```$", TEXT, re.DOTALL | re.MULTILINE)
FILES = {name: text for name, _, text in BLOCKS if name}
COMMANDS = [line for _, kind, text in BLOCKS if kind == "console" for line in text.splitlines()]


@pytest.fixture
def project(tmp_path, monkeypatch):
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, "utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_every_block_is_a_file_or_a_command():
    assert [kind for name, kind, _ in BLOCKS if not name] == ["console"]
    assert sorted(FILES) == [
        "cases.jsonl", "code.jsonl", "code.yaml", "math.jsonl", "math.yaml", "suite.yaml",
    ]  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_of_the_page_runs(project, command):
    dollar, program, *words = shlex.split(command)
    assert (dollar, program) == ("$", "judgekit")

    done = CliRunner().invoke(app, words)

    assert done.exit_code == 0, done.output


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
