"""The words and patterns of the rules about wording, from `words.yaml`."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

from judgekit.core.yaml_file import package_data

_FILE = Path(__file__).with_name("words.yaml")


def word_data() -> dict[str, Any]:
    """Return the content of `words.yaml`."""
    return package_data(_FILE)


@cache
def _parts() -> dict[str, str]:
    """Return what `%name%` inserts: a word list as alternatives, or a part of a pattern."""
    data = word_data()
    lists = {**data["words"], "qualities": " ".join(data["qualities"].values())}
    parts = {name: "|".join(words.split()) for name, words in lists.items()}
    return {**{name: part.replace("_", r"[\s-]") for name, part in parts.items()}, **data["parts"]}


def _compiled(source: str, flags: re.RegexFlag = re.IGNORECASE) -> re.Pattern[str]:
    for name, part in _parts().items():
        source = source.replace(f"%{name}%", part)
    return re.compile(source, flags | re.VERBOSE)


@cache
def pattern(name: str) -> re.Pattern[str]:
    """Return a pattern by its name."""
    data = word_data()
    if name in data["exact"]:
        return _compiled(data["exact"][name], re.NOFLAG)
    return _compiled(data["patterns"][name])


def verdict_with(word: str) -> re.Pattern[str]:
    """Return a pattern for a sentence that gives a word as the verdict."""
    return _compiled(f"%verdict_is%{re.escape(word)}(?!\\w)")


@cache
def fields() -> dict[str, re.Pattern[str]]:
    """Return the fields of a case, and a pattern of the English words for each."""
    return {field: _compiled(source) for field, source in word_data()["fields"].items()}


@cache
def _judgment_of() -> dict[str, str]:
    """Return quality -> the judgment that it needs."""
    qualities = word_data()["qualities"].items()
    return {w.replace("_", " "): name for name, words in qualities for w in words.split()}


def two_judgments(text: str) -> str | None:
    """Return the words with which an English question asks for two judgments, if any."""
    for match in pattern("joined").finditer(text):
        first, second = (" ".join(re.split(r"[\s-]+", match[n].lower())) for n in (1, 2))
        if _judgment_of().get(first) != _judgment_of().get(second):
            return match[0]
    second_clause = pattern("and_or").search(text) or pattern("two_clauses").search(text)
    return second_clause[0] if second_clause else None


def english(text: str, *, around: str = "") -> bool:
    """Return whether a text is English, judged by its small words.

    Args:
        text: the text.
        around: other texts of the same file; they decide for a text without small words.
    """
    words = [word.lower() for word in re.findall(r"[^\W\d_]+", text)]
    if not words or 2 * sum(word.isascii() for word in words) <= len(words):
        return False
    known = sum(word in _small_words("english") for word in words)
    foreign = sum(word in _small_words("foreign") for word in words)
    if known == foreign == 0 and around:
        return english(around)
    return known > foreign


@cache
def _small_words(key: str) -> frozenset[str]:
    return frozenset(word_data()[key].split())
