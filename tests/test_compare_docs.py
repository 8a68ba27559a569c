"""Every block of docs/compare.md is run."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from judgekit.agreement.labels import read_labels
from judgekit.case import Case
from judgekit.cli.app import app
from judgekit.config import build_suite
from judgekit.evaluation import evaluate_sync
from judgekit.run import replay_suite
from judgekit.score import Part, Score
from judgekit.yamlfile import parse_yaml

TEXT = (Path(__file__).parents[1] / "docs" / "compare.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", TEXT, re.DOTALL | re.MULTILINE)
WORTH = {"bad": 0.0, "fair": 0.5, "good": 1.0}


def blocks(language):
    return [text for name, text in BLOCKS if name == language]


class Tone:
    name = "tone"
    range = (0.0, 1.0)
    higher_is_better = True

    async def score(self, case):
        level, polite = case.output.split()
        parts = (
            Part(id="level", value=WORTH[level], answer=level, weight=0.5),
            Part(id="polite", value=1.0, answer=polite == "polite", weight=0.5),
        )
        return Score(value=WORTH[level], parts=parts, source="judge")


@pytest.fixture(autouse=True)
def runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, shift in (("main", 0), ("pr", 1)):
        cases = [
            Case(
                id=f"c{n}",
                output=f"{list(WORTH)[(n + shift * (n % 4 == 2)) % 3]} polite",
                metadata={"user": n % 12, "topic": "refunds"},
            )
            for n in range(36)
        ]
        evaluate_sync(cases, [Tone()], thresholds={"tone": 0.5}, out=f"runs/{name}")
    Path("labels.jsonl").write_text(blocks("jsonl")[0], encoding="utf-8")


def test_every_kind_of_block_is_known():
    assert {name for name, _ in BLOCKS} == {"yaml", "python", "console", "jsonl"}


@pytest.mark.parametrize("command", [c[2:] for b in blocks("console") for c in b.splitlines()])
def test_command_runs(command):
    done = CliRunner().invoke(app, shlex.split(command)[1:])

    assert done.exit_code == 0, done.output
    assert "tone" in done.stdout


@pytest.mark.parametrize("text", blocks("python"))
def test_python_runs(text, capsys):
    exec(text, {})

    assert "tone" in capsys.readouterr().out


def test_labels_are_labels():
    labels = list(read_labels(Path("labels.jsonl")))

    assert [label.labeller for label in labels] == ["ann", "ann", "ann", "bob", "bob", "bob"]


@pytest.mark.parametrize("text", blocks("yaml"))
def test_suite_gates(text, tmp_path):
    topics = ("refunds", "returns", "shipping")
    rows = [
        {"id": f"c{n}", "output": "word " * n, "metadata": {"topic": topics[n % 3], "user": n}}
        for n in range(1, 61)
    ]
    Path("cases.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    data, lines = parse_yaml(f"cases: cases.jsonl\n{text}", file="suite.yaml")
    first = {"cases": "cases.jsonl", "metrics": {"length": {"unit": "words", "maximum": 80}}}
    replay_suite(build_suite(first, base=tmp_path), out=tmp_path / "runs" / "main")

    report = replay_suite(build_suite(data, base=tmp_path, lines=lines))

    assert report.exit_code == 0, [gate.sentence for gate in report.figures.gates]
    assert len(report.figures.gates) == 10


@pytest.mark.slow
def test_the_figures_of_coverage_are_those_of_the_program():
    """One of them drawn again, with fewer data sets: the program and the table go together."""
    import importlib.util

    path = Path(__file__).parents[1] / "benchmarks" / "coverage.py"
    spec = importlib.util.spec_from_file_location("coverage_benchmark", path)
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    draw, truth = program.DISTRIBUTIONS["Beta(9, 1)"]

    (told,) = re.findall(r"^\| Beta\(9, 1\) \| 20 \| ([0-9.]+) \|", TEXT, re.MULTILINE)

    found = program.covered(draw, truth, 20, program.by_t, 2000)
    assert found == pytest.approx(float(told), abs=0.015)
