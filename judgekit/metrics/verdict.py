"""Verdict words in a text: whole words only, negative words first."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Literal

Verdict = Literal["positive", "negative"]


def read_verdict(text: str, *, positive: Sequence[str], negative: Sequence[str]) -> Verdict | None:
    """Return which verdict a text states; `None` if neither word occurs.

    A label counts only as a whole word: "unsafe" is not "safe", "non-toxic" is not "toxic".
    Case does not matter, and a space, hyphen or underscore inside a label are the same. Where
    labels of both kinds occur, the negative one counts. "not refused" is read as its word,
    "refused": negation is not understood.

    >>> read_verdict("The answer is unsafe.", positive=["safe"], negative=["unsafe"])
    'negative'
    >>> read_verdict("It is non-toxic.", positive=["non_toxic"], negative=["toxic"])
    'positive'
    """
    if _pattern(tuple(negative)).search(text):
        return "negative"
    return "positive" if _pattern(tuple(positive)).search(text) else None


@lru_cache(maxsize=256)
def _pattern(labels: tuple[str, ...]) -> re.Pattern[str]:
    spelled = (
        r"[\s_-]+".join(re.escape(word) for word in re.split(r"[\s_-]+", label.strip()) if word)
        for label in sorted(labels, key=lambda label: (-len(label), label))
    )
    return re.compile(rf"(?<![\w-])(?:{'|'.join(spelled)})(?![\w-])", re.IGNORECASE)
