"""Words and patterns from data files; the function words of a text show whether it is English."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from judgekit.core.canonical import digest
from judgekit.core.yaml_file import parse_yaml


class WordData(NamedTuple):
    """The content of a data file."""

    data: Any
    digest: str
    """SHA-256 of the text."""


def read_words(name: str) -> WordData:
    """Return a YAML file of `judgekit/metrics/data` by its path there."""
    text = files("judgekit.metrics").joinpath("data", name).read_text("utf-8")
    return WordData(parse_yaml(text, file=f"data/{name}")[0], digest(text))


def fill(pattern: str, parts: Mapping[str, str]) -> str:
    """Return a pattern with `{name}` replaced by the part of that name."""
    for name, part in parts.items():
        pattern = pattern.replace(f"{{{name}}}", part)
    return pattern


def fill_parts(parts: Mapping[str, str], **given: str) -> dict[str, str]:
    """Return parts of patterns, each filled with `given` and the parts before it."""
    filled = dict(given)
    for name, pattern in parts.items():
        filled[name] = fill(pattern, filled)
    return filled


_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
SAMPLE = 20_000
"""Number of characters to check."""


@cache
def function_words() -> dict[str, frozenset[str]]:
    """Return the function words of each language by its code."""
    words = read_words("languages/function_words.yaml").data
    return {code: frozenset(listed.split()) for code, listed in words.items()}


def count_function_words(words: Iterable[str]) -> dict[str, int]:
    """Return the number of function words for each language."""
    listed = list(words)
    return {code: sum(word in known for word in listed) for code, known in function_words().items()}


def is_english(text: str) -> bool | None:
    """Return whether a text is English; `None` if its words do not show it.

    The function counts the common function words of English and of six other languages. It also
    checks the letters: a text mostly in another alphabet is not English. A short text such as
    "Great service!" has no function words, so the result is `None`.

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
