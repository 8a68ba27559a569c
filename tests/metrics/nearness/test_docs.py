"""docs/metrics/embedding.md: every file it shows is loaded, every command and program is run."""

from __future__ import annotations

import asyncio
import re
import shlex
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from judgekit.catalogue import FAMILIES
from judgekit.cli.app import app
from judgekit.config import load_suite
from judgekit.run import run_suite

ROOT = Path(__file__).parents[3]
TEXT = (ROOT / "docs" / "metrics" / "embedding.md").read_text("utf-8")
BLOCKS = re.findall(r"(?:`([\w.]+)`:\n\n)?^```(\w+)\n(.*?)^```$", TEXT, re.DOTALL | re.MULTILINE)
FILES = {name: text for name, _, text in BLOCKS if name}
COMMANDS = [line for _, kind, text in BLOCKS if kind == "console" for line in text.splitlines()]


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "tests" / "embedders"))
    import tiny_onnx

    for name, text in FILES.items():
        (tmp_path / name).write_text(text, "utf-8")
    tiny_onnx.write_folder(tmp_path / "models" / "minilm")
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    sys.modules.pop("tiny_onnx", None)


def test_every_block_is_a_file_a_command_or_a_program():
    assert sorted(kind for name, kind, _ in BLOCKS if not name) == ["console", "python"]
    assert sorted(FILES) == ["cases.jsonl", "model.yaml", "suite.yaml"]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_of_the_page_runs(project, command):
    dollar, program, *words = shlex.split(command)
    assert (dollar, program) == ("$", "judgekit")

    done = CliRunner().invoke(app, words)

    assert done.exit_code == 0, done.output


@pytest.mark.parametrize("text", [text for _, kind, text in BLOCKS if kind == "python"])
def test_a_program_of_the_page_runs(text):
    exec(compile(text, "embedding.md", "exec"), {})


def test_the_suites_of_the_page_run(project):
    for name in ("suite.yaml", "model.yaml"):
        report = asyncio.run(run_suite(load_suite(name)))

        assert not report.figures.incomplete
        assert all(figures.scored == 2 for figures in report.figures.metrics)


def test_the_page_names_every_metric_of_the_family():
    for entry in FAMILIES["embedding"]:
        assert f"`{entry.name}`" in TEXT
