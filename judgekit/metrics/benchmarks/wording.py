"""The words in which answers are stated, from their data file."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from importlib.resources import files
from typing import Any, NamedTuple

from judgekit.canonical import digest
from judgekit.yamlfile import parse_yaml

_FILE = "data/benchmarks/answers.yaml"


class Wording(NamedTuple):
    """The phrases, compiled."""

    marker: re.Pattern[str]
    """What an answer is stated after."""
    negation: re.Pattern[str]
    choice_word: str
    """Alternatives for the inside of a pattern."""
    ordinal: dict[str, int]
    """Number word -> place, from 0."""
    after_letter: re.Pattern[str]
    yes_no: dict[str, str]
    """Word -> "yes" or "no"."""
    digest: str


@lru_cache(maxsize=1)
def wording() -> Wording:
    """Return the phrases; they are read once."""
    text = files("judgekit").joinpath(_FILE).read_text(encoding="utf-8")
    data: Any = parse_yaml(text, file=_FILE)[0]
    signs = [word for word in data["copulas"] if not word[0].isalpha()]
    verbs = [word for word in data["copulas"] if word[0].isalpha()]
    said = rf"(?:(?:{_any(verbs)})\b|[{re.escape(''.join(signs))}])"
    noun = (
        rf"(?:{_any(data['nouns'])})[*_]*(?: (?:{_any(data['between'])})\b[^.\n:=?!]{{0,60}}?)?"
        rf"\s*{said}"
    )
    # "#### 42" ends the worked answers of GSM8K.
    marker = rf"(?:\b(?:{noun}|(?:{_any(data['phrases'])})\b)|^[ \t]*####)\s*[:=]?"
    ordinal = {word: place for place, row in enumerate(data["ordinals"]) for word in row}
    return Wording(
        marker=re.compile(marker, re.IGNORECASE | re.MULTILINE),
        negation=re.compile(rf"\s*(?:{_any(data['negations'])})\b", re.IGNORECASE),
        choice_word=_any(data["choice_words"]),
        ordinal=ordinal,
        after_letter=re.compile(rf"\s*(?:{_any(data['after_letter'])})(?!\w)", re.IGNORECASE),
        yes_no={word: answer for answer in ("yes", "no") for word in data[answer]},
        digest=digest(text),
    )


def _any(words: Iterable[str]) -> str:
    return "|".join(
        re.escape(word).replace(r"\ ", r"\s").replace("'", "['’]")
        for word in sorted(words, key=lambda word: (-len(word), word))
    )
