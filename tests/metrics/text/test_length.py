"""Length: how words and sentences are counted, and what a length is worth."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgekit.core.case import Case
from judgekit.metrics.text.length import Length
from judgekit.metrics.tokens import count_lines, count_paragraphs, count_sentences, count_words


def score(metric, output):
    return asyncio.run(metric.score(Case(id="1", output=output)))


def value(metric, output):
    return score(metric, output).value


@pytest.mark.parametrize(
    ("options", "output", "expected"),
    [
        ({"maximum": 4}, "one two three", 1),
        ({"maximum": 4}, "one two three four five six", 0.5),
        ({"maximum": 2}, "one two three four", 0),
        ({"minimum": 4}, "one two three", 0.5),
        ({"minimum": 4}, "one two", 0),
        ({"minimum": 2, "maximum": 3}, "one two", 1),
        ({"unit": "characters", "maximum": 5}, "12345", 1),
        ({"unit": "sentences", "minimum": 2, "maximum": 2}, "One. Two!", 1),
        ({"unit": "lines", "maximum": 2}, "a\n\nb", 1),
        ({"unit": "paragraphs", "minimum": 2}, "a\nb\n \nc", 1),
    ],
)
def test_length_falls_in_a_line_outside_its_bounds(options, output, expected):
    assert value(Length(**options), output) == expected


@given(st.integers(1, 60))
def test_length_never_rises_with_the_distance_from_its_bounds(count):
    metric = Length(minimum=20, maximum=30)
    here, further = (
        value(metric, "w " * n) for n in (count, count + (1 if count >= 20 else -1) or 1)
    )

    assert further <= here


@pytest.mark.parametrize(
    ("text", "words", "sentences"),
    [
        ("Don't panic - it's 3.5 km.", 5, 1),
        ("Mr. Smith met Dr. J. Doe in the U.S. on Monday. Why?", 12, 2),
        ("1. Tea\n2. Coffee", 4, 2),
        ("A hard-wrapped line\ngoes on here.", 6, 1),
        ("彼は来た。私は寝た。", 8, 2),
        ("हिन्दी भाषा। अच्छा।", 3, 2),
        ("Wait... what?! Yes", 3, 3),
        ("— … !", 0, 0),
        ("word—word", 2, 1),
    ],
)
def test_words_and_sentences_are_counted(text, words, sentences):
    assert (count_words(text), count_sentences(text)) == (words, sentences)


def test_lines_and_paragraphs_ignore_blank_lines():
    text = "\n\na\nb\n\n\nc\n"

    assert (count_lines(text), count_paragraphs(text)) == (3, 2)
