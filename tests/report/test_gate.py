from __future__ import annotations

import pytest

from judgekit.core.errors import ConfigError
from judgekit.core.score import Score
from judgekit.report.gate import SETTINGS, STATISTICS, Gate, check, gates_by_metric, gates_of
from judgekit.report.summary import Tally
from judgekit.suite.file import GateFile


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
        ({"avg": 0.5}, "metric 'm': no gate on 'avg'; did you mean 'mean'?"),
        (
            {"sum": 0.5},
            "metric 'm': no gate on 'sum'; known: abstained, constant, coverage, empty_answers, "
            "failed, fallback, left_out, max, mean, min, not_worse, pass_rate",
        ),
        ({"men": 0.5}, "metric 'm': no gate on 'men'; did you mean 'mean'?"),
        ({"pass_rate": 0.5}, "metric 'm': a gate on pass_rate needs a threshold; add one"),
    ],
)
def test_a_wrong_gate_is_refused(wanted, message):
    with pytest.raises(ConfigError) as caught:
        gates_of("m", wanted, threshold=None)

    assert str(caught.value) == message


OWN = {"kept": True}


@pytest.mark.parametrize(
    "written",
    [
        {"mean": 0.5, "failed": "5%", "abstained": 2},
        {"kept": 0.9, "coverage": 0.9},
        [{"mean": 0.5, "corrected": True}, {"pass_rate": 0.5, "where": {"topic": ["a", "b"]}}],
        {"not_worse": 0.1, "cluster": "user", "undecided": "pass"},
    ],
)
def test_gates_pass_through_unchanged(written):
    gates = gates_of("m", written, threshold=0.5, figures=OWN, undecided="fail", cluster="team")

    again = gates_of("m", gates, threshold=0.5, figures=OWN, undecided="pass", cluster="other")

    assert gates == again
    assert gates_by_metric(gates) == {"m": gates}


def test_a_gate_is_completed_like_a_mapping():
    gate = Gate(metric="m", statistic="kept", bound=0.9, where={"topic": "a"})
    settings = {"threshold": 0.5, "figures": OWN, "undecided": "fail", "cluster": "user"}

    assert gates_of("m", gate, **settings) == gates_of(
        "m", {"kept": 0.9, "where": {"topic": "a"}}, **settings
    )


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"statistic": "men"}, "no gate on 'men'; did you mean 'mean'?"),
        ({"statistic": "pass_rate"}, "a gate on pass_rate needs a threshold; add one"),
        ({"statistic": "min", "corrected": True}, "corrected applies to mean, not to min"),
        ({"statistic": "coverage", "bound": 2}, "gate on coverage: a share between 0 and 1"),
        ({"statistic": "failed", "bound": -1}, "gate on failed: must not be below 0"),
        ({"statistic": "mean", "at_most": True}, "at_most is for figures of the metric itself"),
        ({"statistic": "mean", "share": True}, "share is for abstained, failed, fallback"),
        ({"metric": "n"}, "a gate of the metric 'n'; put it under that name"),
    ],
)
def test_a_wrong_gate_value_is_refused_like_a_mapping(fields, problem):
    gate = Gate(**{"metric": "m", "statistic": "mean", "bound": 0.5, **fields})

    with pytest.raises(ConfigError) as caught:
        gates_of("m", [gate], threshold=None)

    assert str(caught.value).startswith("metric 'm': ")
    assert problem in str(caught.value)


def test_a_slice_that_no_file_can_name_is_refused_in_one_line():
    with pytest.raises(ConfigError, match=r"^metric 'm': gate on mean: where\.5[^\n]*$"):
        gates_of("m", {"mean": 0.5, "where": {5: "a"}}, threshold=None)


def test_a_list_holds_gates_only():
    with pytest.raises(ConfigError, match="by metric, or as a list of Gate"):
        gates_by_metric([{"mean": 0.5}])


def test_a_file_may_set_every_statistic():
    assert set(GateFile.model_fields) == {*STATISTICS, *SETTINGS}
