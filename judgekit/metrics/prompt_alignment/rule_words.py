"""The words by which a request says what its answer must be, from their data file."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from judgekit.metrics.word_data import fill, fill_parts, read_words

MASK = "\ue000"
"""Stands for each character between quotation marks, so that no rule reads what is quoted."""


class Language(NamedTuple):
    """A programming language in an answer."""

    names: tuple[str, ...]
    """What a code fence may say instead of its name."""
    line: re.Pattern[str]
    """What a line of its code looks like."""


class RuleWords(NamedTuple):
    """The data file, with its patterns compiled."""

    patterns: Mapping[str, re.Pattern[str]]
    rules: Mapping[str, Any]
    """Lists of patterns, or mappings of a kind of requirement to its list."""
    numbers: Mapping[str, int]
    languages: Mapping[str, Language]


@lru_cache(maxsize=1)
def rule_words() -> RuleWords:
    """Return the patterns; they are read and compiled once."""
    data = read_words("requests/english.yaml").data
    numbers = sorted(data["numbers"], key=len)[::-1]
    spelled = "|".join(re.escape(word).replace(r"\ ", r"\s+") for word in numbers)
    parts = fill_parts(data["parts"], number_words=spelled, mask=MASK)

    def compiled(value: Any) -> Any:
        if isinstance(value, str):
            return re.compile(fill(value, parts), re.VERBOSE | re.IGNORECASE)
        if isinstance(value, list):
            return [compiled(item) for item in value]
        return {name: compiled(item) for name, item in value.items()}

    languages = {
        name: Language((name, *entry["names"]), re.compile(entry["line"]))
        for name, entry in data["languages"].items()
    }
    patterns, rules = compiled(data["patterns"]), compiled(data["rules"])
    return RuleWords(patterns, rules, data["numbers"], languages)


def rule_pattern(name: str) -> re.Pattern[str]:
    """Return a pattern of the data file."""
    return rule_words().patterns[name]


def has_any(names: Sequence[str], text: str, end: int) -> bool:
    """Return whether one of several patterns is found before a place of a text."""
    return any(rule_pattern(name).search(text, 0, end) for name in names)


def stated(match: re.Match[str]) -> str:
    """Return the words of the request that a pattern found."""
    return " ".join(match[0].split()).strip(" ,")
