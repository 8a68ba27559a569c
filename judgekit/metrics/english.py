"""Is a text English? The sentiment lexicons know no other language."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from judgekit.metrics.word_data import read_words

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
SAMPLE = 20_000
"""Characters looked at."""


@cache
def function_words() -> dict[str, frozenset[str]]:
    """Return the small words of each language by its code."""
    words = read_words("languages/function_words.yaml").data
    return {code: frozenset(listed.split()) for code, listed in words.items()}


def count_function_words(words: Iterable[str]) -> dict[str, int]:
    """Return by language how many words are its small words."""
    listed = list(words)
    return {code: sum(word in known for word in listed) for code, known in function_words().items()}


def is_english(text: str) -> bool | None:
    """Return whether a text is English; `None` where its words do not tell.

    By its common small words, counted against those of six other languages, and by its letters:
    a text mostly in another alphabet is not English. Short texts such as "Great service!" hold
    none of the words and do not tell.

    >>> is_english("The sky is blue."), is_english("Der Himmel ist blau."), is_english("Super!")
    (True, False, None)
    """
    words = [w.lower().replace("’", "'") for w in _WORD.findall(text[:SAMPLE])]
    if not words:
        return None
    letters = "".join(words)
    if sum(letter.isascii() for letter in letters) < 0.8 * len(letters):
        return False
    counts = count_function_words(words)
    english = counts.pop("en")
    other = max(counts.values())
    if not english and not other:
        return None
    return english > other
