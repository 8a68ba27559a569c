"""Token F1: how many words the output and a reference share."""

from __future__ import annotations

from collections import Counter

from judgekit.core.case import Case
from judgekit.core.score import Score
from judgekit.metrics._options import needed_text, needed_texts
from judgekit.metrics.computed import ComputedMetric
from judgekit.metrics.overlap.rouge import Overlap, overlap
from judgekit.metrics.tokens import squad_tokens


class TokenF1(ComputedMetric):
    """F1 of the words that the output shares with the best reference. Range 0..1, higher is better.

    This is the formula of SQuAD (Rajpurkar et al. 2016). It normalises the texts as SQuAD does and
    compares multisets of words: precision = shared / words of the output, recall = shared / words
    of the reference. The value is the best F1 over the references. Each Han or kana character
    counts as a word. `confidence` is always 1: a count is certain. The metric needs `output` and
    `reference`.
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
