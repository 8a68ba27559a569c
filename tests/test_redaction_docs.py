"""Every block of docs/redaction.md is run."""

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

TEXT = (Path(__file__).parents[1] / "docs" / "redaction.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", TEXT, re.DOTALL | re.MULTILINE)


def blocks(language):
    return [text for name, text in BLOCKS if name == language]


def test_every_kind_of_block_is_known():
    assert {name for name, _ in BLOCKS} == {"yaml", "python", "console"}


@pytest.mark.parametrize("text", blocks("yaml"))
def test_suite_redacts(text, tmp_path, monkeypatch):
    monkeypatch.setenv("SUPPORT_SALT", "x")
    data, lines = parse_yaml(text, file="suite.yaml")

    suite = build_suite(data, base=tmp_path, lines=lines)

    assert re.search(r"\[EMAIL-[0-9a-f]{8}\]", suite.redact("ann@example.com, LM-12345"))


@pytest.mark.parametrize("text", blocks("python"))
def test_python_runs(text):
    exec(text, {})


@pytest.mark.parametrize("command", [c[2:] for b in blocks("console") for c in b.splitlines()])
def test_command_runs(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for folder in ("cassettes", "runs/support"):
        Path(folder).mkdir(parents=True)
    row = {"id": "c1", "input": "Ask help@shop.example or ann@shop.io."}
    Path("cases.jsonl").write_text(json.dumps(row) + "\n", "utf-8")
    Path("known.txt").write_text("# ours\nann@shop.io\n", "utf-8")

    done = CliRunner().invoke(app, shlex.split(command)[1:])

    assert done.exit_code == 0, done.output
    assert "nothing found" in done.output
