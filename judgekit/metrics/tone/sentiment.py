"""Sentiment of a text: by VADER, or word by word as the npm package `sentiment` has it."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from judgekit.core.errors import MissingExtra
from judgekit.metrics.tokens import split_sentences

MAX_WORDS = 60
"""Longer sentences are read in pieces: VADER takes time squared in a sentence's words."""

_APOSTROPHES = str.maketrans("‘’ʼ＇", "''''")


def vader(sentence: str) -> float:
    """Return VADER's compound of one sentence, -1 to 1; 0 where no word says anything.

    It knows intensifiers, capitals, "but", emoji, and a negation up to three words back;
    typographic apostrophes are read as plain ones, which the library does not do itself.
    A sentence of more than 60 words is the mean of its pieces.
    """
    words = sentence.translate(_APOSTROPHES).split()
    pieces = [" ".join(words[at : at + MAX_WORDS]) for at in range(0, len(words), MAX_WORDS)]
    analyzer = _analyzer()
    found = [float(analyzer.polarity_scores(piece)["compound"]) for piece in pieces]
    return math.fsum(found) / len(found) if found else 0.0


def vader_sentences(text: str) -> list[float]:
    """Return the compound of every sentence of a text."""
    return [vader(sentence) for sentence in split_sentences(text)]


def is_rated(text: str) -> bool:
    """Return whether VADER's lexicon knows any word of a text."""
    lexicon = _analyzer().lexicon
    words = text.translate(_APOSTROPHES).lower().split()
    return any(word in lexicon or word.strip(".,!?;:()\"'") in lexicon for word in words)


@lru_cache(maxsize=1)
def _analyzer() -> Any:
    from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer

    return SentimentIntensityAnalyzer()


# -- as `sentiment` 5.0.2 ---------------------------------------------------------

NEGATORS = frozenset({
    "cant", "can't", "dont", "don't", "doesnt", "doesn't", "not", "non", "wont", "won't", "isnt",
    "isn't",
})  # fmt: skip
"""Words that turn the next one over; "never", "no" and "cannot" are not among them."""
_SEPARATOR = re.compile(r"""[.,/#!?$%^&*;:{}=_`"~()]""")
_SPACES = re.compile(r"\s\s+")


def afinn_tokens(text: str) -> list[str]:
    """Return the tokens the npm package `sentiment` makes of a text; `[""]` of an empty one."""
    bare = _SEPARATOR.sub(" ", text.lower().replace("\n", " "))
    return _SPACES.sub(" ", bare).strip().split(" ")


def afinn_comparative(text: str) -> float:
    """Return the sum of the words' AFINN-165 values over the number of tokens.

    A value is turned over where the token before is a negator. The emoji ranking the package
    adds is left out: its licence (CC BY-SA) does not fit.

    Raises:
        MissingExtra: the word list is not installed.

    >>> afinn_comparative("This is so cool"), afinn_comparative("not good")
    (0.25, -1.5)
    """
    labels = _labels()
    tokens = afinn_tokens(text)
    total = 0
    for at, token in enumerate(tokens):
        value = labels.get(token, 0)
        total += -value if at and tokens[at - 1] in NEGATORS else value
    return total / len(tokens)


def afinn_sentences(text: str) -> list[float]:
    """Return the comparative of every sentence as the original splits them.

    What follows the last terminator is dropped; a text without one is one sentence.
    """
    return [afinn_comparative(sentence) for sentence in _afinn_split(text)]


def _afinn_split(text: str) -> Iterator[str]:
    found = False
    start = 0
    for end in re.finditer(r"[.!?]+", text):
        if end.start() > start:
            found = True
            yield text[start : end.end()]
        start = end.end()
    if not found:
        yield text


@lru_cache(maxsize=1)
def _labels() -> dict[str, int]:
    from importlib.util import find_spec
    from pathlib import Path

    spec = find_spec("afinn")
    if spec is None or spec.origin is None:
        raise MissingExtra(feature="compat: mastra", extra="afinn")
    # The data alone: the package's own code negates nothing and is not needed.
    file = Path(spec.origin).parent / "data" / "AFINN-en-165.txt"
    rows = (line.rsplit("\t", 1) for line in file.read_text("utf-8").splitlines() if "\t" in line)
    return {word: int(value) for word, value in rows}
