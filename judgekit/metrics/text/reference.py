"""The output compared with accepted references: is it one, and how many words do they share?"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from judgekit.core.case import Case
from judgekit.core.score import Score
from judgekit.metrics._options import needed_text, needed_texts, truth_of
from judgekit.metrics.computed import ComputedMetric
from judgekit.metrics.tokens import answer_form, squad_tokens


class ExactMatch(ComputedMetric):
    """1 if the output is one of the references, else 0; higher is better.

    Normalisation ignores case, accents on Latin letters, punctuation and repeated white space;
    punctuation separates words ("well-known" equals "well known"). Numbers keep their sign and the
    separators between their digits ("1,000" is not "1000", "1.5" is not "15"). `ignore_articles`
    ignores English articles as SQuAD does. `confidence` is always 1: a comparison is certain. Needs
    `output` and `reference`.
    """

    name: str = "exact_match"
    normalise: bool = True
    """If false, only the white space around the text is ignored, and case with `ignore_case`."""
    ignore_case: bool = True
    """Whether to ignore case."""
    ignore_accents: bool = True
    """Whether to ignore accents on Latin letters; only with `normalise`."""
    ignore_articles: bool = False
    """Whether to ignore a, an and the, as SQuAD does; only with `normalise`."""

    synchronous = True
    needs = ("output", "reference")
    confidence = "is always 1: a comparison is certain"

    async def score(self, case: Case) -> Score:
        """Score one case.

        Raises:
            CaseError: the output or the reference is missing.
        """
        output = self._form(needed_text(case, "output"))
        references = needed_texts(case, "reference")
        matched = next((text for text in references if self._form(text) == output), None)
        several = f"any of {len(references)} references" if len(references) > 1 else "the reference"
        return Score(
            value=0.0 if matched is None else 1.0,
            confidence=1.0,
            method="normalised exact match" if self.normalise else "exact match",
            reason=f"The output is not {several}."
            if matched is None
            else "The output is the accepted answer.",
            ground_truth=matched or truth_of(references),
            details={"matched": matched},
        )

    def _form(self, text: str) -> str:
        if self.normalise:
            return answer_form(
                text,
                ignore_case=self.ignore_case,
                ignore_accents=self.ignore_accents,
                ignore_articles=self.ignore_articles,
                apart=True,
            )
        return text.strip().casefold() if self.ignore_case else text.strip()


class Overlap(NamedTuple):
    """Precision, recall and their harmonic mean, each 0..1."""

    precision: float
    recall: float
    f: float


def overlap(shared: int, output: int, reference: int) -> Overlap:
    """Return the overlap of two texts by their numbers of shared and of all units."""
    precision = shared / output if output else 0.0
    recall = shared / reference if reference else 0.0
    f = 2 * precision * recall / (precision + recall) if shared else 0.0
    return Overlap(precision, recall, f)


class TokenF1(ComputedMetric):
    """F1 of the words shared with the nearest reference; 0..1, higher is better.

    The formula of SQuAD (Rajpurkar et al. 2016) over multisets of normalised words: precision =
    shared / words of the output, recall = shared / words of the reference, with the best F1 of the
    references. Each Han or kana character is a word. `confidence` is always 1: a count is certain.
    Needs `output` and `reference`.
    """

    name: str = "token_f1"

    synchronous = True
    needs = ("output", "reference")
    confidence = "is always 1: a count is certain"

    async def score(self, case: Case) -> Score:
        """Score one case.

        Raises:
            CaseError: the output or the reference is missing.
        """
        output = squad_tokens(needed_text(case, "output"))
        references = needed_texts(case, "reference")
        overlaps = [(*token_overlap(output, squad_tokens(text)), text) for text in references]
        shared, best, reference = max(overlaps, key=lambda entry: entry[1].f)
        words = "1 word" if shared == 1 else f"{shared} words"
        return Score(
            value=best.f,
            confidence=1.0,
            method="token F1, SQuAD normalisation",
            reason=f"The output and the nearest reference share {words}:"
            f" precision {best.precision:.2f}, recall {best.recall:.2f}.",
            ground_truth=reference,
            details={"precision": best.precision, "recall": best.recall, "shared": shared},
        )


def token_overlap(output: tuple[str, ...], reference: tuple[str, ...]) -> tuple[int, Overlap]:
    """Return the number of shared words, and the overlap.

    >>> token_overlap(("paris", "france"), ("france",))
    (1, Overlap(precision=0.5, recall=1.0, f=0.6666666666666666))
    """
    shared = (Counter(output) & Counter(reference)).total()
    return shared, overlap(shared, len(output), len(reference))
