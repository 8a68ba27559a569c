"""The example with criteria in the row: it replays, and its files are those of the script."""

from __future__ import annotations

import runpy
import shutil

from judgekit.analysis.comparison.compare import compare
from judgekit.suite.run import run_suite_sync
from tests.docs.page import ROOT

EXAMPLE = ROOT / "examples" / "case_criteria"


def test_groups_and_single_calls_differ_in_what_the_script_says(tmp_path):
    requests = {}
    for name in ("each", "suite"):
        report = run_suite_sync(EXAMPLE / f"{name}.yaml", out=tmp_path / name)
        requests[name] = report.run["origins"]
        assert report.exit_code == 0

    assert requests == {"each": {"tape": 26}, "suite": {"tape": 6}}
    (points,) = compare(tmp_path / "each", tmp_path / "suite", across_rubrics=True).metrics
    agreement = points.own_criteria
    assert (agreement.pairs, agreement.rose, agreement.fell) == (24, 1, 1)
    assert [move.case for move in points.worst] == ["bees"]
    assert [move.case for move in points.best] == ["notice", "sourdough"]


def test_the_files_are_those_of_the_script(tmp_path):
    shutil.copytree(EXAMPLE, tmp_path / "example")

    runpy.run_path(str(tmp_path / "example" / "simulate.py"), run_name="__main__")

    made = tmp_path / "example" / "tape.jsonl"
    assert made.read_bytes() == (EXAMPLE / "tape.jsonl").read_bytes()
