"""BLEU and chrF, by sacrebleu, whose signature is on every result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, Literal

from judgekit.core.case import Case
from judgekit.core.errors import CaseError, ConfigError, MissingExtra
from judgekit.core.protocols import Aggregate, Metric
from judgekit.core.score import Row, Score
from judgekit.metrics._options import (
    check_choice,
    check_flag,
    check_name,
    needed_text,
    needed_texts,
    truth_of,
)

Tokenizer = Literal["13a", "intl", "char", "zh", "none"]
MAX_CHARACTERS = 5_000_000


@lru_cache(maxsize=32)
def _scorer(kind: str, options: tuple[tuple[str, Any], ...]) -> Any:
    try:
        import sacrebleu
    except ImportError as exc:
        raise MissingExtra(feature="BLEU and chrF", extra="benchmarks") from exc
    return getattr(sacrebleu, kind)(**dict(options))


def _texts(case: Case) -> tuple[str, list[str]]:
    output, references = needed_text(case, "output"), list(needed_texts(case, "reference"))
    if max(map(len, (output, *references))) > MAX_CHARACTERS:
        raise CaseError(f"a text has more than {MAX_CHARACTERS:,} characters")
    return output, references


@dataclass(frozen=True, kw_only=True, slots=True)
class Bleu(Metric):
    """Sentence BLEU of the output against the references; 0..1 (shown as 0..100), higher is better.

    Of single texts BLEU says little: the figure `corpus_bleu` pools the n-grams of all rows, as
    BLEU is meant to be used, and is what papers report. Orders a short text cannot have are left
    out (effective order), zero counts are smoothed exponentially.
    """

    name: str = "bleu"
    tokenizer: Tokenizer = "13a"
    """sacrebleu's name of it; `zh` for Chinese, `char` for text without spaces."""
    lowercase: bool = False
    """Whether capitals count as small letters."""

    figures: ClassVar[Mapping[str, bool]] = {"corpus_bleu": True}
    needs = ("output", "reference")

    def __post_init__(self) -> None:
        check_name("bleu", self.name)
        check_choice(self.name, "tokenizer", self.tokenizer, Tokenizer)
        check_flag(self.name, "lowercase", self.lowercase)

    @property
    def _bleu(self) -> Any:
        options = (
            ("effective_order", True),
            ("lowercase", self.lowercase),
            ("tokenize", self.tokenizer),
        )
        return _scorer("BLEU", options)

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
        found = bleu.sentence_score(output, references)
        return Score(
            value=_share(found.score),
            scale=100.0,
            method="sentence BLEU, sacrebleu",
            reason=f"BLEU {found.score:.1f}: {found.counts[0]} of {found.totals[0]} words and"
            f" {found.counts[1]} of {found.totals[1]} pairs of words are shared.",
            ground_truth=truth_of(references),
            details={
                "counts": list(found.counts),
                "totals": list(found.totals),
                "output_length": found.sys_len,
                "reference_length": found.ref_len,
            },
            meta={"signature": str(bleu.get_signature())},
        )


class _CorpusBleu:
    """Sums the n-gram counts of all rows."""

    def __init__(self, bleu: Any) -> None:
        self._bleu = bleu
        self._sums = [[0] * 4, [0] * 4, [0, 0]]
        self._rows = 0

    def add(self, row: Row) -> None:
        """Take one more result."""
        if not isinstance(row.result, Score) or row.result.value is None or row.result.fallback:
            return
        details: dict[str, Any] = dict(row.result.details)
        lengths = [details["output_length"], details["reference_length"]]
        for sums, more in zip(
            self._sums, (details["counts"], details["totals"], lengths), strict=True
        ):
            sums[:] = [one + other for one, other in zip(sums, more, strict=True)]
        self._rows += 1

    def finish(self) -> dict[str, float | int | None]:
        """Return the figure on 0..1."""
        if not self._rows:
            return {"corpus_bleu": None}
        counts, totals, (made, wanted) = self._sums
        found = self._bleu.compute_bleu(
            correct=counts, total=totals, sys_len=made, ref_len=wanted, smooth_method="exp"
        )
        return {"corpus_bleu": _share(found.score)}


@dataclass(frozen=True, kw_only=True, slots=True)
class Chrf(Metric):
    """chrF of the output against the references; 0..1 (shown as 0..100), higher is better.

    F-score of character n-grams, recall counting `beta` times as much as precision. It needs no
    words, so it serves languages that put no space between them.
    """

    name: str = "chrf"
    word_order: int = 0
    """2 for chrF++."""
    beta: int = 2
    """How many times recall counts as much as precision."""

    needs = ("output", "reference")

    def __post_init__(self) -> None:
        check_name("chrf", self.name)
        for option, most in (("word_order", 4), ("beta", 10)):
            given = getattr(self, option)
            if isinstance(given, bool) or not isinstance(given, int) or not 0 <= given <= most:
                raise ConfigError(
                    f"{self.name}: {option} must be a whole number from 0 to {most}, not {given!r}"
                )

    async def score(self, case: Case) -> Score:
        """Score one case.

        Raises:
            CaseError: the output or the reference is missing, or too long.
            MissingExtra: sacrebleu is not installed.
        """
        output, references = _texts(case)
        chrf = _scorer("CHRF", (("beta", self.beta), ("word_order", self.word_order)))
        found = chrf.sentence_score(output, references)
        return Score(
            value=_share(found.score),
            scale=100.0,
            method="chrF, sacrebleu",
            reason=f"{found.name} of the output and the references is {found.score:.1f} of 100.",
            ground_truth=truth_of(references),
            meta={"signature": str(chrf.get_signature())},
        )


def _share(score: float) -> float:
    """Return a figure on 0..100 as one on 0..1; rounding inside sacrebleu may pass 100 by 1e-14."""
    return min(1.0, max(0.0, score / 100.0))
