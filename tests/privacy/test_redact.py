from __future__ import annotations

import re
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgekit.core.case import Case, Message, ToolCall
from judgekit.core.errors import ConfigError
from judgekit.privacy.detectors import DETECTORS, pseudonym
from judgekit.privacy.redact import NAMES, RedactionRule, redact_case, redactor
from judgekit.privacy.rules import Builtin
from judgekit.suite.suite import build_suite

MAIL = RedactionRule(r"[\w.]+@[\w.]+\w", "[MAIL]")
EVERYTHING = redactor(NAMES)


def test_rules_apply_in_order():
    redact = redactor([RedactionRule("secret", "key"), RedactionRule("key", "[X]")])

    assert redact("a secret key") == "a [X] [X]"


def test_a_replacement_is_plain_text():
    assert redactor([RedactionRule("(a)(b)", r"\2\1 \g<9>")])("ab") == r"\2\1 \g<9>"


def test_one_thing_has_one_pseudonym_however_it_is_written():
    redact = redactor(NAMES)

    for spellings in (
        ("ann@example.com", "Ann@Example.COM"),
        ("4111111111111111", "4111 1111 1111 1111", "4111-1111-1111-1111"),
        ("+49 151 1234567", "+491511234567", "0049 151-1234567"),
        ("2001:db8::1", "2001:0DB8:0:0:0:0:0:1"),
    ):
        assert len({redact(f"see {spelling}, please") for spelling in spellings}) == 1


def test_pseudonyms_are_the_same_in_every_version():
    # They are part of every key: another digest here means that no tape is found any more.
    said = "ann@example.com 4111111111111111 +491511234567 203.0.113.9 sk-canary-1234567890abcdef"

    assert EVERYTHING(said) == (
        "[EMAIL-c9ff82c0] [CARD-b88759d6] [PHONE-77b7b3a6] [IP-62970c79] [KEY-e0a9d2db]"
    )


def test_a_salt_changes_every_pseudonym():
    one, other = (redactor(["email"], salt=salt)("ann@example.com") for salt in ("a", "b"))

    assert len({one, other, EVERYTHING("ann@example.com")}) == 3


def test_a_name_gives_a_pattern_of_ones_own_pseudonyms():
    redact = redactor([RedactionRule(r"LM-\d+", name="order")])

    one, two, again = redact("LM-1 LM-2 LM-1").split()
    assert one == again != two
    assert re.fullmatch(r"\[ORDER-[0-9a-f]{8}\]", one)


def test_pseudonyms_are_left_alone_by_later_rules():
    redact = redactor(
        ["email", RedactionRule(r"LM-\d+", name="ORDER"), RedactionRule("[0-9a-f]", "x")]
    )

    mail, order = pseudonym("EMAIL", "ann@example.com"), pseudonym("ORDER", "LM-1")

    assert redact("ann@example.com has LM-1, or 7") == f"{mail} hxs {order}, or x"


def test_a_function_is_a_rule():
    assert redactor(["email", str.upper])("x ann@example.com") == (
        f"X {pseudonym('EMAIL', 'ann@example.com').upper()}"
    )


PIECES = [
    "ann@example.com", "4111 1111 1111 1111", "5500000000000004", "+49 151 1234567", "555-123-4567",
    "203.0.113.9", "2001:db8::1", "sk-canary-1234567890abcdef", "password=hunter2x9y7",
    "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----", "tel: ", "phone", " 5550143", "://u:",
    "1", "12", ".", "-", " ", ":", "@", "a", "x.io", "\n", "(", ")", "/", "+", "=", "é", "]", "[",
    "[EMAIL-c9ff82c0]", "[PHONE-12345678]", "key: ", "Bearer ", "0151 23456789", ",", "_",
]  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=14).map("".join))
@settings(max_examples=300, deadline=None)
def test_redacting_again_changes_nothing(text):
    once = EVERYTHING(text)

    assert EVERYTHING(once) == once


@given(st.lists(st.sampled_from(PIECES), max_size=8), st.lists(st.sampled_from(PIECES), max_size=8))
@settings(max_examples=150, deadline=None)
def test_what_stands_alone_never_survives(before, after):
    for secret in ("ann@example.com", "4111111111111111", "sk-canary-1234567890abcdef"):
        text = f"{''.join(before)}\n\n{secret}\n\n{''.join(after)}"

        assert f"\n{secret}\n" not in EVERYTHING(text)


@pytest.mark.thorough
def test_a_long_text_is_redacted_with_what_is_in_it():
    text = "Nothing to see in this line of prose, which is of a usual length.\n" * 8_000
    redacted = EVERYTHING(f"ann@example.com {text} 203.0.113.9")

    assert redacted == f"[EMAIL-c9ff82c0] {text} [IP-62970c79]"


def full_case(text):
    return Case(
        id=text,
        input=text,
        output=f"Write to {text}.",
        system=text,
        history=(
            Message(
                role="user",
                content=text,
                name=text,
                tool_calls=(ToolCall(name=text, id=text, arguments={"to": [text, 1, None]}),),
            ),
        ),
        reference=(text,),
        context=(text, "x"),
        baseline=text,
        choices=(text,),
        expected={"facts": [text], text: 1},
        parent=text,
        labels={"by": text},
        metadata={"deep": {"er": [text], "role": text}, "n": 1.5, "yes": True, text: 1},
    )


def test_every_text_of_a_case_is_redacted_and_its_shape_kept():
    redacted = redact_case(full_case("ann@example.com"), redactor([MAIL]))

    assert "@" not in redacted.model_dump_json()
    assert redacted.output == "Write to [MAIL]."
    assert redacted.history[0].tool_calls[0].arguments == {"to": ["[MAIL]", 1, None]}
    assert redacted.metadata == {
        "deep": {"er": ["[MAIL]"], "role": "[MAIL]"}, "n": 1.5, "yes": True, "[MAIL]": 1
    }  # fmt: skip


@pytest.mark.parametrize(
    ("name", "thing"),
    [
        ("email", "ann@example.com"), ("card", "4111111111111111"), ("phone", "+491511234567"),
        ("ip", "203.0.113.9"), ("key", "sk-canary-1234567890abcdef"),
    ],
)  # fmt: skip
def test_every_kind_is_redacted_everywhere(name, thing):
    redacted = redact_case(full_case(thing), redactor([name]))

    assert thing not in redacted.model_dump_json()
    assert redact_case(redacted, redactor([name])) == redacted


def test_cases_with_different_ids_keep_different_ids():
    ids = [redact_case(Case(id=f"{n}@example.com"), EVERYTHING).id for n in range(50)]

    assert len(set(ids)) == 50


def test_a_number_that_is_a_card_is_redacted_as_one():
    case = Case(id="c", metadata={"card": 4111111111111111, "n": 12, "yes": True})

    assert redact_case(case, EVERYTHING).metadata == {
        "card": pseudonym("CARD", "4111111111111111"), "n": 12, "yes": True
    }  # fmt: skip


def test_our_own_words_are_no_text_to_redact():
    message = Message(role="user", content="the user", tool_calls=(ToolCall(name="name"),))

    redacted = redact_case(
        Case(id="c", history=(message,)), redactor([RedactionRule("user|name|content")])
    )

    assert redacted.history == (
        Message(role="user", content="the [REDACTED]", tool_calls=(ToolCall(name="[REDACTED]"),)),
    )


def test_keys_that_look_the_same_once_redacted_are_both_kept():
    case = Case(id="c", metadata={"a@example.com": 1, "b@example.com": 2})

    assert sorted(redact_case(case, redactor([MAIL])).metadata.values()) == [1, 2]


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (RedactionRule("("), r"redact: '\(' is not a regular expression"),
        (RedactionRule("x*"), r"redact: 'x\*' also matches the empty text"),
        (RedactionRule("x", name="an order"), "redact: 'an order' is not a name"),
        ("e-mail", r"redact: 'e-mail' is unknown; did you mean 'email'\?"),
        ("xyz", "redact: 'xyz' is unknown; use key, email, iban, "),
    ],
)
def test_a_wrong_rule_is_refused(rule, message):
    with pytest.raises(ConfigError, match=message):
        redactor([rule])


# -- in a suite --------------------------------------------------------------------


def suite_with(tmp_path, redact, **more):
    return build_suite(
        {"metrics": {"length": {"maximum": 9}}, "redact": redact, **more}, base=tmp_path
    )


def test_a_suite_names_what_is_built_in(tmp_path):
    suite = suite_with(
        tmp_path, ["email", "phone", {"pattern": r"LM-\d+", "name": "ORDER"}, r"\d+"]
    )

    assert suite.redact("ann@example.com, LM-1, 12, 203.0.113.9") == (
        f"[EMAIL-c9ff82c0], {pseudonym('ORDER', 'LM-1')}, [REDACTED], "
        "[REDACTED].[REDACTED].[REDACTED].[REDACTED]"
    )


def test_the_salt_of_a_suite_comes_from_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("A_SALT", "grain")

    suite = suite_with(tmp_path, ["email"], redact_salt_env="A_SALT")

    assert suite.redact("ann@example.com") == pseudonym("EMAIL", "ann@example.com", b"grain")
    assert "grain" not in str(suite.manifest())


def test_a_suite_redacts_every_kind_that_there_is(tmp_path):
    suite = suite_with(tmp_path, list(DETECTORS))

    assert set(get_args(Builtin)) == set(DETECTORS)
    assert "[IBAN-" in suite.redact("Pay DE89 3704 0044 0532 0130 00.")


@pytest.mark.parametrize(
    ("redact", "message"),
    [
        (["emial"], "unknown built-in rule 'emial'; did you mean 'email'?"),
        ([{"find": "email", "replace": "x"}], "'email' is built in and takes no other key"),
        ([{"replace": "x"}], "give either find or pattern"),
        ([{"pattern": "x", "replace": "y", "name": "Z"}], "give replace or name, not both"),
        ([{"pattern": "x", "name": "a b"}], "redact: 'a b' is not a name; use up to 40 letters"),
        (["email", "("], r"redact: '\(' is not a regular expression"),
    ],
)
def test_a_wrong_rule_of_a_suite_is_refused(tmp_path, redact, message):
    with pytest.raises(ConfigError, match=re.escape(message) if "\\" not in message else message):
        suite_with(tmp_path, redact)


def test_a_salt_that_is_not_there_stops_the_run(tmp_path):
    with pytest.raises(ConfigError, match="NO_SUCH_SALT is not set in the environment"):
        suite_with(tmp_path, ["email"], redact_salt_env="NO_SUCH_SALT")
