from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from judgekit.core.case import Case, Message, ToolCall, has_text
from judgekit.core.errors import InvalidValue

texts = st.none() | st.text()


@given(
    st.builds(
        Case,
        id=st.text(min_size=1, max_size=20),
        input=texts,
        output=texts,
        system=texts,
        reference=st.lists(st.text(), max_size=3),
        metadata=st.dictionaries(st.text(), st.integers() | st.text(), max_size=3),
    )
)
def test_a_case_survives_json(case):
    assert Case.model_validate_json(case.model_dump_json()) == case
    assert Case.model_validate_json(case.model_dump_json(exclude_defaults=True)) == case


@pytest.mark.parametrize("field", ["reference", "context", "choices"])
@pytest.mark.parametrize(
    ("given_value", "kept"),
    [("one", ("one",)), (["one", "two"], ("one", "two")), (None, ()), ([], ())],
)
def test_one_text_is_taken_where_several_are_accepted(field, given_value, kept):
    assert getattr(Case(id="c", **{field: given_value}), field) == kept


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"id": ""},
        {"id": "x" * 1001},
        {"id": 1},
        {"id": "c", "inputs": "x"},
        {"id": "c", "input": 3},
        {"id": "c", "reference": [1]},
        {"id": "c", "history": [{"role": "robot", "content": "x"}]},
        {"id": "c", "history": [{"role": "user", "text": "x"}]},
        {"id": "c", "metadata": {"x": float("nan")}},
    ],
)
def test_a_wrong_case_is_refused(data):
    with pytest.raises(ValidationError):
        Case.model_validate(data)


def test_a_case_cannot_be_changed():
    with pytest.raises(InvalidValue, match="output cannot be changed; make a copy: model_copy"):
        Case(id="c").output = "x"
    with pytest.raises(InvalidValue, match="Case: output cannot be deleted"):
        del Case(id="c").output


def test_messages_carry_tool_calls():
    message = Message(role="assistant", tool_calls=(ToolCall(name="f", arguments={"x": [1]}),))

    assert Message.model_validate_json(message.model_dump_json()) == message


@pytest.mark.parametrize(
    ("text", "said"), [(None, False), ("", False), (" \n\t\u00a0", False), (" x ", True)]
)
def test_blank_text_counts_as_missing(text, said):
    assert has_text(text) is said
