"""The words in which answers are stated, from their data file."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any, NamedTuple

from judgekit.metrics.word_data import fill, fill_parts, read_words


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
    patterns = read_words("benchmarks/patterns.yaml").data
    signs = [word for word in data["copulas"] if not word[0].isalpha()]
    before, after = data["rejects_before"], data["rejects_after"]
    lists = {
        **{name: words for name, words in data.items() if name != "ordinals"},
        "verbs": [word for word in data["copulas"] if word[0].isalpha()],
        "rejecting": before + data["rejects_choice_before"],
        "doubting": before + after + data["corrections"],
        "assuring": data["assurances"] + data["boosters"],
    }
    words = {name: _any(listed) for name, listed in lists.items()}
    parts = fill_parts(patterns["parts"], signs=re.escape("".join(signs)), **words)

    def compiled(group: str) -> dict[str, re.Pattern[str]]:
        return {n: re.compile(fill(p, parts), re.IGNORECASE) for n, p in patterns[group].items()}

    return Wording(
        **compiled("patterns"),
        choice_word=parts["choice_words"],
        ordinal={word: place for place, row in enumerate(data["ordinals"]) for word in row},
        yes_no=_sides(data, "yes", "no"),
        polarity=Polarity(
            words=_sides(data, "says_yes", "says_no"),
            phrases=_sides(data, "yes_phrases", "no_phrases"),
            texts=_sides(data, "yes_texts", "no_texts"),
            **compiled("polarity"),
        ),
        digest=digest,
    )


def _sides(data: dict[str, Any], yes: str, no: str) -> dict[str, str]:
    return {word: answer for key, answer in ((yes, "yes"), (no, "no")) for word in data[key]}


def _any(words: Iterable[str]) -> str:
    return "|".join(
        re.escape(word).replace(r"\ ", r"\s").replace("'", "['’]")
        for word in sorted(words, key=lambda word: (-len(word), word))
    )
