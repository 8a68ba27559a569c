"""The last line of a run says what its exit code says."""

from __future__ import annotations

import pytest

from judgekit.core.case import Case
from judgekit.core.score import Failure, Fallback, Score
from judgekit.report.report import Report
from judgekit.report.verdict import run_verdict, verdict_line
from tests.report.conftest import report_of


def rows(*values, metric="m"):
    return [(Case(id=f"c{n}"), {metric: value}) for n, value in enumerate(values)]


def scores(*values):
    return rows(*(Score(value=value) for value in values))


FALLEN = Score(value=0.1, fallback=Fallback(substitute="length", cause="no judge"))


@pytest.mark.parametrize(
    ("options", "code", "line"),
    [
        ({}, 0, "DONE: no gate, 3 cases."),
        ({"thresholds": {"m": 0.5}}, 0, "DONE: no gate, 2 of 3 cases below a threshold."),
        ({"gates": {"m": {"mean": 0.1}}}, 0, "PASS: 1 gate, 3 cases."),
        ({"gates": {"m": {"mean": 0.1, "min": 0.5}}}, 1, "FAIL: 1 of 2 gates, 3 cases."),
        (
            {"gates": {"m": {"mean": 0.9}}, "incomplete": ("2 rows failed (0 allowed)",)},
            3,
            "INCOMPLETE: 2 rows failed (0 allowed); 1 of 1 gate missed, 3 cases.",
        ),
        (
            {"incomplete": ("it\nended", "b")},
            3,
            "INCOMPLETE: it ended and 1 more reason; no gate, 3 cases.",
        ),
        (
            {"thresholds": {"m": 0.5}, "lower_is_better": ["m"]},
            0,
            "DONE: no gate, 1 of 3 cases above a threshold.",
        ),
        ({"manifest": {"gates_not_checked": ["m"]}}, 0, "DONE: 1 gate not checked, 3 cases."),
        (
            {"run": {"selected": {"shard": "1/4"}}},
            0,
            "DONE: shard 1/4, gates are checked by judgekit merge, 3 cases.",
        ),
    ],
)  # fmt: skip
def test_the_line_follows_the_exit_code(options, code, line):
    report = report_of(scores(0.2, 0.4, 0.6), **options)

    assert (report.exit_code, verdict_line(report)) == (code, line)
    assert verdict_line(report, "runs/x/report.html") == f"{line} Page: runs/x/report.html"


def test_a_count_in_the_facts_is_used_if_it_can_be_right():
    for below, shown in ((2, 2), (0, 0), (9, 1), ("2", 1), (True, 1), (-1, 1)):
        report = report_of(scores(0.2, 0.6), thresholds={"m": 0.5}, run={"below": below})
        assert f"{shown} of 2 cases below" in verdict_line(report)


def test_only_own_values_miss_a_threshold():
    report = report_of(rows(FALLEN, Failure(kind="empty", message="m")), thresholds={"m": 0.5})

    assert "0 of 2 cases below" in verdict_line(report)


@pytest.mark.parametrize(
    ("gates", "phrase"),
    [({}, "complete"), ({"mean": 0.1}, "pass"), ({"mean": 0.9}, "gate missed"),
     ({"mean": 0.9, "min": 0.1}, "1 of 2 gates missed")],
)  # fmt: skip
def test_pages_and_exports_say_it_in_a_few_words(gates, phrase):
    report = report_of(scores(0.2, 0.6), gates={"m": gates} if gates else {})

    assert run_verdict(report).phrase == phrase


def test_a_run_counts_the_cases_once(tmp_path):
    import judgekit

    cases = [judgekit.Case(id=f"c{n}", output="one two"[: 3 + 4 * n]) for n in range(2)]
    lengths = [judgekit.create_metric("length", maximum=1, name=name) for name in ("a", "b")]
    report = judgekit.evaluate_sync(cases, lengths, thresholds={"a": 1, "b": 1}, out=tmp_path / "r")

    assert report.run["below"] == Report.read(tmp_path / "r").run["below"] == 1
    assert verdict_line(report) == "DONE: no gate, 1 of 2 cases below a threshold."
