"""Numbers against bounds: decimal fractions are equal to 12 digits, and nothing else is."""

from __future__ import annotations

import itertools
import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

import judgekit
from judgekit.core.comparing import above, at_least, at_most, below, mean_within
from judgekit.core.score import Part
from judgekit.metrics.opinions.vote import combined_value
from judgekit.metrics.weights import fold_parts
from judgekit.rubric.fold import WAYS, Fold, WeightedCriterion
from judgekit.suite.overrides import Overrides

TENTHS = [n / 10 for n in range(11)]


@pytest.mark.parametrize("bound", [0.3, 1.0, 0.0, 1e6, 1e-9, -2.5])
def test_a_sum_that_is_off_in_the_last_digit_is_equal(bound):
    for value in (bound, math.nextafter(bound, math.inf), math.nextafter(bound, -math.inf)):
        assert at_least(value, bound)
        assert at_most(value, bound)
        assert not above(value, bound)
        assert not below(value, bound)


@given(st.floats(-1e9, 1e9), st.floats(-1e9, 1e9))
def test_a_number_is_below_or_equal_or_above(value, bound):
    assert (
        above(value, bound)
        + below(value, bound)
        + (at_least(value, bound) and at_most(value, bound))
        == 1
    )


def test_the_ninth_digit_still_decides():
    assert below(0.3 - 1e-9, 0.3)
    assert above(0.3 + 1e-9, 0.3)


def hundredths(draw_size=4):
    """Weights in hundredths that add up to 1."""
    return (
        st.lists(st.integers(1, 97), min_size=1, max_size=draw_size)
        .map(lambda cuts: sorted({0, 100, *cuts}))
        .map(lambda cuts: [(b - a) / 100 for a, b in itertools.pairwise(cuts)])
    )


@given(hundredths(), st.sampled_from(TENTHS), st.sampled_from(list(WAYS)))
def test_criteria_that_are_all_x_give_x(weights, x, way):
    fold = Fold([WeightedCriterion(f"c{n}", "", w) for n, w in enumerate(weights)], {"": 1.0})

    value = fold([("scored", x)] * len(weights), combine=way).value

    assert value == (float(x == 1.0) if WAYS[way].exact else x)


@given(hundredths(), hundredths(2), st.sampled_from(TENTHS))
def test_criteria_in_groups_that_are_all_x_give_x(weights, groups, x):
    criteria = [
        WeightedCriterion(f"{group}{n}", str(group), weight)
        for group, _ in enumerate(groups)
        for n, weight in enumerate(weights)
    ]
    shares = {str(group): weight for group, weight in enumerate(groups)}

    assert Fold(criteria, shares)([("scored", x)] * len(criteria)).value == x


@given(hundredths(), st.sampled_from(TENTHS))
def test_parts_that_are_all_x_give_x(weights, x):
    parts = [Part(id=str(n), value=x) for n, _ in enumerate(weights)]

    assert fold_parts(parts, {str(n): w for n, w in enumerate(weights)}).value == x


@pytest.mark.parametrize("samples", range(1, 10))
def test_samples_that_are_all_x_give_x(samples):
    assert [combined_value([x] * samples) for x in TENTHS] == TENTHS


@given(st.lists(st.floats(0, 1), min_size=1, max_size=9))
def test_a_mean_stays_between_its_values(values):
    assert min(values) <= mean_within(math.fsum(values) / len(values), values) <= max(values)


def test_a_perfect_verdict_passes_a_threshold_of_1(tmp_path):
    weights = {"a": 0.4, "b": 0.3, "c": 0.2, "d": 0.1}
    criteria = {
        id: {"weight": weight, "kind": "boolean", "text": f"Is it {id}?"}
        for id, weight in weights.items()
    }
    verdict = {"case": "c1", "rubric": "mine", "answers": dict.fromkeys(weights, True)}
    (tmp_path / "v.jsonl").write_text(json.dumps(verdict) + "\n", "utf-8")
    suite = {
        "cases": [{"id": "c1", "input": "q", "output": "o"}],
        "judge": {"recorded": "v.jsonl"},
        "metrics": {
            "mine": {"criteria": criteria, "threshold": 1, "gate": {"pass_rate": 1, "mean": 1}}
        },
    }
    (tmp_path / "suite.yaml").write_text(json.dumps(suite), "utf-8")

    loaded = judgekit.load_suite(tmp_path / "suite.yaml", Overrides(record="new_episodes"))
    report = judgekit.run_suite_sync(loaded)

    assert (report.metrics["mine"].mean, report.metrics["mine"].pass_rate) == (1.0, 1.0)
    assert report.exit_code == 0
