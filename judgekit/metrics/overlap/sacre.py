"""BLEU and chrF by sacrebleu; each result contains its signature."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from operator import add
from typing import Annotated, Any, ClassVar, Literal

from judgekit.core.case import Case
from judgekit.core.errors import CaseError, needs_extra
from judgekit.core.protocols import Aggregate
from judgekit.core.score import Score
from judgekit.metrics._options import Bounds, needed_text, needed_texts, truth_of
from judgekit.metrics.aggregate import Figures, ScoreAggregate
from judgekit.metrics.computed import ComputedMetric

Tokenizer = Literal["13a", "intl", "char", "zh", "none"]
MAX_CHARACTERS = 5_000_000


@lru_cache(maxsize=32)
def _scorer(kind: str, **options: Any) -> Any:
    with needs_extra("BLEU and chrF", "benchmarks"):
        import sacrebleu
    return getattr(sacrebleu, kind)(**options)


def _texts(case: Case) -> tuple[str, list[str]]:
    output, references = needed_text(case, "output"), list(needed_texts(case, "reference"))
    if max(map(len, (output, *references))) > MAX_CHARACTERS:
        raise CaseError(f"a text has more than {MAX_CHARACTERS:,} characters")
    return output, references


class Bleu(ComputedMetric):
    """Sentence BLEU of output and references. Range 0..1 (shown as 0..100), higher is better.

    BLEU of a single text is not very meaningful. The figure `corpus_bleu` pools the n-grams of all
    rows, as BLEU was designed and as papers report it. n-gram orders that are longer than the text
    do not count (effective order), and zero counts are smoothed exponentially.
    """

    name: str = "bleu"
    tokenizer: Tokenizer = "13a"
    """Tokenizer name of sacrebleu; `zh` for Chinese, `char` for text without spaces."""
    lowercase: bool = False
    """Ignore case."""

    figures: ClassVar[Mapping[str, bool]] = {"corpus_bleu": True}
    needs = ("output", "reference")

    @property
    def _bleu(self) -> Any:
        lowercase, tokenize = self.lowercase, self.tokenizer
        return _scorer("BLEU", effective_order=True, lowercase=lowercase, tokenize=tokenize)

    def aggregates(self) -> list[Aggregate]:
        """Return the BLEU of all rows together."""
        return [_CorpusBleu(self._bleu)]

    async def score(self, case: Case) -> Score:
        """Score one case.

        Raises:
            CaseError: the output or the reference is missing, or too long.
            MissingExtra: sacrebleu is not installed.
        """
        output, references = _texts(case)
        bleu = self._bleu
        result = bleu.sentence_score(output, references)
        return Score(
            value=_share(result.score),
            scale=100.0,
            method="sentence BLEU, sacrebleu",
            reason=f"BLEU {result.score:.1f}: {result.counts[0]} of {result.totals[0]} words and"
            f" {result.counts[1]} of {result.totals[1]} pairs of words are shared.",
            ground_truth=truth_of(references),
            details={
                "counts": list(result.counts),
                "totals": list(result.totals),
                "output_length": result.sys_len,
                "reference_length": result.ref_len,
            },
            meta={"signature": str(bleu.get_signature())},
        )


class _CorpusBleu(ScoreAggregate):
    """The BLEU of all rows, from their summed n-gram counts."""

    def __init__(self, bleu: Any) -> None:
        self._bleu = bleu
        self._correct, self._total, self._lengths = [0] * 4, [0] * 4, [0, 0]
        self._rows = 0

    def add_score(self, score: Score, value: float) -> None:
        """Add the counts of one row."""
        details: dict[str, Any] = dict(score.details)
        lengths = [details["output_length"], details["reference_length"]]
        self._correct = [*map(add, self._correct, details["counts"])]
        self._total = [*map(add, self._total, details["totals"])]
        self._lengths = [*map(add, self._lengths, lengths)]
        self._rows += 1

    def finish(self) -> Figures:
        """Return `corpus_bleu`, 0..1."""
        if not self._rows:
            return {"corpus_bleu": None}
        output, reference = self._lengths
        result = self._bleu.compute_bleu(
            self._correct, self._total, sys_len=output, ref_len=reference, smooth_method="exp"
        )
        return {"corpus_bleu": _share(result.score)}


class Chrf(ComputedMetric):
    """chrF of the output and the references. Range 0..1 (shown as 0..100), higher is better.

    chrF is the F-score of character n-grams; recall counts `beta` times as much as precision. It
    needs no words, so it works for languages that do not separate words with spaces.
    """

    name: str = "chrf"
    word_order: Annotated[int, Bounds(0, 4)] = 0
    """Maximum length of word n-grams, which also count; 2 gives chrF++."""
    beta: Annotated[int, Bounds(0, 10)] = 2
    """Weight of recall relative to precision."""

    needs = ("output", "reference")

    async def score(self, case: Case) -> Score:
        """Score one case.

        Raises:
            CaseError: the output or the reference is missing, or too long.
            MissingExtra: sacrebleu is not installed.
        """
        output, references = _texts(case)
        chrf = _scorer("CHRF", beta=self.beta, word_order=self.word_order)
        result = chrf.sentence_score(output, references)
        return Score(
            value=_share(result.score),
            scale=100.0,
            method="chrF, sacrebleu",
            reason=f"{result.name} of the output and the references is {result.score:.1f} of 100.",
            ground_truth=truth_of(references),
            meta={"signature": str(chrf.get_signature())},
        )


def _share(score: float) -> float:
    """Return a score on 0..1 instead of 0..100; sacrebleu may exceed 100 by 1e-14."""
    return min(1.0, max(0.0, score / 100.0))
