"""The words and patterns of wording rules, from `words.yaml`, and the analysis of reasons."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from judgekit.core.case_field import EVIDENCE
from judgekit.core.request import Question
from judgekit.core.yaml_file import package_data

_FILE = Path(__file__).with_name("words.yaml")


def word_data() -> dict[str, Any]:
    """Return the content of `words.yaml`."""
    return package_data(_FILE)


@cache
def _parts() -> dict[str, str]:
    """Return the replacement of `%name%`: a word list as alternatives, or part of a pattern."""
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
    """Return the evidence of a case, and a pattern of the English words for each field.

    A field that the list of words does not have is called by its name.
    """
    sources = dict(word_data()["fields"])
    for name in EVIDENCE:
        words = name.replace("_", r"[\s_-]")
        sources.setdefault(name, rf"\b(?:the\s+)?{words}\b")
    return {field: _compiled(source) for field, source in sources.items() if source is not None}


@cache
def _judgment_of() -> dict[str, str]:
    """Return quality -> the judgment that it needs."""
    qualities = word_data()["qualities"].items()
    return {w.replace("_", " "): name for name, words in qualities for w in words.split()}


def two_judgments(text: str) -> str | None:
    """Return the words by which an English question asks for two judgments, if any."""
    for match in pattern("joined").finditer(text):
        first, second = (" ".join(re.split(r"[\s-]+", match[n].lower())) for n in (1, 2))
        if _judgment_of().get(first) != _judgment_of().get(second):
            return match[0]
    second_clause = pattern("and_or").search(text) or pattern("two_clauses").search(text)
    return second_clause[0] if second_clause else None


def english(text: str, *, around: str = "") -> bool:
    """Return whether a text is English, by its function words.

    Args:
        text: the text.
        around: other texts of the same file; they are used for a text without function words.
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


FAR = 0.05
"""Tolerated difference between the number in a reason and the value, as a share of the scale."""
_MOST_READ = 4_000
"""Number of characters at the end of a reason to read, where the conclusion is."""


def contradiction(
    question: Question, *, value: Any, reason: str, items: Sequence[Mapping[str, Any]] = ()
) -> str | None:
    """Return a description of the contradiction between an answer and its reason, or `None`.

    Args:
        question: the question.
        value: the verdict: a number, a label, true or false; `None` for a checklist.
        reason: the reason for the verdict.
        items: the items of a checklist, each `{item, met, reason}`.
    """
    if question.kind == "checklist":
        judged = [item for item in items if isinstance(item.get("met"), bool)]
        texts = (_of_yes_no(i["met"], str(i.get("reason", ""))[-_MOST_READ:]) for i in judged)
        return next(filter(None, texts), None)
    reason = reason[:200] + "\n" + reason[200:][-_MOST_READ:] if len(reason) > 200 else reason
    if isinstance(value, bool):
        return _of_yes_no(value, reason)
    if isinstance(value, str) and question.labels:
        return _of_word(value, question.labels, reason)
    if isinstance(value, (int, float)):
        return _of_number(float(value), question, reason)
    return None


def _of_yes_no(value: bool, reason: str) -> str | None:
    if not english(reason, around="the answer is"):
        return None
    says_no, says_yes = pattern("says_no").search(reason), pattern("says_yes").search(reason)
    if value and says_no and not says_yes:
        return f"the value is true, but the reason says {_short(says_no[0])!r}"
    if not value and says_yes and not says_no:
        return f"the value is false, but the reason says {_short(says_yes[0])!r}"
    return None


def _of_word(value: str, labels: Sequence[str], reason: str) -> str | None:
    ends = {
        match.end(): label
        for label in reversed(labels)
        for match in verdict_with(label).finditer(reason)
    }
    last = ends[max(ends)] if ends else value
    if last.casefold() != value.casefold():
        return f"the value is {value!r}, but the reason says {last!r}"
    return None


def _of_number(value: float, question: Question, reason: str) -> str | None:
    numbers = [float(number) for number in pattern("number_is").findall(reason)]
    inside = [n for n in numbers if question.minimum <= n <= question.maximum]
    if not inside:
        return None
    span = question.maximum - question.minimum
    if all(abs(n - value) > FAR * span for n in inside):
        return f"the value is {value:g}, but the reason says {inside[-1]:g}"
    return None


def _short(text: str) -> str:
    return " ".join(text.split())[:60]
