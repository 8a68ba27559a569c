from __future__ import annotations

import pytest

from judgekit.core.suggest import closest, suggest

NAMES = ["exact_match", "token_f1", "length", "tone_consistency", "tone_compliance"]


@pytest.mark.parametrize(
    ("word", "names"),
    [
        ("lenght", ["length"]),
        ("Exact-Match", ["exact_match"]),
        ("exact match", ["exact_match"]),
        ("tone", ["tone_consistency", "tone_compliance"]),
        ("f1", []),
        ("token", ["token_f1"]),
        ("", []),
        ("zebra", []),
        ("length" * 100_000, []),
    ],
)
def test_the_closest_names_are_returned(word, names):
    assert closest(word, NAMES) == names


def test_names_are_listed_where_none_is_close():
    assert suggest("x", ["b", "a", ""]) == "; known: a, b"
    assert suggest("x", []) == ""
    assert suggest(7, ["b"], otherwise="; or not") == "; or not"


def test_a_long_list_is_cut():
    names = [f"name{n:03}" for n in range(40)]

    assert suggest("x", names).endswith("name029 and 10 more")


def test_several_names_are_suggested_together():
    assert suggest("tone", NAMES) == "; did you mean 'tone_compliance' or 'tone_consistency'?"
