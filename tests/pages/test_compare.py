"""What docs/compare.md says is so."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from judgekit.config import build_suite
from judgekit.run import replay_suite
from judgekit.yamlfile import parse_yaml

TEXT = (Path(__file__).parents[2] / "docs" / "compare.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", TEXT, re.DOTALL | re.MULTILINE)


def blocks(language):
    return [text for name, text in BLOCKS if name == language]


@pytest.mark.parametrize("text", blocks("yaml"))
def test_suite_gates(text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
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

    path = Path(__file__).parents[2] / "benchmarks" / "coverage.py"
    spec = importlib.util.spec_from_file_location("coverage_benchmark", path)
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    draw, truth = program.DISTRIBUTIONS["Beta(9, 1)"]

    (told,) = re.findall(r"^\| Beta\(9, 1\) \| 20 \| ([0-9.]+) \|", TEXT, re.MULTILINE)

    found = program.covered(draw, truth, 20, program.by_t, 2000)
    assert found == pytest.approx(float(told), abs=0.015)
