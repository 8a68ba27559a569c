from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgekit.core.canonical import (
    CONTROL_CHARACTERS,
    canonical_json,
    digest,
    digest_json,
    visible,
)

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(json_values)
def test_reading_back_gives_the_same_text(value):
    text = canonical_json(value)

    assert canonical_json(json.loads(text)) == text


@given(st.dictionaries(st.text(), st.integers(), max_size=6), st.randoms(use_true_random=False))
def test_the_order_of_keys_does_not_matter(value, random):
    items = list(value.items())
    random.shuffle(items)

    assert canonical_json(dict(items)) == canonical_json(value)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"b": 1, "a": [True, None]}, '{"a":[true,null],"b":1}'),
        ("é\u4e2d", '"é\u4e2d"'),
        ({"ä": 1.0, "a": 1}, '{"a":1,"ä":1.0}'),
        ("\u2028", '"\u2028"'),
    ],
)
def test_there_is_one_text_of_a_value(value, text):
    assert canonical_json(value) == text


@pytest.mark.parametrize("value", [math.nan, math.inf, [-math.inf]])
def test_numbers_json_has_no_word_for_are_refused(value):
    with pytest.raises(ValueError, match="not JSON compliant"):
        canonical_json(value)


def test_what_is_not_json_is_refused():
    with pytest.raises(TypeError):
        canonical_json({1, 2})


def test_digests_are_sha256_of_utf8():
    assert digest("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert digest("é") == digest("é".encode())
    assert digest_json({"b": 1, "a": 2}) == digest('{"a":2,"b":1}')


@pytest.mark.parametrize("character", ["\x00", "\x1b", "\x7f", "\x85", "\x9b", "\u2028", "\u2029"])
def test_control_characters_become_visible(character):
    assert visible(f"a{character}b") == "a\ufffdb"


@given(st.text())
def test_making_visible_keeps_length_lines_and_tabs(text):
    shown = visible(text)

    assert len(shown) == len(text)
    assert visible(shown) == shown
    assert [c for c in shown if c in "\n\t\r"] == [c for c in text if c in "\n\t\r"]


@given(st.text() | st.text("ab\t\n\r\x0b\x1f\x7f", max_size=6))
def test_looking_first_whether_there_is_anything_to_replace_changes_nothing(text):
    assert visible(text) == CONTROL_CHARACTERS.sub("\ufffd", text)


def test_every_control_character_is_seen():
    for character in map(chr, range(0x3000)):
        assert visible(character) == CONTROL_CHARACTERS.sub("\ufffd", character)
