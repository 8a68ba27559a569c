"""What docs/intervals.md says is so."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "intervals.md").read_text(encoding="utf-8")


def program():
    path = ROOT / "benchmarks" / "coverage.py"
    spec = importlib.util.spec_from_file_location("coverage_benchmark", path)
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


def test_the_grid_is_that_of_the_program():
    """One cell of two tables drawn again, with fewer data sets."""
    coverage, source = program(), np.random.default_rng(1)
    sets = coverage.KINDS["Beta, a + b = 10"](source, 0.8, (1000, 20))
    mean = coverage.cell(coverage.plain(sets), 0.8, promised=True)
    totals = coverage.passed(source, 0.5, [40, *[2] * 9], 0.1, 1000)
    clustered = coverage.cell(coverage.clustered(totals, [40, *[2] * 9]), 0.5, promised=True)

    row, _ = re.findall(r"^\| Beta, a \+ b = 10, mean 0\.8 \|(.*)\|$", TEXT, re.MULTILINE)
    [unequal] = re.findall(r"^\| 40 and 9 of 2, correlation 0\.1 \|(.*)\|$", TEXT, re.MULTILINE)
    assert row.split("|")[0].strip() == "too few"  # n = 3
    assert mean.covered == pytest.approx(float(row.split("|")[3]), abs=0.03)
    assert clustered.covered == pytest.approx(float(unequal.split("|")[2]), abs=0.03)


def test_every_cell_with_a_promise_keeps_it_and_few_are_too_few():
    told = TEXT.split("### What it comes to")[1].splitlines()
    lines = [line for line in told if line.startswith("|")][2:]
    rows = [[cell.strip() for cell in line.strip("| ").split("|")] for line in lines]
    tables = [row for row in rows if row[0] != "all"]

    assert {"Means of scores", "Pass rates", "Differences of pairs"} <= {row[0] for row in tables}
    for name, _, _, bar, lowest, below in tables:
        assert float(lowest) >= float(bar), name
        assert below.startswith("0 of "), name
    [every] = [row for row in rows if row[0] == "all"]
    assert int(every[2].split()[0]) <= int(every[1]) / 5
