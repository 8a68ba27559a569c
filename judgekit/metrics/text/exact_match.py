"""Exact match: is the output one of the accepted references?"""

from __future__ import annotations

from judgekit.core.case import Case
from judgekit.core.score import Score
from judgekit.metrics._options import needed_text, needed_texts, truth_of
from judgekit.metrics.computed import ComputedMetric
from judgekit.metrics.tokens import answer_form


class ExactMatch(ComputedMetric):
    """1 if the output equals one of the references, else 0. Higher is better.

    By default the metric ignores case, accents on Latin letters, punctuation and repeated white
    space. Punctuation separates words ("well-known" is "well known"). Numbers keep their sign and
    separators ("1,000" is not "1000", "1.5" is not "15"). `ignore_articles` removes English
    articles, as SQuAD does. `confidence` is always 1: a comparison is certain. The metric needs
    `output` and `reference`.
    """

    name: str = "exact_match"
    normalise: bool = True
    """Normalise both texts. If off, the metric ignores only the white space around the text, and
    case with `ignore_case`."""
    ignore_case: bool = True
    """Ignore case."""
    ignore_accents: bool = True
    """Ignore accents on Latin letters; only with `normalise`."""
    ignore_articles: bool = False
    """Remove a, an and the, as SQuAD does; only with `normalise`."""

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
