from __future__ import annotations

import json

import pytest

from judgekit.core.case import Case
from judgekit.core.errors import ConfigError
from judgekit.core.score import Failure, Score
from judgekit.report.report import Report

ROWS = [(Case(id="a"), {"m": Score(value=0.25)}), (Case(id="b"), {"m": Score(value=0.75)})]


@pytest.fixture
def report_for(runs):
    return runs.report_of


def test_a_report_knows_its_metrics_and_results(report_for):
    report = report_for(ROWS)

    assert report.metrics["m"].mean == 0.5
    assert [scored.case.id for scored in report.results] == ["a", "b"]
    assert [scored.case.id for scored in report.results] == ["a", "b"]
    assert repr(report) == "Report(cases=2, m=0.500)"


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({}, 0),
        ({"gates": {"m": {"mean": 0.5}}}, 0),
        ({"gates": {"m": {"mean": 0.6}}}, 1),
        ({"gates": {"m": {"mean": 0.5, "min": 0.5}}}, 1),
        ({"incomplete": ("stopped",)}, 3),
        ({"incomplete": ("stopped",), "gates": {"m": {"mean": 0.6}}}, 3),
    ],
)
def test_the_exit_code_is_the_worst_there_is_to_say(report_for, options, code):
    report = report_for(ROWS, **options)

    assert report.exit_code == code
    assert report.passed is (code == 0)


def test_a_report_without_values_still_has_a_name(report_for):
    rows = [(Case(id="a"), {"m": Failure(kind="empty", message="x")})]

    assert repr(report_for(rows)) == "Report(cases=1, m=none)"


def test_a_page_needs_a_place(report_for, tmp_path):
    report = report_for(ROWS)

    with pytest.raises(ConfigError, match="say where to write the page"):
        report.to_html()
    assert report.to_html(tmp_path / "page.html").exists()


def test_a_report_reads_back(report_for, tmp_path):
    report = report_for(ROWS, gates={"m": {"mean": 0.5}}, thresholds={"m": 0.5})
    text = json.dumps(report.figures.model_dump(mode="json"))
    (tmp_path / "report.json").write_text(text, "utf-8")

    assert Report.read(tmp_path).figures == report.figures
    assert Report.read(tmp_path).run == {}


@pytest.mark.parametrize("text", ["{", "[]", "{}", '{"manifest": {}, "cases": "many"}'])
def test_what_is_no_report_is_said(tmp_path, text):
    (tmp_path / "report.json").write_text(text, "utf-8")

    with pytest.raises(ConfigError, match=r"report\.json"):
        Report.read(tmp_path)
