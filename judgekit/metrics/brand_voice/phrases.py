"""Phrases: find whole words and phrases in a reply; score preferred and avoided ones."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from judgekit.embedders.folding import fold
from judgekit.metrics.tokens import CJK

_APOSTROPHES = str.maketrans("’‘ʼ＇`´", "''''''")
UNSPACED = re.compile(f"[{CJK}\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]")
"""Scripts without spaces between words; a phrase may match inside a run of them."""


class Plain(str):
    """A text normalised for the search of phrases; see `plain`."""

    __slots__ = ()


def plain(text: str) -> Plain:
    """Return a text in lower case, with plain apostrophes and single spaces; takes linear time.

    >>> plain("Don’t  PANIC")
    "don't panic"
    """
    return Plain(" ".join(fold(text).translate(_APOSTROPHES).split()))


class Phrases:
    """A list of distinct words and phrases.

    >>> words = Phrases(["signal", "crushing it", "can"])
    >>> words.used(plain("Strong SIGNAL, but I can't say we're crushing  it; no signals."))
    {'signal': 1, 'crushing it': 1}
    """

    def __init__(self, entries: Sequence[str]) -> None:
        self.entries = tuple(dict.fromkeys(entry.strip() for entry in entries))

    def __len__(self) -> int:
        return len(self.forms)

    def used(self, text: Plain) -> dict[str, int]:
        """Return the entries that occur in a text, as written in the list, and how often.

        Only whole words match: "hate" is not in "whatever", nor "can" in "can't". A possessive 's
        does not prevent a match. An entry without a letter or digit at its edge, such as an emoji,
        and an entry in a script without spaces (Han, kana, Thai) also match inside a run.
        """
        there = [item for item in self.forms.items() if item[0] in text]
        counts = ((entry, sum(1 for _ in _places(form, text))) for form, entry in there)
        return {entry: count for entry, count in counts if count}

    def spans(self, text: Plain) -> Iterator[tuple[int, int]]:
        """Yield the spans of the entries in the text."""
        for form in self.forms:
            for at in _places(form, text):
                yield at, at + len(form)

    @cached_property
    def forms(self) -> dict[str, str]:
        """Normalised form -> the entry as written."""
        forms: dict[str, str] = {}
        for entry in self.entries:
            if form := plain(entry):
                forms.setdefault(form, entry)
        return forms


def _places(form: str, text: str) -> Iterator[int]:
    """Yield the positions where a form occurs as a whole in a text."""
    at = text.find(form)
    while at >= 0:
        end = at + len(form)
        if _free_before(form[0], text, at) and _free_after(form[-1], text, end):
            yield at
            at = text.find(form, end)
        else:
            at = text.find(form, at + 1)


def _free_before(first: str, text: str, at: int) -> bool:
    if at == 0 or not _binds(first):
        return True
    before = text[at - 1]
    if before == "'":
        return at < 2 or not _in_word(text[at - 2])
    return not _in_word(before)


def _free_after(last: str, text: str, end: int) -> bool:
    if end == len(text) or not _binds(last):
        return True
    after = text[end]
    if after == "'" and end + 1 < len(text) and _in_word(text[end + 1]):
        return text[end + 1] == "s" and (end + 2 == len(text) or not _in_word(text[end + 2]))
    return not _in_word(after)


def _binds(character: str) -> bool:
    """Return whether a neighbour of this character may belong to the same word."""
    return _in_word(character) and UNSPACED.match(character) is None


def _in_word(character: str) -> bool:
    return character.isalnum() or character == "_" or unicodedata.category(character)[0] == "M"


PENALTY = 0.1
"""Deduction for each avoided word in a reply."""


class LexiconScore(NamedTuple):
    """The score of the words of a reply."""

    value: float | None
    """0..1; `None` if the persona has no words."""
    preferred: dict[str, int]
    """Preferred entries in the reply -> how often."""
    avoided: dict[str, int]


def score_lexicon(text: str, preferred: Phrases, avoided: Phrases) -> LexiconScore:
    """Return preferred entries used / preferred entries, minus .1 for each avoided entry used.

    The value is clamped to 0..1. Each entry counts once. Without preferred words, the score starts
    at 1.

    >>> liked, shunned = Phrases(["baseline", "signal"]), Phrases(["lol"])
    >>> score_lexicon("The baseline shows it, lol.", liked, shunned).value
    0.4
    """
    if not preferred and not avoided:
        return LexiconScore(None, {}, {})
    form = plain(text)
    liked, shunned = preferred.used(form), avoided.used(form)
    share = len(liked) / len(preferred) if preferred else 1.0
    value = math.fsum((share, *(-PENALTY,) * len(shunned)))
    return LexiconScore(max(0.0, min(1.0, value)), liked, shunned)
