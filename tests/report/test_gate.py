from __future__ import annotations

import pytest

from judgekit.core.errors import ConfigError
from judgekit.core.score import Score
from judgekit.report.gate import check, gates_of
from judgekit.report.summary import Tally


def found(wanted, *values, higher=True, threshold=0.5):
    tally = Tally("m", range=(0.0, 1.0), higher_is_better=higher, threshold=threshold)
    for value in values:
        tally.add("c", Score(value=value))
    (gate,) = gates_of("m", wanted, threshold=threshold)
    return check(gate, tally.finish())


TOO_FEW = "[too few: 2 of the 5 values that an interval needs]"
BY = "by its estimate"


@pytest.mark.parametrize(
    ("wanted", "higher", "passed", "sentence"),
    [
        ({"mean": 0.5}, True, True, f"m: mean 0.500 {TOO_FEW} over 2 meets at least 0.5 {BY}"),
        ({"mean": 0.6}, True, False, f"m: mean 0.500 {TOO_FEW} over 2 misses at least 0.6 {BY}"),
        ({"mean": 0.4}, False, False, f"m: mean 0.500 {TOO_FEW} over 2 misses at most 0.4 {BY}"),
        ({"min": 0.25}, True, True, "m: lowest score 0.250 over 2 meets at least 0.25"),
        ({"max": 0.7}, False, False, "m: highest score 0.750 over 2 misses at most 0.7"),
    ],
)
def test_a_gate_says_what_it_found_and_what_it_wanted(wanted, higher, passed, sentence):
    result = found(wanted, 0.25, 0.75, higher=higher)

    assert (result.passed, result.sentence) == (passed, sentence)


def test_a_pass_rate_is_at_least_whatever_the_direction():
    result = found({"pass_rate": 0.5}, 0.25, 0.75, higher=False)

    assert result.passed
    assert result.sentence.startswith("m: pass rate 0.500 [")
    assert result.sentence.endswith("over 2 meets at least 0.5 by its estimate")


@pytest.mark.parametrize(
    ("settings", "by", "answer", "end"),
    [
        ({}, "estimate", "meets", "meets at least 0.6 by its estimate"),
        ({"undecided": "fail"}, "interval", "undecided", "that does not pass (undecided: fail)"),
    ],
)
def test_a_gate_says_whether_the_estimate_or_its_interval_decides(settings, by, answer, end):
    result = found({"mean": 0.6, **settings}, *[0.2, 1.0, 0.8, 0.6, 0.7, 0.9])

    assert (result.by, result.answer) == (by, answer)
    assert result.sentence.endswith(end)
    sure = found({"mean": 0.6, "undecided": "fail"}, *[0.8, 0.9, 0.7] * 20)
    assert (sure.by, sure.answer) == ("interval", "meets")
    assert sure.sentence.endswith("meets at least 0.6 by its interval")


def test_a_gate_without_an_interval_cannot_tell():
    result = found({"mean": 0.6, "undecided": "fail"}, 1.0, 1.0, 1.0)

    assert (result.answer, result.passed, result.low) == ("undecided", False, None)
    assert result.too_few == "3 of the 5 values that an interval needs"


def test_the_highest_and_lowest_score_are_what_they_are():
    result = found({"min": 0.6, "undecided": "fail"}, 0.7, 1.0, 1.0)

    assert (result.answer, result.by) == ("meets", None)


@pytest.mark.parametrize("statistic", ["mean", "pass_rate", "min", "max"])
def test_a_figure_that_does_not_exist_never_passes(statistic):
    result = found({statistic: 0.0})

    assert (result.found, result.passed) == (None, False)
    assert "unknown: nothing was scored" in result.sentence


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        (
            {"avg": 0.5},
            "metric 'm': no gate on 'avg'; known: abstained, coverage, failed, fallback, max, "
            "mean, min, not_worse, pass_rate",
        ),
        ({"men": 0.5}, "metric 'm': no gate on 'men'; did you mean 'mean'?"),
        ({"pass_rate": 0.5}, "metric 'm': a gate on pass_rate needs a threshold; add one"),
    ],
)
def test_a_wrong_gate_is_refused(wanted, message):
    with pytest.raises(ConfigError) as caught:
        gates_of("m", wanted, threshold=None)

    assert str(caught.value) == message
