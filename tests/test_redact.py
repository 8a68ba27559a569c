from __future__ import annotations

import pytest

from judgekit.case import Case, Message, ToolCall
from judgekit.errors import ConfigError
from judgekit.redact import Rule, redact_case, redactor

MAIL = Rule(r"[\w.]+@[\w.]+\w", "[MAIL]")


def test_rules_apply_in_order():
    redact = redactor([Rule("secret", "key"), Rule("key", "[X]")])

    assert redact("a secret key") == "a [X] [X]"


def test_a_replacement_is_plain_text():
    assert redactor([Rule("(a)(b)", r"\2\1 \g<9>")])("ab") == r"\2\1 \g<9>"


def test_every_text_of_a_case_is_redacted_and_its_shape_kept():
    address = "ann@example.com"
    case = Case(
        id=address,
        input=address,
        output=f"Write to {address}.",
        system=address,
        history=(
            Message(
                role="user",
                content=address,
                tool_calls=(ToolCall(name="mail", arguments={"to": [address, 1, None]}),),
            ),
        ),
        reference=(address,),
        context=(address, "x"),
        baseline=address,
        choices=(address,),
        expected={"facts": [address]},
        parent=address,
        labels={"by": address},
        metadata={"deep": {"er": [address]}, "n": 1.5, "yes": True},
    )

    redacted = redact_case(case, redactor([MAIL]))

    assert "@" not in redacted.model_dump_json()
    assert redacted.output == "Write to [MAIL]."
    assert redacted.history[0].tool_calls[0].arguments == {"to": ["[MAIL]", 1, None]}
    assert redacted.metadata == {"deep": {"er": ["[MAIL]"]}, "n": 1.5, "yes": True}


def test_the_role_of_a_message_is_no_text_to_redact():
    case = Case(id="c", history=(Message(role="user", content="the user"),))

    redacted = redact_case(case, redactor([Rule("user", "[X]")]))

    assert redacted.history == (Message(role="user", content="the [X]"),)


def test_a_pattern_that_is_none_is_refused():
    with pytest.raises(ConfigError, match=r"redact: '\(' is not a regular expression"):
        redactor([Rule("(")])


def test_keys_of_metadata_are_redacted_too():
    case = Case(id="c", metadata={"ann@example.com": 1}, expected={"ann@example.com": 1})

    assert "@" not in redact_case(case, redactor([MAIL])).model_dump_json()
