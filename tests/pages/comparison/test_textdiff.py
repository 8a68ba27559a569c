"""What was taken out of a text and what was put in."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgekit.pages.comparison.textdiff import text_diff
from tests.growth import LINEAR, growth, repeated

TEXTS = st.text(st.sampled_from("ab .\n\té\u0300\u200d字👍🏽x!"), max_size=30) | st.text(
    max_size=30
)


def sides(pieces):
    before = "".join(piece.text for piece in pieces if piece.sign != "+")
    return before, "".join(piece.text for piece in pieces if piece.sign != "-")


@given(TEXTS, TEXTS)
def test_the_pieces_make_up_both_texts(before, after):
    pieces = text_diff(before, after)

    assert sides(pieces) == (before, after)
    assert all(piece.text for piece in pieces)
    signs = [piece.sign for piece in pieces]
    assert all(one != other for one, other in pairwise(signs))
    if before == after:
        assert signs == (["="] if before else [])


def said(before, after):
    marks = {"=": "{}", "-": "[-{}-]", "+": "[+{}+]"}
    return "".join(marks[piece.sign].format(piece.text) for piece in text_diff(before, after))


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("Send it today.", "Send it in May.", "Send it [-today-][+in May+]."),
        ("one two", "one  two", "one[- -][+  +]two"),
        ("Paid 12 EUR", "Paid 15 EUR", "Paid [-12 -][+15 +]EUR"),
        ("", "All new.", "[+All new.+]"),
        # A word that stands between two changes by chance does not cut them into splinters.
        (
            "The coat arrives on Monday in a box.",
            "The parcel was lost on Tuesday evening at sea.",
            "The [-coat arrives on Monday in a box-][+parcel was lost on Tuesday evening at sea+].",
        ),
        ("返品は三十日以内です", "返品は十四日以内です", "返品は[-三-]十[+四+]日以内です"),
        ("cafe\u0301 noir", "cafe noir", "[-cafe\u0301 -][+cafe +]noir"),
    ],
)
def test_changes_are_those_a_person_would_name(before, after, expected):
    assert said(before, after) == expected


def test_a_few_words_are_found_in_a_long_text():
    words = [f"w{n * 7919 % 4001}{'.' if n % 13 == 0 else ''}" for n in range(50_000)]
    before = " ".join(words)
    words[5_000], words[30_000] = "here", "there"

    pieces = text_diff(before, " ".join(words))

    assert len(before) > 250_000
    assert sum(len(piece.text) for piece in pieces if piece.sign == "+") < 200


@pytest.mark.parametrize("unit", ["a. ", "ab", "字", "\u0301"])
def test_texts_that_are_all_different_take_linear_time(unit):
    def compare(before):
        for after in (before.replace(unit, "z " + unit), before[::-1], "z" * len(before)):
            assert sides(text_diff(before, after)) == (before, after)

    assert growth(compare, repeated(unit), 25_000) < LINEAR
