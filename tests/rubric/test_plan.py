"""A plan holds a placeholder for each text of a case, and refuses whatever else a case has."""

from __future__ import annotations

import pytest

from judgekit.core.case import Case, Message
from judgekit.core.case_field import JUDGED
from judgekit.rubric.budget import Placeholder, Unplanned
from judgekit.rubric.plan import MessageOutline, Outline
from judgekit.rubric.variant import CaseView

FULL = Case(
    id="full",
    input="i",
    output="o",
    system="s",
    baseline="b",
    history=[Message(role="user", content="h")],
    steps=[Message(role="assistant", content="a")],
    reference=["r", ""],
    context=["c"],
    choices=["x", "y"],
    expected={"facts": ["f"]},
    parent="p",
    labels={"right": 1},
    metadata={"topic": "t"},
)


@pytest.mark.parametrize("name", Case.model_fields)
def test_an_outline_has_no_value_of_the_case(name):
    outline = Outline(FULL, FULL.history)
    if name not in JUDGED:
        with pytest.raises(AttributeError):
            getattr(outline, name)
        return
    try:
        value = getattr(outline, name)
    except Unplanned:
        assert name in ("steps", "expected", "metadata")
        return
    if name == "history":
        (message,) = value
        assert isinstance(message, MessageOutline)
        assert isinstance(message.content, Placeholder)
    else:
        every = value if isinstance(value, tuple) else (value,)
        names = [one.name if isinstance(one, Placeholder) else one for one in every]
        assert names == [name, ""] if name == "reference" else {*names} == {name}


def test_an_outline_refuses_a_field_that_it_does_not_know(monkeypatch):
    monkeypatch.setattr(CaseView, "__getattr__", lambda self, name: "text of this case")

    with pytest.raises(Unplanned):
        _ = Outline(FULL, FULL.history).draft
