"""Own words: what a text says that the request does not say already."""

from __future__ import annotations

import re
from collections.abc import Set
from functools import cache
from math import fsum
from typing import NamedTuple

from judgekit.metrics.overlap.rouge import overlap
from judgekit.metrics.tokens import CJK, answer_form
from judgekit.metrics.word_data import function_words, read_words

_ENDINGS = ("ing", "ed", "es", "s", "e")
_STEM = 3
"""Number of letters that must remain before an ending, so that "red" and "bus" keep theirs."""
_FACT = 2.0
"""Weight of a word with a digit: an answer with another number is another answer."""
_COPIED = 0.1
"""Weight of a word that is in the request, as a share of its own weight."""


class Word(NamedTuple):
    """A word of a text, and its form for comparisons."""

    text: str
    form: str


def words_of(text: str) -> list[Word]:
    """Return the words of a text that carry content; all words if none does.

    Words of grammar are left out, "yes", "no" and "not" stay. Inflected forms and spelled numbers
    are equal to their plain form. Each Han or kana character is a word.

    >>> [word.form for word in words_of("The two rivers are not flooding.")]
    ['2', 'river', 'not', 'flood']
    """
    spaced = _unspaced().sub(r" \g<0> ", answer_form(text, apart=True, ignore_articles=False))
    # With `apart`, an apostrophe within a word has become a space.
    words = [Word(word, _form(word)) for word in spaced.split()]
    return [word for word in words if word.text not in _common()] or words


def own_text(output: str, request: str) -> str:
    """Return the words of an output that its request does not have; empty for an echo.

    >>> own_text("The capital of Australia is Canberra.", "What is the capital of Australia?")
    'canberra'
    """
    copied = {word.form for word in words_of(request)}
    return " ".join(word.text for word in words_of(output) if word.form not in copied)


def agreement(output: str, reference: str, *, request: str) -> float:
    """Return F1 of the words of an answer and a reference, where copied words hardly count.

    A word counts once, so repeating it makes no answer better. Words of the request keep a small
    weight, because an answer may choose among them ("Tea or coffee?").

    >>> request = "What is the capital of Australia?"
    >>> reference = "Canberra is the capital of Australia."
    >>> round(agreement("Canberra.", reference, request=request), 2)
    0.91
    >>> round(agreement("The capital of Australia is Sydney.", reference, request=request), 2)
    0.17
    """
    copied = {word.form for word in words_of(request)}
    first, second = ({word.form for word in words_of(text)} for text in (output, reference))

    def weight(forms: Set[str]) -> float:
        return fsum(_weight(form) * (_COPIED if form in copied else 1.0) for form in forms)

    return overlap(weight(first & second), weight(first), weight(second)).f


def repeats(output: str, request: str) -> bool:
    """Return whether an output is its request again: all of it, and no other word.

    >>> repeats("List three fruits.", "List three fruits!"), repeats("Tea.", "Tea or coffee?")
    (True, False)
    """
    said, asked = ({word.form for word in words_of(text)} for text in (output, request))
    return bool(asked) and said == asked


def _weight(form: str) -> float:
    return _FACT if any(char.isdigit() for char in form) else 1.0


def _form(word: str) -> str:
    number = _numbers().get(word)
    if number is not None:
        return str(number)
    if not word.isalpha():
        # "1,440" is the number 1440.
        return word.replace(",", "") if word.replace(",", "").isdigit() else word
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _STEM:
            return word[: -len(ending)]
    return word


@cache
def _unspaced() -> re.Pattern[str]:
    return re.compile(f"[{CJK}]")


@cache
def _numbers() -> dict[str, int]:
    numbers = read_words("requests/english.yaml").data["numbers"]
    # "One" is more often a pronoun than a number.
    return {word: number for word, number in numbers.items() if word != "one"}


@cache
def _common() -> frozenset[str]:
    data = read_words("requests/common_words.yaml").data
    listed = " ".join([data["common"], *(" ".join(words) for words in function_words().values())])
    pieces = listed.replace("'", " ").split()
    return frozenset(pieces) - frozenset(data["answers"].replace("'", " ").split())
