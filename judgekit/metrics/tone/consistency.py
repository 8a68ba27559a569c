"""Tone consistency: does the sentiment match another text, and is it constant?

The sentiment is that of VADER, or of the algorithm of the npm package `sentiment`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Annotated, Any, Literal

from judgekit.core.case import Case, has_text
from judgekit.core.comparing import at_least
from judgekit.core.errors import CaseError, MissingExtra
from judgekit.core.score import Score
from judgekit.metrics._options import Bounds, needed_text
from judgekit.metrics.computed import ComputedMetric, not_applicable
from judgekit.metrics.tokens import split_sentences
from judgekit.metrics.word_data import is_english

Above0 = Annotated[float, Bounds(0, above=True)]
ToneForm = Literal["comparison", "stability"]
Compat = Literal["mastra"]

BANDS = (
    (1.0, "the same tone throughout"),
    (0.7, "strong, with small variations"),
    (0.4, "moderate, with noticeable changes"),
    (0.1, "weak, with great changes"),
    (0.0, "a different tone altogether"),
)
"""Minimum value and its meaning, from the documentation of Mastra's scorer."""


def tone_difference(first: float, second: float, *, most: float = 1.0) -> float:
    """Return max(0, 1 - |first - second| / most).

    >>> tone_difference(0.8, 0.5), tone_difference(-1.0, 1.0)
    (0.7, 0.0)
    """
    return max(0.0, 1.0 - abs(first - second) / most)


def tone_stability(sentences: Sequence[float], *, most: float = 1.0) -> tuple[float, float, float]:
    """Return max(0, 1 - variance / most), the mean and the variance (population, ddof 0)."""
    mean = math.fsum(sentences) / len(sentences)
    variance = math.fsum((value - mean) ** 2 for value in sentences) / len(sentences)
    return max(0.0, 1.0 - variance / most), mean, variance


class ToneConsistency(ComputedMetric):
    """Similarity of the sentiment of two texts, or its constancy in one. 0..1, higher is better.

    `form: comparison` compares the output with the reference, or with the input if there is no
    reference. `form: stability` compares the sentences of the output. The sentiment of a sentence
    is VADER's compound score, -1 to 1; the sentiment of a text is the mean over its sentences. The
    metric supports English only. A text in another language or without sentiment words is not
    applicable, not "perfectly consistent".

    `compat: mastra` gives the numbers of Mastra's ToneConsistencyMetric (extra `afinn`). It divides
    the AFINN-165 values by the number of tokens. Twelve negators invert the next word. It ignores
    the text after the last sentence terminator and does not check the language. Emoji do not count
    in this mode.
    """

    name: str = "tone_consistency"
    form: ToneForm = "comparison"
    """`comparison`: the output and another text. `stability`: the sentences of the output."""
    max_difference: Above0 = 1.0
    """Difference of sentiment that scores 0."""
    max_variance: Above0 = 1.0
    """Variance of sentiment that scores 0."""
    scale: Above0 = 1.0
    """Factor for the displayed value."""
    compat: Compat | None = None
    """Reproduce the figures of Mastra's scorer."""

    needs = ("output", "comparison: reference or input")

    def prepare(self) -> None:
        """Check and complete the options."""
        if self.compat == "mastra":
            afinn_comparative("")  # fails early if the word list is missing

    async def score(self, case: Case) -> Score:
        """Score one case.

        Raises:
            CaseError: the output, or a text to compare it with, is missing.
        """
        output = needed_text(case, "output")
        if self.form == "stability":
            return self._uncovered(output) or self._stability(output)
        other = next((text for text in case.reference if has_text(text)), None)
        field = "input" if other is None else "reference"
        if other is None:
            if not has_text(case.input):
                raise CaseError("needs a reference or an input to compare the tone with")
            other = needed_text(case, "input")
        return self._uncovered(other, output) or self._comparison(other, output, field)

    def _comparison(self, other: str, output: str, field: str) -> Score:
        first, second = (self._sentiment(text) for text in (other, output))
        value = tone_difference(first, second, most=self.max_difference)
        return Score(
            value=value,
            scale=self.scale,
            method=self._method,
            reason=f"The {field} has a sentiment of {first:+.2f}, the output of {second:+.2f}:"
            f" {band(value)}.",
            ground_truth=other if field == "reference" else None,
            details={
                "responseSentiment": first,
                "referenceSentiment": second,
                "difference": abs(first - second),
                "compared_with": field,
            },
        )

    def _stability(self, output: str) -> Score:
        sentences = afinn_sentences(output) if self.compat else vader_sentences(output)
        value, mean, variance = tone_stability(sentences, most=self.max_variance)
        return Score(
            value=value,
            scale=self.scale,
            method=self._method,
            reason=f"The sentiment of {len(sentences)} sentences varies by {variance:.3f} around"
            f" {mean:+.2f}: {band(value)}.",
            details={
                "avgSentiment": mean,
                "sentimentVariance": variance,
                "sentences": len(sentences),
            },
        )

    @property
    def _method(self) -> str:
        lexicon = "AFINN-165, as Mastra" if self.compat else "VADER"
        return f"tone {self.form}, {lexicon}"

    def _sentiment(self, text: str) -> float:
        if self.compat:
            return afinn_comparative(text)
        sentences = vader_sentences(text)
        return math.fsum(sentences) / len(sentences)

    def _uncovered(self, *texts: str) -> Score | None:
        """Return the score of texts to which the lexicon does not apply, or `None`."""
        if self.compat:
            return None
        reason = next(filter(None, map(_why_uncovered, texts)), None)
        return None if reason is None else not_applicable(reason, method=self._method)


def _why_uncovered(text: str) -> str | None:
    """Return why VADER's lexicon does not apply to a text, or `None`."""
    if not any(letter.isalnum() for letter in text):
        return "A text has no words."
    english = is_english(text)
    if english is False:
        return "A text is not in English, the one language the lexicon knows."
    if english is None and not is_rated(text):
        return "A text has no word that shows its language or its tone."
    return None


def band(value: float) -> str:
    """Return the meaning of a value on 0..1 (see `BANDS`)."""
    return next((words for least, words in BANDS if at_least(value, least)), BANDS[-1][1])


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
