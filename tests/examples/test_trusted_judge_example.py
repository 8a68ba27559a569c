"""The example of two judges and three labellers: it tells its story, from the script's files."""

from __future__ import annotations

import runpy
import shutil

import judgekit
from judgekit.suite.run import run_suite_sync
from judgekit.suite.suite import load_suite
from tests.docs.page import ROOT

EXAMPLE = ROOT / "examples" / "trusted_judge"


def test_labels_show_what_the_mean_of_the_lenient_judge_hides(tmp_path):
    report = run_suite_sync(load_suite(EXAMPLE / "suite.yaml"), out=tmp_path / "run")

    assert report.run["origins"] == {"tape": 240}
    assert report.run["unused"] == 0
    low, _ = report.metrics["lenient"].interval
    assert low > 0.5, "half of the answers are right"
    corrected = judgekit.correct_means(tmp_path / "run", EXAMPLE / "labels.jsonl")
    for one in corrected.means:
        assert one.corrected.low < 0.5 < one.corrected.high
    careful, lenient = judgekit.agree(report, EXAMPLE / "labels.jsonl", alt_test=0.15).criteria
    assert careful.alt_test.passed
    assert not lenient.alt_test.passed


def test_the_files_are_those_of_the_script(tmp_path):
    script = shutil.copy(EXAMPLE / "simulate.py", tmp_path)

    runpy.run_path(script, run_name="__main__")

    for name in ("cases.jsonl", "careful.jsonl", "lenient.jsonl", "labels.jsonl"):
        assert (tmp_path / name).read_bytes() == (EXAMPLE / name).read_bytes()
