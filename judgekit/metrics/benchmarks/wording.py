"""The words in which answers are stated, from their data file."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any, NamedTuple

from judgekit.metrics.word_data import read_words

_CLOSING = r"[)\]*_\"'”’]{0,3}\s{0,3}"


class Wording(NamedTuple):
    """The phrases, compiled. Every repeat is bounded, so that a search is linear in the text."""

    marker: re.Pattern[str]
    """What an answer is stated after."""
    negation: re.Pattern[str]
    choice_word: str
    """Alternatives for the inside of a pattern."""
    ordinal: dict[str, int]
    """Number word -> place, from 0."""
    after_letter: re.Pattern[str]
    rejects_before: re.Pattern[str]
    """Matches at the end of what precedes a rejected number."""
    rejects_choice_before: re.Pattern[str]
    """The same for choices."""
    rejects_after: re.Pattern[str]
    """Matches at the beginning of what follows something rejected."""
    affirms_after: re.Pattern[str]
    """Matches at the beginning of what follows something called the answer."""
    correction: re.Pattern[str]
    contrast: re.Pattern[str]
    hedge: re.Pattern[str]
    filler: re.Pattern[str]
    """Words that may stand between a correction and the answer."""
    joint: re.Pattern[str]
    """Matches all of what stands between two coordinated mentions: "A or B"."""
    doubt: re.Pattern[str]
    """Finds any word by which a mention may be rejected or taken back."""
    yes_no: dict[str, str]
    """Word of a reference -> "yes" or "no"."""
    polarity: Polarity
    digest: str


class Polarity(NamedTuple):
    """The words by which an output says yes or no."""

    words: dict[str, str]
    """Word -> "yes" or "no"."""
    phrases: dict[str, str]
    texts: dict[str, str]
    assurances: re.Pattern[str]
    """Words that say yes when nothing else is said."""
    boosters: re.Pattern[str]
    """These, and words that change nothing."""
    leads: re.Pattern[str]
    verdict: re.Pattern[str]
    """A word that calls something right or wrong."""
    statement: re.Pattern[str]
    """A sentence that calls something right or wrong."""


@lru_cache(maxsize=1)
def wording() -> Wording:
    """Return the phrases; they are read once."""
    data, digest = read_words("benchmarks/answers.yaml")
    signs = [word for word in data["copulas"] if not word[0].isalpha()]
    verbs = [word for word in data["copulas"] if word[0].isalpha()]
    copula = rf"(?:(?:{_any(verbs)})\b|[{re.escape(''.join(signs))}])"
    noun = (
        rf"(?:{_any(data['nouns'])})[*_]*(?: (?:{_any(data['between'])})\b[^.\n:=?!]{{0,60}}?)?"
        rf"\s*{copula}"
    )
    # "#### 42" ends the worked answers of GSM8K.
    marker = rf"(?:\b(?:{noun}|(?:{_any(data['phrases'])})\b)|^[ \t]*####)\s*[:=]?"
    ordinal = {word: place for place, row in enumerate(data["ordinals"]) for word in row}
    before, before_choice = data["rejects_before"], data["rejects_choice_before"]
    return Wording(
        marker=re.compile(marker, re.IGNORECASE | re.MULTILINE),
        negation=re.compile(rf"\s*(?:{_any(data['negations'])})\b", re.IGNORECASE),
        choice_word=_any(data["choice_words"]),
        ordinal=ordinal,
        after_letter=re.compile(rf"\s*(?:{_any(data['after_letter'])})(?!\w)", re.IGNORECASE),
        rejects_before=_before(before, data["fillers"]),
        rejects_choice_before=_before(before + before_choice, data["fillers"]),
        rejects_after=re.compile(
            rf"{_CLOSING}(?:{_any(data['rejects_after'])})\b"
            rf"(?!\s(?:only|{_any(data['wrong'])})\b)",
            re.IGNORECASE,
        ),
        affirms_after=re.compile(rf"{_CLOSING}(?:{_any(data['affirms_after'])})\b", re.IGNORECASE),
        correction=re.compile(
            rf"(?:^|[.,;:!?…—–(\n-])[ \t]{{0,3}}(?:{_any(data['corrections'])})\b"
            rf"(?!\s(?:{_any(data['not_corrections'])})\b)",
            re.IGNORECASE,
        ),
        contrast=_words(data["contrasts"]),
        hedge=_words(data["hedges"]),
        filler=re.compile(
            rf"(?:[\s,:;.!—–*_-]|(?:{_any(data['fillers'])})\b){{0,24}}+", re.IGNORECASE
        ),
        joint=re.compile(
            rf"{_CLOSING}(?:,?\s{{0,3}}\b(?:or|nor|and)\b|[,/&])\s{{0,3}}"
            rf"(?:(?:{_any(data['choice_words'])})\s)?[(\[*_\"'“]{{0,3}}",
            re.IGNORECASE,
        ),
        doubt=re.compile(
            rf"n['’]t\b|\b(?:{_any(before + data['rejects_after'] + data['corrections'])})\b",
            re.IGNORECASE,
        ),
        yes_no=_sides(data, "yes", "no"),
        polarity=_polarity(data),
        digest=digest,
    )


def _before(cues: list[str], fillers: list[str]) -> re.Pattern[str]:
    between = r"[\s*_(\"'“‘]{1,3}"
    return re.compile(
        rf"(?:\b(?:{_any(cues)})|n['’]t)(?:{between}(?:{_any(fillers)})){{0,5}}{between}$",
        re.IGNORECASE,
    )


def _words(words: list[str]) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{_any(words)})\b", re.IGNORECASE)


def _polarity(data: dict[str, Any]) -> Polarity:
    return Polarity(
        words=_sides(data, "says_yes", "says_no"),
        phrases=_sides(data, "yes_phrases", "no_phrases"),
        texts=_sides(data, "yes_texts", "no_texts"),
        assurances=_words(data["assurances"]),
        boosters=_words(data["assurances"] + data["boosters"]),
        leads=re.compile(rf"(?:{_any(data['leads'])})\b\s?"),
        verdict=re.compile(
            rf"(?P<not>not\s)?(?:(?P<right>{_any(data['right'])})|(?:{_any(data['wrong'])}))"
        ),
        statement=re.compile(
            rf"(?:{_any(data['subjects'])})(?:['’]s|\s(?:is|was)(?P<not>\snot|n['’]t)?)"
            rf"\s(?P<also>not\s)?(?:{_any(data['assurances'] + data['boosters'])}\s)?"
            rf"(?:(?P<right>{_any(data['right'])})|(?:{_any(data['wrong'])}))"
        ),
    )


def _sides(data: dict[str, Any], yes: str, no: str) -> dict[str, str]:
    return {word: answer for key, answer in ((yes, "yes"), (no, "no")) for word in data[key]}


def _any(words: Iterable[str]) -> str:
    return "|".join(
        re.escape(word).replace(r"\ ", r"\s").replace("'", "['’]")
        for word in sorted(words, key=lambda word: (-len(word), word))
    )
