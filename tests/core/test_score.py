from __future__ import annotations

import math
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from judgekit.core.errors import InvalidValue
from judgekit.core.score import (
    Failure,
    FailureKind,
    Fallback,
    Part,
    Row,
    Score,
    check_score,
    round_half_up,
)
from judgekit.core.value import check_json, is_json


@pytest.mark.parametrize(
    "data",
    [
        {"value": None},
        {"value": 0.5, "status": "abstained"},
        {"value": 0.5, "status": "not_applicable"},
        {"value": math.nan},
        {"value": math.inf},
        {"value": 0.5, "status": "failed"},
        {"value": 0.5, "source": "guessed"},
        {"value": 0.5, "extra": 1},
    ],
)
def test_a_score_that_contradicts_itself_is_refused(data):
    with pytest.raises(ValidationError):
        Score.model_validate(data)


@pytest.mark.parametrize("status", ["abstained", "not_applicable"])
def test_without_a_value_nothing_is_shown(status):
    score = Score(status=status)

    assert score.value is None
    assert score.shown is None


def test_the_scale_changes_what_is_shown_and_nothing_else():
    score = Score(value=0.795, scale=10)

    assert (score.value, score.shown) == (0.795, 7.95)


@pytest.mark.parametrize("kind", get_args(FailureKind))
def test_a_row_survives_json(kind):
    for result in (
        Failure(kind=kind, message="m", key="k"),
        Score(
            value=0.5,
            parts=(Part(id="a", value=0.5, weight=1.0),),
            fallback=Fallback(substitute="s", cause="c"),
        ),
    ):
        row = Row(case="c", metric="m", result=result)

        assert Row.model_validate_json(row.model_dump_json()) == row
        assert Row.model_validate_json(row.to_json()) == row


def test_the_kinds_of_failure_are_a_closed_set():
    with pytest.raises(InvalidValue, match="kind must be"):
        Failure(kind="odd", message="m")


@given(st.floats(min_value=-1e6, max_value=1e6))
def test_rounding_moves_a_number_by_half_a_hundredth_at_most(value):
    assert abs(round_half_up(value) - value) <= 0.005 + 1e-9


@given(st.floats(0, 1), st.floats(0, 1))
def test_rounding_keeps_the_order(one, other):
    low, high = sorted((one, other))

    assert round_half_up(low) <= round_half_up(high)


def test_a_line_leaves_out_defaults_but_never_the_type():
    score = Row(case="ä", metric="m", result=Score(value=0.5))
    failure = Row(case="c", metric="m", result=Failure(kind="empty", message='"'))

    assert score.to_json() == '{"case":"ä","metric":"m","result":{"type":"score","value":0.5}}'
    assert failure.to_json() == (
        '{"case":"c","metric":"m","result":{"type":"failure","kind":"empty","message":"\\""}}'
    )


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.tuples(inner)
        | st.dictionaries(st.text(max_size=2) | st.integers(), inner, max_size=3)
        | st.binary(max_size=1)
    ),
    max_leaves=8,
)


@given(st.lists(JSON, max_size=3))
def test_the_quick_look_at_values_agrees_with_the_exact_check(values):
    try:
        check_json(values, where="values")
    except ValueError:
        assert not is_json(*values)
    else:
        assert is_json(*values)


def test_details_that_hold_themselves_are_refused():
    details: dict[str, object] = {}
    details["again"] = [details]

    with pytest.raises(RecursionError):
        check_score(Score(value=0.5).model_copy(update={"details": details}), within=(0, 1))


def test_many_details_are_no_fault():
    many = Score(value=0.5, details={str(n): [n] for n in range(20_000)})

    check_score(many, within=(0, 1))
