"""Figures in the form people read them in."""

from __future__ import annotations

from judgekit.core.score import Score
from judgekit.report.spread import shown_figures
from judgekit.report.summary import Tally

SPREAD = {
    "bootstrap_low": 0.79,
    "bootstrap_high": 0.87,
    "bootstrap_margin": 0.04,
    "lowest": 0.5,
    "highest": 0.95,
    "sd_ddof_1": 0.02,
    "variance_ddof_1": 0.0004,
}


def summary(figures, *, value=0.83, scale=1.0):
    tally = Tally("voice", range=(0.0, 1.0), higher_is_better=True, threshold=None)
    tally.add("a", Score(value=value, scale=scale))
    return tally.finish().model_copy(update={"figures": figures})


def test_an_interval_by_session_is_one_figure():
    assert shown_figures(summary(SPREAD)) == {
        "by session": "0.83 ± 0.04, [0.79, 0.87]",
        "range": "0.50 to 0.95",
        "sd (ddof 1)": "0.020",
        "variance (ddof 1)": "0.0004",
    }


def test_it_speaks_in_the_shown_scale():
    shown = shown_figures(summary(SPREAD, scale=10.0))

    assert shown["by session"] == "8.30 ± 0.40, [7.90, 8.70]"
    assert shown["variance (ddof 1)"] == "0.0400"


def test_one_session_has_a_range_and_nothing_scored_has_nothing():
    one = dict.fromkeys(SPREAD) | {"lowest": 0.5, "highest": 0.5}

    assert shown_figures(summary(one)) == {"range": "0.50 to 0.50"}
    assert shown_figures(summary(dict.fromkeys(SPREAD))) == {}


def test_grades_are_one_figure_and_others_stay_as_they_are():
    figures = {"grade_A": 2, "grade_B": 0, "grade_F": 1, "safety_rate": 0.75, "other": None}

    assert shown_figures(summary(figures)) == {
        "safety rate": "0.75", "other": "-", "grades": "A 2, F 1",
    }  # fmt: skip
