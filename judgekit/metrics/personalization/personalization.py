"""Personalization: does steering towards a trait work, and does quality suffer?"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar

from judgekit.core.canonical import canonical_json, digest
from judgekit.core.case import Case
from judgekit.core.errors import ConfigError
from judgekit.core.protocols import Aggregate, JudgeLike, Metric
from judgekit.core.score import Part, Score, checked_score
from judgekit.core.value import Json
from judgekit.embedders import Chosen, embeds_at_once, identity_of
from judgekit.metrics._options import check_name, needed_text, truth_of
from judgekit.metrics.aggregate import DetailMeans
from judgekit.metrics.computed import not_applicable
from judgekit.metrics.embedding.examples import read_examples
from judgekit.metrics.embedding.trait import Contrast, ExampleContrast
from judgekit.metrics.personalization.difference import By, Compat, Difference, on_1_100
from judgekit.metrics.rubric import RubricMetric
from judgekit.metrics.safety_and_quality.coherence_rules import CoherenceRules
from judgekit.metrics.weights import check_weights
from judgekit.rubric.rubric import Rubric

FIGURES = ("difference_score", "quality_score", "alignment_score", "steered_share")

WEIGHTS: Mapping[str, float] = MappingProxyType(
    {"difference": 0.2, "quality": 0.3, "alignment": 0.5}
)
GATE = 0.7
"""Minimum difference that counts as an effect of steering."""


def passes_gate(difference: float, *, gate: float = GATE) -> bool:
    """Return whether a difference on 0..1 reaches the gate; a difference equal to it passes.

    Both are rounded to nine decimals, because 99 x 69/99 + 1 is not exactly 70 in binary.
    """
    return round(difference, 9) >= round(gate, 9)


def overall_personalization(
    difference: float,
    quality: float,
    alignment: float,
    *,
    gate: float = GATE,
    weights: Mapping[str, float] = WEIGHTS,
) -> float:
    """Return 0 below the gate, else the weighted sum, all on 0..1.

    >>> round(overall_personalization(0.9, 0.8, 0.6), 10)
    0.72
    >>> overall_personalization(0.69, 1.0, 1.0)
    0.0
    """
    if not passes_gate(difference, gate=gate):
        return 0.0
    scores = {"difference": difference, "quality": quality, "alignment": alignment}
    return min(1.0, math.fsum(weights[name] * score for name, score in scores.items()))


@dataclass(kw_only=True, eq=False, repr=False)
class Personalization(Metric):
    """Difference, quality and alignment in one number, with a gate. Range 0..1, higher is better.

    The value is 0 if the output differs from the baseline by less than 70 of 100, because steering
    had no effect; exactly 70 passes. Otherwise it is .2 difference + .3 quality + .5 alignment, all
    on 0..1. A case has a prompt (`input`), the steered answer (`output`) and the answer without
    steering (`baseline`); a case without a baseline is a failure. The rubric `quality` rates
    quality. `personalization_rules` uses the coherence checks instead of a judge, and its results
    say so. `details` contain difference_score, quality_score, alignment_score and overall_score on
    0..1. `confidence` is the confidence of the quality score, because the other two are computed.

    Args:
        positive_examples: texts that show the trait, or a file of them, relative to the suite.
        negative_examples: texts that do not show the trait, or a file of them.
        judge: the judge of quality; without one, the coherence checks rate it.
        name: the name in results.
        trait: score only cases with this `metadata.trait`, so that one suite can contain several
            traits. Other cases are not applicable and cause no judge call.
        by: how difference is measured: tokens or embedding.
        embedder: embedder that turns answers and examples into vectors.
        least_difference: minimum difference, on 0..1; below it the value is 0.
        weights: weights of difference, quality and alignment, which add up to 1.
        compat: `wisent` uses its tokens for difference.
        samples: how many times to ask the judge.
        rubric: rubric for quality.
    """

    positive_examples: str | Path | Sequence[str]
    negative_examples: str | Path | Sequence[str]
    judge: JudgeLike | None = None
    name: str = "personalization"
    trait: str | None = None
    by: By = "tokens"
    embedder: Chosen = "lexical"
    least_difference: float = GATE
    weights: Mapping[str, float] | None = None
    compat: Compat | None = None
    samples: int = 1
    rubric: Rubric | str | Path = "quality"

    files: ClassVar[tuple[str, ...]] = ("positive_examples", "negative_examples")
    figures: ClassVar[Mapping[str, bool]] = dict.fromkeys(FIGURES, True)
    needs = ("input", "output", "baseline")
    confidence = "is the confidence of the quality score: the other two are computed"

    def __post_init__(self) -> None:
        name, least = self.name, self.least_difference
        check_name("personalization", name)
        self.difference = Difference(
            name=name, by=self.by, embedder=self.embedder, compat=self.compat
        )
        number = isinstance(least, (int, float)) and not isinstance(least, bool)
        if not number or not 0 <= least <= 1:
            raise ConfigError(
                f"{name}: least_difference must be a number from 0 to 1 (.7 is 70 of 100),"
                f" not {least!r}"
            )
        if self.trait is not None:
            check_name(f"{name}: trait", self.trait)
        self.least_difference = float(least)
        self.positives = read_examples(name, "positive", self.positive_examples)
        self.negatives = read_examples(name, "negative", self.negative_examples)
        self.weights = self.shares = check_weights(name, self.weights, WEIGHTS)
        self.quality: RubricMetric | CoherenceRules = CoherenceRules()
        if self.judge is not None:
            self.quality = RubricMetric(
                self.rubric, judge=self.judge, samples=self.samples, name=name
            )
            self.quality.step_of = self
        self._contrast = ExampleContrast(self.embedder, self.positives, self.negatives)

    def children(self) -> tuple[Metric, ...]:
        """Return the metric that rates quality."""
        return (self.quality,)

    @property
    def synchronous(self) -> bool:
        """Whether both the quality metric and the embedder are synchronous."""
        return self.quality.synchronous and embeds_at_once(self.embedder)

    @property
    def options(self) -> dict[str, Json]:
        """The options as plain data; examples as number and digest."""
        return {
            "trait": self.trait,
            "by": self.by,
            "compat": self.compat,
            "least_difference": self.least_difference,
            "weights": self.shares,
            "positive_examples": len(self.positives),
            "negative_examples": len(self.negatives),
            "examples_digest": digest(canonical_json([self.positives, self.negatives]))[:16],
        }

    @property
    def made_with(self) -> dict[str, Json]:
        """Facts that affect the value in addition to the options."""
        quality = self.quality.made_with if isinstance(self.quality, RubricMetric) else {}
        return {**quality, "embedder": identity_of(self.embedder)}

    def aggregates(self) -> list[Aggregate]:
        """Return the means of the three scores, and the share of answers that pass the gate."""
        details = {name: name for name in FIGURES} | {"steered_share": "steered"}
        return [DetailMeans("steered", {name: itemgetter(key) for name, key in details.items()})]

    async def score(self, case: Case) -> Score:
        """Score one case.

        Raises:
            CaseError: a text is missing.
            JudgekitError: raised by the judge or the cassette.
        """
        if self.trait is not None and case.metadata.get("trait") != self.trait:
            return not_applicable(f"The case is not about the trait {self.trait!r}.")
        needed_text(case, "input")
        difference = await self.difference.measure(case)
        contrast = await self._contrast.contrast(needed_text(case, "output"))
        quality = await checked_score(self.quality, case)
        method = "gated sum of difference, quality and alignment"
        meta: dict[str, Json] = {**quality.meta, "embedder": identity_of(self.embedder)}
        common: dict[str, Any] = {"method": method, "meta": meta, "judgments": quality.judgments}
        if difference is None or contrast is None:
            return not_applicable("The output has no words that the embedder knows.", **common)
        if quality.value is None:
            return Score(status=quality.status, reason=f"Quality: {quality.reason}", **common)
        difference /= 100
        # Rounded, because the batches of an embedder change the last digits.
        contrast = Contrast(*(round(number, 4) for number in contrast))
        gate, alignment = self.least_difference, contrast.alignment
        scores = {"difference": difference, "quality": quality.value, "alignment": alignment}
        value = overall_personalization(*scores.values(), gate=gate, weights=self.shares)
        passed = passes_gate(difference, gate=gate)
        return Score(
            value=value,
            parts=self._parts(scores, quality, contrast),
            reason=self._reason(difference, quality.value, contrast, passed=passed),
            source=quality.source,
            confidence=quality.confidence,
            ground_truth=truth_of(case.reference),
            details={
                **{f"{name}_score": score for name, score in scores.items()},
                "overall_score": value,
                "steered": passed,
                "quality_by": quality.method,
                "positive_similarity": contrast.positive,
                "negative_similarity": contrast.negative,
                "difference_1_100": difference * 100,
                "alignment_1_100": on_1_100(alignment),
            },
            **common,
        )

    def _parts(
        self, scores: Mapping[str, float], quality: Score, contrast: Contrast
    ) -> tuple[Part, ...]:
        side = "positive" if contrast.alignment > 0.5 else "negative"
        comparison = f"more similar to the {side}"
        if contrast.alignment == 0.5:
            comparison = "equally similar to the positive and negative"
        cosines = f"mean cosines {contrast.positive:.2f} and {contrast.negative:.2f}"
        difference = f"{scores['difference'] * 100:.0f} of 100 from the baseline"
        reasons = {
            "difference": f"{difference}; {self.least_difference * 100:.0f} are needed",
            "quality": quality.reason,
            "alignment": f"{comparison} examples: {cosines}",
        }
        criteria: list[Json] = [
            f"{part.id}: {part.answer if part.value is not None else part.status}. {part.reason}"
            for part in quality.parts
        ]
        details = {"quality": {"method": quality.method, "criteria": criteria, **quality.details}}
        return tuple(
            Part(
                id=id,
                value=value,
                weight=self.shares[id],
                reason=reasons[id],
                details=details.get(id, {}),
            )
            for id, value in scores.items()
        )

    def _reason(
        self, difference: float, quality: float, contrast: Contrast, *, passed: bool
    ) -> str:
        if not passed:
            return (
                "Steering had no effect: the output differs from the baseline by"
                f" {difference * 100:.0f} of 100, and {self.least_difference * 100:.0f} are needed."
            )
        by = "" if isinstance(self.quality, RubricMetric) else " (by rule, not judged)"
        return (
            f"Difference {difference:.2f}, quality {quality:.2f}{by}, alignment"
            f" {contrast.alignment:.2f}, where .5 is neutral."
        )
