from __future__ import annotations

import pytest

from judgekit.metrics.brand_voice.phrases import Phrases, plain
from tests.growth import LINEAR, growth, repeated


def used(entries, text):
    return Phrases(entries).used(plain(text))


@pytest.mark.parametrize(
    ("entry", "text"),
    [
        ("signal", "A SIGNAL."),
        ("signal", "signal's strength"),
        ("crushing it", "We're crushing\n  it!"),
        ("don't", "I don’t know"),
        ("lol", "'lol'"),
        ("up", "a follow-up"),
        ("承知", "承知しました。"),
        ("🔥", "hot🔥stuff"),
        ("naïve", "nai\u0308ve"),
        ("C++", "we write C++."),
        ("Straße", "STRASSE"),
    ],
)
def test_a_whole_word_or_phrase_is_found(entry, text):
    assert used([entry], text) == {entry: 1}


@pytest.mark.parametrize(
    ("entry", "text"),
    [
        ("hate", "whatever"),
        ("can", "we can't"),
        ("lol", "lollipop"),
        ("crushing it", "crushing item"),
        ("it", "bit by bit, items"),
        ("signal", "signals"),
        ("art", "art_work"),
        ("re", "we're"),
    ],
)
def test_part_of_a_word_is_not(entry, text):
    assert used([entry], text) == {}


def test_each_is_counted_and_kept_as_written_once():
    words = Phrases(["Signal", "signal", " Signal "])

    assert len(words) == 1
    assert words.used(plain("signal SIGNAL")) == {"Signal": 2}


@pytest.mark.parametrize("unit", ["a", "a ", "a'", "é\u0301"])
def test_a_long_text_takes_linear_time(unit):
    words = Phrases(["a b", "aa", "ab", "'a", "b'"])

    assert growth(lambda text: words.used(plain(text)), repeated(unit), 100_000) < LINEAR
