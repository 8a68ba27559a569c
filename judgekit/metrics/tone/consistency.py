"""Tone consistency: does the sentiment match another text, and is it constant?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated, Literal

from judgekit.core.case import Case, has_text
from judgekit.core.errors import CaseError
from judgekit.core.score import Score
from judgekit.metrics._options import Bounds, needed_text
from judgekit.metrics.computed import ComputedMetric, not_applicable
from judgekit.metrics.english import is_english
from judgekit.metrics.tone.sentiment import (
    afinn_comparative,
    afinn_sentences,
    is_rated,
    vader_sentences,
)

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
    """How similar two texts are in sentiment, or how constant one is; 0..1, higher is better.

    `comparison` compares the output with the reference, or with the input if there is none.
    `stability` compares the sentences of the output. Sentiment is VADER's compound score of a
    sentence, -1 to 1; of a text, the mean of its sentences. English only: a text in another
    language, or without a word in the lexicon, is not applicable.

    `compat: mastra` gives the numbers of Mastra's ToneConsistencyMetric: AFINN-165 values divided
    by the number of tokens, twelve negators that negate the next word, sentences up to the last
    terminator, and no check of the language (extra `afinn`). Emoji do not count.
    """

    name: str = "tone_consistency"
    form: ToneForm = "comparison"
    """Compare the output with another text, or its sentences with each other."""
    max_difference: Above0 = 1.0
    """Difference in sentiment that scores 0."""
    max_variance: Above0 = 1.0
    """Variance of sentiment that scores 0."""
    scale: Above0 = 1.0
    """Factor for the shown value."""
    compat: Compat | None = None
    """Give the numbers of Mastra's scorer."""

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
            return self._stability(output)
        other = next((text for text in case.reference if has_text(text)), None)
        field = "input" if other is None else "reference"
        if other is None:
            if not has_text(case.input):
                raise CaseError("needs a reference or an input to compare the tone with")
            other = needed_text(case, "input")
        return self._comparison(other, output, field)

    def _comparison(self, other: str, output: str, field: str) -> Score:
        if (reason := self._uncovered(other, output)) is not None:
            return not_applicable(reason, method=self._method)
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
        if (reason := self._uncovered(output)) is not None:
            return not_applicable(reason, method=self._method)
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

    def _uncovered(self, *texts: str) -> str | None:
        """Return why the lexicon does not apply to the texts, or `None`."""
        if self.compat:
            return None
        for text in texts:
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
    return next((words for least, words in BANDS if value >= least), BANDS[-1][1])
