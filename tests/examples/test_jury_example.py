"""The example of a jury: it replays, tells its story, and its files are those of the script."""

from __future__ import annotations

import runpy
import shutil

from judgekit.analysis.agreement.agree import agree
from judgekit.analysis.comparison.compare import compare
from judgekit.suite.run import run_suite_sync
from judgekit.suite.suite import load_suite
from tests.docs.page import ROOT

EXAMPLE = ROOT / "examples" / "jury"


def test_two_judges_with_the_same_errors_outvote_the_better_one(tmp_path):
    report = run_suite_sync(load_suite(EXAMPLE / "suite.yaml"), out=tmp_path / "run")

    assert report.run["origins"] == {"tape": 102}
    assert report.run["unused"] == 0
    pairs = {pair.members: pair.figure for pair in report.metrics["solved"].opinions.pairs}
    assert max(pairs, key=pairs.get) == ("fluent", "quick")
    shutil.copytree(tmp_path / "run", tmp_path / "again")
    (metric,) = compare(tmp_path / "run", tmp_path / "again", allow_same=True).metrics
    (change,) = metric.distributions
    assert (change.criterion, change.pairs, change.distance) == ("solved", 34, 0.0)
    (found,) = agree(report, EXAMPLE / "labels.jsonl").criteria
    assert found.jury.best == "careful"
    assert 1.5 < found.jury.effective < 2.5


def test_the_files_are_those_of_the_script(tmp_path):
    cases = tmp_path / "support_assistant"
    cases.mkdir()
    shutil.copy(EXAMPLE.parent / "support_assistant" / "cases.jsonl", cases)
    (tmp_path / "jury").mkdir()
    script = shutil.copy(EXAMPLE / "simulate.py", tmp_path / "jury")

    runpy.run_path(script, run_name="__main__")

    for name in ("careful.jsonl", "fluent.jsonl", "quick.jsonl", "labels.jsonl"):
        assert (tmp_path / "jury" / name).read_bytes() == (EXAMPLE / name).read_bytes()
