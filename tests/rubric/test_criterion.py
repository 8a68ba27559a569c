from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgekit.core.request import Question
from judgekit.rubric.criterion import Criterion, Level
from tests.each import each


def criterion(kind="score", *, reverse=False, levels=(), **question):
    labels = tuple(level.label for level in levels)
    asked = Question(id="c", kind=kind, text="t", labels=labels, **question)
    return Criterion(question=asked, weight=1.0, levels=levels, reverse=reverse)


LEVELS = (Level(label="good", value=1.0), Level(label="bad", value=0.25))
OPTIONS = (*LEVELS, Level(label="n/a", value=None))


@each(
    ("made", "answer", "expected"),
    [
        (criterion(), 0.3, ("scored", 0.3)),
        (criterion(minimum=1, maximum=5), 1, ("scored", 0.0)),
        (criterion(minimum=1, maximum=5), 4, ("scored", 0.75)),
        (criterion(minimum=-1, maximum=1), 0, ("scored", 0.5)),
        (criterion("boolean"), True, ("scored", 1.0)),
        (criterion("boolean"), False, ("scored", 0.0)),
        (criterion(levels=LEVELS), "bad", ("scored", 0.25)),
        (criterion("choice", levels=OPTIONS), "good", ("scored", 1.0)),
        (criterion("choice", levels=OPTIONS), "n/a", ("not_applicable", None)),
        (criterion(nullable=True), None, ("abstained", None)),
        (criterion("boolean", nullable=True), None, ("abstained", None)),
        (criterion("choice", levels=OPTIONS, nullable=True), None, ("abstained", None)),
        (criterion(reverse=True), 0.3, ("scored", 0.7)),
        (criterion("boolean", reverse=True), True, ("scored", 0.0)),
        (criterion(levels=LEVELS, reverse=True), "bad", ("scored", 0.75)),
        (criterion(minimum=0, maximum=10, reverse=True), 10, ("scored", 0.0)),
        (criterion("choice", levels=OPTIONS, reverse=True), "n/a", ("not_applicable", None)),
    ],
)
def test_an_answer_is_worth(made, answer, expected):
    status, value = made.outcome(answer, ())

    assert status == expected[0]
    assert value == (None if expected[1] is None else pytest.approx(expected[1]))


@pytest.mark.parametrize(
    ("met", "reverse", "expected"),
    [
        ([True, True, False], False, ("scored", 2 / 3)),
        ([False], False, ("scored", 0.0)),
        ([True, False, False, False], True, ("scored", 0.75)),
        ([], False, ("not_applicable", None)),
        ([], True, ("not_applicable", None)),
    ],
)
def test_a_checklist_is_worth_the_share_that_is_met(met, reverse, expected):
    items = tuple({"item": str(n), "met": m, "reason": ""} for n, m in enumerate(met))

    outcome = criterion("checklist", reverse=reverse).outcome(None, items)

    assert outcome == expected


@given(
    st.floats(min_value=-1e6, max_value=1e6),
    st.floats(min_value=1e-3, max_value=1e6),
    st.floats(min_value=0, max_value=1),
    st.booleans(),
)
def test_a_number_between_its_bounds_is_worth_0_to_1(low, span, share, reverse):
    high = low + span
    made = criterion(minimum=low, maximum=high, reverse=reverse)

    _, value = made.outcome(min(high, max(low, low + share * span)), ())

    assert 0 <= value <= 1


@pytest.mark.parametrize(("id", "group"), [("a", ""), ("user.intent", "user")])
def test_the_group_stands_before_the_dot(id, group):
    made = Criterion(question=Question(id=id, kind="score", text="t"), weight=1.0)

    assert (made.id, made.group) == (id, group)
