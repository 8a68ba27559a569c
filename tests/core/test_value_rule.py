"""pydantic's errors in our words."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import pytest
from pydantic import Field, TypeAdapter, ValidationError

import judgekit
from judgekit.core.errors import InvalidValue
from judgekit.core.value_rule import value_rule


@pytest.mark.parametrize(
    ("kind", "value", "rule"),
    [
        (int, "x", "must be a whole number"),
        (int, 1.5, "must be a whole number"),
        (float, "x", "must be a number"),
        (Annotated[float, Field(le=1)], 2, "must be at most 1"),
        (Annotated[float, Field(ge=0.5)], 0, "must be at least 0.5"),
        (Annotated[int, Field(lt=1_000_000)], 1_000_000, "must be less than 1000000"),
        (bool, "x", "must be true or false"),
        (str, 1, "must be text"),
        (list[int], 1, "must be a list"),
        (dict[str, int], 1, "must be keys and values"),
        (Literal["a", "b"], "c", "must be 'a' or 'b'"),
        (Annotated[list[int], Field(min_length=1)], [], "must not be empty"),
        (Annotated[list[int], Field(min_length=2)], [1], "must have at least 2 entries"),
        (Annotated[str, Field(max_length=1)], "ab", "must have at most 1 character"),
        (None, 1, "must be null"),
        (Annotated[float, Field(allow_inf_nan=False)], float("inf"), "must be a finite number"),
    ],
)
def test_a_rule_is_in_our_words(kind: Any, value: Any, rule: str):
    with pytest.raises(ValidationError) as caught:
        TypeAdapter(kind).validate_python(value)

    assert value_rule(caught.value.errors()[0]) == rule


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: judgekit.Case(id=3), "Case: id must be text, not 3"),
        (lambda: judgekit.Case(input="x"), "Case: 'id' is missing; add id=..."),
        (lambda: judgekit.Case(id="a", outptu=""), "did you mean 'output'?"),
        (lambda: judgekit.Case(id="a", ground_truth="x"), "did you mean 'reference'?"),
        (lambda: judgekit.Case(id="a", history="hi"), "Case: history must be a list, not 'hi'"),
        (lambda: judgekit.Case(id="a", history=["x"]), "history.0 must be keys and values"),
        (lambda: judgekit.Score(value="good"), "Score: value must be a number, not 'good'"),
        (lambda: judgekit.Score(), "Score: a scored result has a value, any other has none"),
        (lambda: judgekit.Reply(text="x"), "Reply: unknown field 'text'; known: cost, "),
    ],
)  # fmt: skip
def test_a_value_made_in_python_is_refused_in_one_line(make, message):
    with pytest.raises(InvalidValue) as caught:
        make()

    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    assert isinstance(caught.value, ValueError)


def test_a_wrong_value_in_a_metric_costs_one_row():
    @judgekit.metric("odd_value")
    def odd(case):
        return judgekit.Score(value="good")

    failure = judgekit.score_sync(judgekit.Case(id="a", output="Ho"), odd)

    assert failure.kind == "metric_error"
    assert failure.message == "Score: value must be a number, not 'good'"


def test_a_wrong_value_in_a_judge_is_unavailable_with_its_line():
    async def odd(request):
        return judgekit.Reply(text="x")

    case = judgekit.Case(id="a", input="Hi", output="Ho")

    failure = judgekit.score_sync(case, "helpfulness", judge=odd)

    assert failure.kind == "unavailable"
    assert "(test_value_rule.py:" in failure.message
