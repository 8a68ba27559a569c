"""Near duplicates: the estimate is near the index, and every close pair is found."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgekit.authoring.cases.similarity import (
    ALIKE,
    NearDuplicates,
    _sketch,
    likeness,
    pieces,
    share_inside,
)
from judgekit.core.case import Case

WORDS = [f"word{n}" for n in range(400)]


def text(seed, count=60):
    return " ".join(random.Random(seed).choices(WORDS, k=count))


def index(first, second):
    one, two = ({t[n : n + 5] for n in range(len(t) - 4)} for t in (first, second))
    return len(one & two) / len(one | two)


def found(texts):
    duplicates = NearDuplicates()
    for n, each in enumerate(texts):
        duplicates.add(Case(id=str(n), input=each))
    return [(pair.later, pair.earlier) for pair in duplicates.pairs()]


def test_short_texts_have_the_exact_index():
    first, second = "when is the shop open today", "when is the shop open on sunday"

    estimate = likeness(_sketch(first).tobytes(), _sketch(second).tobytes())

    assert estimate == pytest.approx(index(first, second))


def test_long_texts_have_an_estimate_near_the_index():
    errors = []
    for seed in range(40):
        first = text(seed)
        words = first.split()
        second = " ".join([*words[: seed + 10], *text(seed + 900).split()[seed + 10 :]])
        estimate = likeness(_sketch(first).tobytes(), _sketch(second).tobytes())
        errors.append(abs(estimate - index(first, second)))

    assert max(errors) < 4 * 0.045
    assert sum(errors) / len(errors) < 0.045


def test_pairs_above_the_threshold_are_found_and_others_are_not():
    originals = [text(seed) for seed in range(150)]
    close = [f"{each} again" for each in originals]
    far = [f"{each[: len(each) // 2]} {text(n + 5000, 30)}" for n, each in enumerate(originals)]

    assert found([*originals, *close]) == [(150 + n, n) for n in range(150)]
    assert found([*originals, *far]) == []


def test_case_and_punctuation_do_not_count_and_blank_texts_are_alike_to_none():
    assert found(
        ["Where is it?", "where IS it", "", "", "日本語の文章です", "日本語の文章です。"]
    ) == [
        (1, 0),
        (5, 4),
    ]


def test_a_bucket_of_copies_takes_linear_time(monkeypatch):
    compared = []
    monkeypatch.setattr(
        "judgekit.authoring.cases.similarity.likeness", lambda a, b: compared.append(a) or 1.0
    )

    assert len(found(["the same text"] * 500)) == 499
    assert len(compared) <= 2 * 500


@given(st.text(max_size=40), st.integers(1, 12))
def test_a_text_is_inside_itself(words, width):
    inside = share_inside(words, f"{words} and more", width=width)

    assert inside in (0.0, 1.0) or len(pieces(words, width=width)) > 0
    assert 0 <= inside <= 1


def test_the_threshold_is_that_of_the_documentation():
    assert ALIKE == 0.8
