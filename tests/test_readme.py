"""Every block of the README is run."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from judgekit.config import build_suite
from judgekit.rubric.load import load_rubric
from judgekit.yamlfile import parse_yaml

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)


def blocks(language: str) -> list[str]:
    return [text for name, text in BLOCKS if name == language]


def commands() -> list[str]:
    lines = [line for block in blocks("console") for line in block.splitlines()]
    assert all(line.startswith("$ ") for line in lines)
    return [line[2:] for line in lines if not line.startswith("$ make ")]


def python(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
        check=False,
    )


def test_every_kind_of_block_is_known():
    assert {name for name, _ in BLOCKS} == {"console", "yaml", "jinja", "python"}


def test_make_targets_exist():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")

    for target in re.findall(r"(?:`|\$ )make (\w+)", README):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


@pytest.mark.parametrize("command", commands())
def test_command_does_what_the_readme_says(command: str, tmp_path: Path):
    words = shlex.split(command)
    assert words[0] == "judgekit"
    words = [w.replace("runs/", f"{tmp_path}/runs/") for w in words[1:]]

    done = python("-m", "judgekit", *words)

    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()
    assert not done.stderr.strip()


@pytest.mark.parametrize("text", blocks("yaml"))
def test_suite_is_accepted(text: str, tmp_path: Path):
    data, lines = parse_yaml(text, file="README.md")

    suite = build_suite(data, base=tmp_path, lines=lines)

    assert suite.metrics
    suite.close()


@pytest.mark.parametrize("text", blocks("jinja"))
def test_rubric_loads(text: str, tmp_path: Path):
    (tmp_path / "concise_and_kind.jinja").write_text(text, encoding="utf-8")

    rubric = load_rubric(tmp_path / "concise_and_kind.jinja")

    assert [criterion.id for criterion in rubric.criteria] == ["brevity", "kindness"]


@pytest.mark.parametrize("text", blocks("python"))
def test_python_runs(text: str):
    done = python("-W", "error", "-c", text)

    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()
