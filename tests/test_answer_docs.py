"""Every block of docs/answers.md is run."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from judgekit.cli.app import app
from judgekit.config import build_suite
from judgekit.yamlfile import parse_yaml

TEXT = (Path(__file__).parents[1] / "docs" / "answers.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", TEXT, re.DOTALL | re.MULTILINE)
CASE = {
    "id": "a",
    "input": "Where is the moon tonight?",
    "reference": "Up.",
    "choices": ["Up.", "x"],
}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    (tmp_path / "cases.jsonl").write_text(json.dumps(CASE) + "\n", "utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def blocks(language):
    return [text for name, text in BLOCKS if name == language]


def test_every_kind_of_block_is_known():
    assert {name for name, _ in BLOCKS} == {"yaml", "python", "console"}


def test_the_commands_run_one_after_the_other(folder):
    commands = [line[2:] for block in blocks("console") for line in block.splitlines()]
    for command in commands:
        done = CliRunner().invoke(app, shlex.split(command)[1:])
        assert done.exit_code == 0, done.output

    assert len(commands) == 5
    assert (folder / "answered.jsonl").read_bytes() == (folder / "replayed.jsonl").read_bytes()
    compared = json.loads((folder / "compared.jsonl").read_text())
    assert compared["output"]
    assert compared["baseline"]


@pytest.mark.parametrize("text", blocks("python"))
def test_python_runs(text, folder, capsys):
    exec(text, {})

    assert "Counter({'answered': 1}) {}" in capsys.readouterr().out


@pytest.mark.parametrize("text", blocks("yaml"))
def test_a_suite_is_wired(text, folder):
    """With nothing recorded it can be built, and says what it would ask."""
    data, lines = parse_yaml(text, file="suite.yaml")

    suite = build_suite(data, base=folder, lines=lines)

    assert suite.cassette is not None
    assert suite.at_once
    assert len(list(suite.cases())) == 1
    suite.close()
