"""Similarity: the cosine of the output and another text, as it is or as right or wrong."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal

from judgekit.core.case import Case
from judgekit.core.case_field import TEXT_LISTS
from judgekit.core.score import Score
from judgekit.embedders import Chosen, identity_of, is_semantic, short_name, vectors
from judgekit.metrics._options import Fraction, needed_text, needed_texts
from judgekit.metrics.computed import ComputedMetric, not_applicable
from judgekit.metrics.vectors import cosine

TAU = 0.8
"""Default cosine from which two texts count as equal in meaning."""
DIGITS = 4
"""Decimals of a cosine that are compared and reported. The batch may change the seventh digit of a
vector; rounding keeps the outcome the same."""


def semantic_accuracy(similarities: Sequence[float], *, tau: float = TAU) -> float | None:
    """Return the share of similarities of at least tau, equation (7); `None` if there are none.

    >>> semantic_accuracy([0.8, 0.79], tau=0.8)
    0.5
    """
    hits = [is_accurate(similarity, tau) for similarity in similarities]
    return sum(hits) / len(hits) if hits else None


def is_accurate(similarity: float, tau: float) -> bool:
    """Return whether a similarity is at least tau."""
    return round(similarity, DIGITS) >= tau


def mean(values: Sequence[float]) -> float:
    """Return the mean; the sum is exact and so independent of the order."""
    return math.fsum(values) / len(values)


Target = Literal["reference", "input", "context", "baseline"]
Reduce = Literal["max", "mean"]


class Similarity(ComputedMetric):
    """Cosine similarity of the output to a field of the case. Range 0..1, higher is better.

    The cosine is clamped to 0..1, so opposite texts count as unrelated, and rounded to four
    decimals. If the field contains several texts, the value is the maximum or the mean cosine. The
    embedder decides what "similar" means; `meta.embedder` names it, and the default one is lexical.
    Texts without features for the embedder (zero vectors) do not count. If the output or all texts
    are without features, the metric is not applicable. It needs `output` and the field that `to`
    names.
    """

    name: str = "similarity"
    to: Target = "reference"
    """The field that the output is compared with."""
    reduce: Reduce = "max"
    """Similarity to several texts: the maximum (`max`) or the mean (`mean`)."""
    embedder: Chosen = "lexical"
    """Name of an embedder, a mapping such as `{onnx: FOLDER}`, or an embedder object."""

    synchronous = ComputedMetric.embeds_at_once
    needs = ("output", "the field that `to` names")

    async def score(self, case: Case) -> Score:
        """Score one case.

        Raises:
            CaseError: the output or the field is missing.
        """
        output = needed_text(case, "output")
        if self.to in TEXT_LISTS:
            others = needed_texts(case, self.to)
        else:
            others = (needed_text(case, self.to),)
        identity = identity_of(self.embedder)
        first, *rest = await vectors(self.embedder, [output, *others])
        cosines = [cosine(first, vector) for vector in rest]
        known = [value for value in cosines if value is not None]
        common: dict[str, Any] = {
            "method": f"cosine of {short_name(identity)}",
            "meta": {"embedder": identity},
        }
        if not known:
            reason = f"The output or the {self.to} has no words that the embedder knows."
            return not_applicable(reason, **common)
        value = max(known) if self.reduce == "max" else mean(known)
        several = "" if len(cosines) == 1 else f", the {self.reduce} over {len(known)} texts"
        return Score(
            value=round(value, 4),
            reason=f"The cosine of the output to the {self.to} is {value:.2f}{several}.",
            ground_truth=list(others) if self.to == "reference" else None,
            details={"cosines": [None if c is None else round(c, 4) for c in cosines]},
            **common,
        )


NO_MEANING = (
    "It compares meaning and needs a semantic embedder. Name one: embedder: onnx:FOLDER,"
    " or embedder: {model: openai/text-embedding-3-small}"
)
"""The reason why a semantic metric does not apply, and what to do."""


class SemanticAccuracy(ComputedMetric):
    """1 if the cosine of the output to a reference is at least `tau`, else 0. Higher is better.

    The mean over a run is the semantic accuracy. If there are several references, the most similar
    one counts. The metric needs an embedder that compares meaning: a sentence model (`onnx:FOLDER`)
    or a hosted one. Without one, or with a lexical one, it is not applicable; use
    `lexical_accuracy` to compare words. Calibrate `tau` for the embedder. Many models place a
    sentence close to its negation, so the metric may miss a "not". Texts without features for the
    embedder do not count.
    """

    name: str = "semantic_accuracy"
    tau: Fraction = TAU
    """Minimum cosine, inclusive."""
    embedder: Chosen | None = None
    """Embedder that compares meaning; a lexical one is not sufficient."""

    synchronous = ComputedMetric.embeds_at_once
    needs = ("output", "reference")

    def prepare(self) -> None:
        """Write `tau` as a decimal, as manifests always have it."""
        self.put(tau=float(self.tau))

    async def score(self, case: Case) -> Score:
        """Score one case.

        Raises:
            CaseError: the output or the reference is missing.
        """
        output, references = needed_text(case, "output"), needed_texts(case, "reference")
        if self.embedder is None or not is_semantic(self.embedder):
            meta = {} if self.embedder is None else {"embedder": identity_of(self.embedder)}
            return not_applicable(
                f"{NO_MEANING}; or compare words with lexical_accuracy.",
                method=_method(self.tau),
                meta=meta,
            )
        return await _by_cosine(output, references, embedder=self.embedder, tau=self.tau)


class LexicalAccuracy(ComputedMetric):
    """1 if the output shares enough words with a reference, else 0. Higher is better.

    The embedder `lexical` counts words and pieces of words. The cosine to the most similar
    reference must be at least `tau`. The metric compares words, not meaning: "5 pm" and "17:00" are
    dissimilar, and a sentence and its negation are similar ("is not open" counts as "is open"). If
    meaning matters, use `semantic_accuracy` with a model, or `accuracy` with a judge.
    """

    name: str = "lexical_accuracy"
    tau: Fraction = TAU
    """Minimum cosine, inclusive."""

    synchronous = True
    needs = ("output", "reference")

    def prepare(self) -> None:
        """Write `tau` as a decimal, as manifests always have it."""
        self.put(tau=float(self.tau))

    async def score(self, case: Case) -> Score:
        """Score one case.

        Raises:
            CaseError: the output or the reference is missing.
        """
        output, references = needed_text(case, "output"), needed_texts(case, "reference")
        return await _by_cosine(output, references, embedder="lexical", tau=self.tau)


def _method(tau: float) -> str:
    return f"cosine at least {tau:g}"


async def _by_cosine(
    output: str, references: tuple[str, ...], *, embedder: Chosen, tau: float
) -> Score:
    """Return 1 if the cosine of an output to a reference is at least `tau`, else 0."""
    first, *rest = await vectors(embedder, [output, *references])
    cosines = [cosine(first, vector) for vector in rest]
    known = [value for value in cosines if value is not None]
    common: dict[str, Any] = {"method": _method(tau), "meta": {"embedder": identity_of(embedder)}}
    if not known:
        reason = "The output or the reference has no words that the embedder knows."
        return not_applicable(reason, **common)
    best = round(max(known), DIGITS)
    value = semantic_accuracy([best], tau=tau) or 0.0
    return Score(
        value=value,
        reason=f"The cosine of the output to the reference is {best:.4f},"
        f" {'at least' if value else 'below'} {tau:g}.",
        ground_truth=list(references),
        details={
            "cosine": best,
            "cosines": [None if each is None else round(each, DIGITS) for each in cosines],
            "tau": tau,
        },
        **common,
    )
