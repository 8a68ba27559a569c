"""Token F1: how many words the output and a reference share."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import NamedTuple

from judgekit.core.case import Case
from judgekit.core.protocols import Metric
from judgekit.core.score import Score
from judgekit.metrics._options import check_name, needed_text, needed_texts
from judgekit.metrics.tokens import squad_tokens


class Overlap(NamedTuple):
    """Precision, recall and their harmonic mean, each on 0..1."""

    f1: float
    precision: float
    recall: float
    shared: int


@dataclass(frozen=True, kw_only=True, slots=True)
class TokenF1(Metric):
    """F1 of the words shared with the nearest reference; 0..1, higher is better.

    The formula of SQuAD (Rajpurkar et al. 2016): words as multisets after its normalisation,
    precision = shared / words of the output, recall = shared / words of the reference, and the
    best F1 over the references. Han and kana count by character. `confidence` is always 1: a
    count is certain. Needs `output` and `reference`.
    """

    name: str = "token_f1"

    synchronous = True
    needs = ("output", "reference")
    confidence = "is always 1: a count is certain"

    def __post_init__(self) -> None:
        check_name("token_f1", self.name)

    async def score(self, case: Case) -> Score:
        """Score one case.

        Raises:
            CaseError: the output or the reference is missing.
        """
        output = squad_tokens(needed_text(case, "output"))
        references = needed_texts(case, "reference")
        found = [(token_overlap(output, squad_tokens(text)), text) for text in references]
        best, reference = max(found, key=lambda pair: pair[0].f1)
        words = "1 word" if best.shared == 1 else f"{best.shared} words"
        return Score(
            value=best.f1,
            confidence=1.0,
            method="token F1, SQuAD normalisation",
            reason=f"The output and the nearest reference share {words}:"
            f" precision {best.precision:.2f}, recall {best.recall:.2f}.",
            ground_truth=reference,
            details={"precision": best.precision, "recall": best.recall, "shared": best.shared},
        )


def token_overlap(output: tuple[str, ...], reference: tuple[str, ...]) -> Overlap:
    """Return the overlap of two multisets of words, neither of them empty.

    >>> token_overlap(("paris", "france"), ("france",)).f1
    0.6666666666666666
    """
    shared = (Counter(output) & Counter(reference)).total()
    precision, recall = shared / len(output), shared / len(reference)
    f1 = 2 * precision * recall / (precision + recall) if shared else 0.0
    return Overlap(f1, precision, recall, shared)
