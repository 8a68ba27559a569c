"""Figures in the form people read them in."""

from __future__ import annotations

from judgekit.core.score import Score
from judgekit.report.summary import Tally
from judgekit.report.text import shown_figures

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


def test_a_figure_of_another_metric_may_have_the_name_of_one_by_session():
    figures = {"bootstrap_margin": 0.04, "other": 1}

    assert shown_figures(summary(figures)) == {"bootstrap margin": "0.04", "other": "1"}


def test_grades_are_one_figure_and_others_stay_as_they_are():
    figures = {"grade_A": 2, "grade_B": 0, "grade_F": 1, "safety_rate": 0.75, "other": None}

    assert shown_figures(summary(figures)) == {
        "safety rate": "0.75", "other": "-", "grades": "A 2, F 1",
    }  # fmt: skip


PAIRS = {
    "positional_consistency": 0.625,
    "first_position_rate": 0.7,
    "first_position_low": 0.58,
    "first_position_high": 0.79,
    "tie_rate": 0.42,
    "length_controlled_win_rate": 0.72,
    "length_separated": 0,
    "verified_quotes": 1.0,
}


def test_figures_of_pairs_are_four_sentences():
    assert shown_figures(summary(PAIRS)) == {
        "both orders agree": "0.62",
        "answer shown first preferred (pairs that agree: 0.5)": "0.70 [0.58, 0.79]",
        "no winner (ties, or the orders disagree)": "0.42",
        "win rate at equal length": "0.72",
        "verified quotes": "1",
    }
    ends = {**PAIRS, "length_controlled_low": 0.61, "length_controlled_high": 0.83}
    assert shown_figures(summary(ends))["win rate at equal length"] == "0.72 [0.61, 0.83]"
    split = {"disagreeing_first_rate": 0.9, "disagreeing_first_low": 0.8,
             "disagreeing_first_high": 0.95}  # fmt: skip
    named = shown_figures(summary({**PAIRS, **split}))
    assert named["answer shown first preferred where the orders disagree"] == "0.90 [0.80, 0.95]"
    few = {**PAIRS, "first_position_low": None, "first_position_high": None}
    assert (
        shown_figures(summary(few))["answer shown first preferred (pairs that agree: 0.5)"]
        == "0.70"
    )


def test_separation_is_said_in_words():
    separated = {**PAIRS, "length_controlled_win_rate": None, "length_separated": 1}

    shown = shown_figures(summary(separated))

    assert shown["win rate at equal length"] == "none (length alone would explain every outcome)"
    one_sided = {**separated, "length_separated": 0, "length_one_sided": 1}
    why = "none (too few cases where the other side is longer)"
    assert shown_figures(summary(one_sided))["win rate at equal length"] == why
    assert shown_figures(summary(dict.fromkeys(PAIRS) | {"verified_quotes": 1.0})) == {
        "verified quotes": "1"
    }
