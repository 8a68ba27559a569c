"""What docs/compare.md says is so."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

TEXT = (Path(__file__).parents[2] / "docs" / "compare.md").read_text(encoding="utf-8")


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
