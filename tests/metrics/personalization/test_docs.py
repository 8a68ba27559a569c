"""docs/metrics/personalization.md: every file is loaded, every command and program is run."""

from __future__ import annotations

import asyncio
import contextlib
import io
import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from judgekit.catalogue import FAMILIES
from judgekit.cli.app import app
from judgekit.config import load_suite
from judgekit.run import run_suite

ROOT = Path(__file__).parents[3]
TEXT = (ROOT / "docs" / "metrics" / "personalization.md").read_text("utf-8")
BLOCKS = re.findall(r"(?:`([\w.]+)`:\n\n)?^```(\w+)\n(.*?)^```$", TEXT, re.DOTALL | re.MULTILINE)
FILES = {name: text for name, _, text in BLOCKS if name}
COMMANDS = [line for _, kind, text in BLOCKS if kind == "console" for line in text.splitlines()]


@pytest.fixture
def project(tmp_path, monkeypatch):
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, "utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_every_block_is_a_file_a_command_or_a_program():
    assert {kind for name, kind, _ in BLOCKS if not name} == {"console", "python"}
    assert sorted(FILES) == [
        "british.json", "cases.jsonl", "gsm8k.jsonl", "gsm8k.yaml", "suite.yaml", "task.yaml",
    ]  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_of_the_page_runs(project, command):
    dollar, program, *words = shlex.split(command)
    assert (dollar, program) == ("$", "judgekit")

    done = CliRunner().invoke(app, words)

    assert done.exit_code == 0, (done.output, done.exception)


def test_the_programs_of_the_page_say_what_they_do():
    for _, kind, text in BLOCKS:
        if kind == "python":
            said = io.StringIO()
            with contextlib.redirect_stdout(said):
                exec(compile(text, "personalization.md", "exec"), {})
            assert said.getvalue() == "0.5\n0.5\n"


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
