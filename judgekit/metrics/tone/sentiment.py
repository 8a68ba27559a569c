"""Sentiment of a text by VADER, or by the algorithm of the npm package `sentiment`."""

from __future__ import annotations

import math
import re
from functools import lru_cache
from typing import Any

from judgekit.core.errors import MissingExtra
from judgekit.metrics.tokens import split_sentences

MAX_WORDS = 60
"""Longer sentences are split: VADER takes quadratic time in the words of a sentence."""

_APOSTROPHES = str.maketrans("‘’ʼ＇", "''''")


def vader(sentence: str) -> float:
    """Return VADER's compound score of a sentence, -1 to 1; 0 if no word is in the lexicon.

    VADER handles intensifiers, capitals, "but", emoji, and a negation up to three words back. It
    does not know typographic apostrophes, so they are replaced. The score of a sentence of more
    than 60 words is the mean of its pieces.
    """
    words = sentence.translate(_APOSTROPHES).split()
    pieces = [" ".join(words[at : at + MAX_WORDS]) for at in range(0, len(words), MAX_WORDS)]
    analyzer = _analyzer()
    scores = [float(analyzer.polarity_scores(piece)["compound"]) for piece in pieces]
    return math.fsum(scores) / len(scores) if scores else 0.0


def vader_sentences(text: str) -> list[float]:
    """Return the compound score of each sentence of a text."""
    return [vader(sentence) for sentence in split_sentences(text)]


def is_rated(text: str) -> bool:
    """Return whether a word of a text is in VADER's lexicon."""
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
"""Words that negate the next one; the package leaves out "never", "no" and "cannot"."""
_SEPARATOR = re.compile(r"""[.,/#!?$%^&*;:{}=_`"~()]""")
_SPACES = re.compile(r"\s\s+")


def afinn_tokens(text: str) -> list[str]:
    """Return the tokens of the npm package `sentiment`; `[""]` for an empty text."""
    bare = _SEPARATOR.sub(" ", text.lower().replace("\n", " "))
    return _SPACES.sub(" ", bare).strip().split(" ")


def afinn_comparative(text: str) -> float:
    """Return the sum of the AFINN-165 values of a text divided by the number of tokens.

    A value after a negator is negated. The package's ranking of emoji is left out because of its
    licence (CC BY-SA).

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
    """Return the comparative score of each sentence, split as in Mastra's scorer.

    The text after the last terminator is dropped; a text without terminators is one sentence.
    """
    parts = re.split(r"([.!?]+)", text)
    sentences = [words + end for words, end in zip(parts[::2], parts[1::2], strict=False) if words]
    return [afinn_comparative(sentence) for sentence in sentences or [text]]


@lru_cache(maxsize=1)
def _labels() -> dict[str, int]:
    from importlib.util import find_spec
    from pathlib import Path

    spec = find_spec("afinn")
    if spec is None or spec.origin is None:
        raise MissingExtra(feature="compat: mastra", extra="afinn")
    # Only the data is used: the code of the package does not negate.
    file = Path(spec.origin).parent / "data" / "AFINN-en-165.txt"
    rows = (line.rsplit("\t", 1) for line in file.read_text("utf-8").splitlines() if "\t" in line)
    return {word: int(value) for word, value in rows}
