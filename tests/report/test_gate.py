from __future__ import annotations

import pytest

from judgekit.errors import ConfigError
from judgekit.report.gate import check, gates_of
from judgekit.report.summary import Tally
from judgekit.score import Score


def found(wanted, *values, higher=True, threshold=0.5):
    tally = Tally("m", range=(0.0, 1.0), higher_is_better=higher, threshold=threshold)
    for value in values:
        tally.add("c", Score(value=value))
    (gate,) = gates_of("m", wanted, threshold=threshold)
    return check(gate, tally.finish())


@pytest.mark.parametrize(
    ("wanted", "higher", "passed", "sentence"),
    [
        ({"mean": 0.5}, True, True, "m: mean 0.500 [0.000, 1.000] over 2 meets at least 0.5"),
        ({"mean": 0.6}, True, False, "m: mean 0.500 [0.000, 1.000] over 2 misses at least 0.6"),
        ({"mean": 0.4}, False, False, "m: mean 0.500 [0.000, 1.000] over 2 misses at most 0.4"),
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
    assert result.sentence.endswith("over 2 meets at least 0.5")


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
        ({"pass_rate": 0.5}, "metric 'm': a gate on pass_rate needs a threshold"),
    ],
)
def test_a_wrong_gate_is_refused(wanted, message):
    with pytest.raises(ConfigError) as caught:
        gates_of("m", wanted, threshold=None)

    assert str(caught.value) == message
