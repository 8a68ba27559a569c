"""Brand voice: authenticity, safety and stability in one number, with a grade."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from judgekit.core.case import Case
from judgekit.core.errors import ConfigError
from judgekit.core.protocols import Aggregate, JudgeLike, Metric
from judgekit.core.request import Request
from judgekit.core.score import Part, Score, checked_score
from judgekit.core.suggest import suggest
from judgekit.core.value import Json
from judgekit.embedders import Chosen
from judgekit.metrics.aggregate import Figures, ScoreAggregate
from judgekit.metrics.brand_voice.alignmenter import AlignmenterCalibration, Compat, band_of
from judgekit.metrics.brand_voice.authenticity import Authenticity
from judgekit.metrics.brand_voice.judge_metrics import SESSION_HISTORY, BrandSafety
from judgekit.metrics.brand_voice.patterns import PatternSet
from judgekit.metrics.brand_voice.persona import Persona, persona_of
from judgekit.metrics.brand_voice.safety import SafetyPatterns
from judgekit.metrics.brand_voice.sessions import FIGURES, Sessions
from judgekit.metrics.brand_voice.stability import Stability, Variant
from judgekit.metrics.computed import not_applicable
from judgekit.metrics.embedding.similarity import Reduce
from judgekit.metrics.weights import check_weights, fold_parts, spelled_part
from judgekit.rubric.rubric import Rubric
from judgekit.rubric.variant import Variant as RubricVariant

WEIGHTS = {"authenticity": 0.5, "safety": 0.3, "stability": 0.2}
GRADES = ((0.9, "A"), (0.8, "B"), (0.7, "C"), (0.6, "D"), (0.0, "F"))
"""Minimum value -> letter."""


def grade(value: float) -> str:
    """Return the letter of a value on 0..1: A from .90, B from .80, C from .70, D from .60, else F.

    A value less than a billionth below a bound counts as the bound, because of rounding: .1 + .2 is
    .30000000000000004.

    >>> grade(0.9), grade(0.8999), grade(0.59)
    ('A', 'B', 'F')
    """
    return band_of(round(value, 9), GRADES)


@dataclass(kw_only=True, eq=False, repr=False)
class BrandVoice(Metric):
    """Authenticity, safety and stability of a session in one number. Range 0..1, higher is better.

    The value is .5 authenticity + .3 safety + .2 stability. A part that is not applicable, such as
    the stability of a single reply, drops out, and the others share its weight. `details.grade` is
    a letter: A from .90, B from .80, C from .70, D from .60, else F. `confidence` is the share of
    the weight that counted. With a judge, safety is `brand_safety`. `brand_voice_rules` uses no
    judge; its safety is `safety_patterns`.

    Args:
        persona: the persona, as a file path relative to the suite or as a mapping.
        judge: who judges safety.
        name: the name in results.
        weights: weights of authenticity, safety and stability, which add up to 1.
        scoring: the weights in Alignmenter's format: authenticity_weight, safety_weight,
            stability_weight.
        authenticity_weights: weights of style, traits and lexicon.
        reduce: similarity to several exemplars: the maximum (`max`) or the mean (`mean`).
        variant: formula of stability.
        maximum: distance or deviation at which stability is 0.
        embedder: embedder that turns replies into vectors.
        policy: what the assistant must avoid; the judge sees it.
        categories: built-in pattern lists to use; by default all of them.
        patterns: your own pattern list, as a file path relative to the suite or as a mapping.
        compat: `alignmenter` reproduces its figures of authenticity and stability.
        calibration: the calibration of authenticity, instead of the one next to the persona;
            `false` for none. With `compat` also a `.traits.json`.
        samples: how many times to ask the judge.
        history: maximum number of earlier messages that the judge sees.
        rubric: rubric for safety.
    """

    persona: str | Mapping[str, Any] | Persona
    judge: JudgeLike | None = None
    name: str = "brand_voice"
    weights: Mapping[str, float] | None = None
    scoring: Mapping[str, float] | None = None
    authenticity_weights: Mapping[str, float] | None = None
    reduce: Reduce = "max"
    variant: Variant = "dispersion"
    maximum: float | None = None
    embedder: Chosen = "lexical"
    policy: tuple[str, ...] = ()
    categories: tuple[str, ...] | None = None
    patterns: str | Mapping[str, Any] | PatternSet | None = None
    compat: Compat | None = None
    calibration: str | Mapping[str, Any] | bool | None = None
    samples: int = 1
    history: int = SESSION_HISTORY
    rubric: Rubric | str | Path = "brand_safety"

    files: ClassVar[tuple[str, ...]] = ("persona", "patterns", "calibration")
    figures: ClassVar[Mapping[str, bool]] = {
        **FIGURES,
        **{f"grade_{letter}": letter in "AB" for _, letter in GRADES},
    }
    needs = ("output, or assistant turns in history",)
    confidence = "is the share of the weight that counted"

    def __post_init__(self) -> None:
        self.persona = persona_of(self.name, self.persona)
        given = _spelled(self.name, self.weights, self.scoring)
        self.weights = check_weights(self.name, given, WEIGHTS)
        self.authenticity = Authenticity(
            weights=self.authenticity_weights,
            **self._given("persona", "reduce", "calibration", "embedder", "compat"),
        )
        self.safety: BrandSafety | SafetyPatterns
        if self.judge is None:
            self.safety = SafetyPatterns(**self._given("categories", "patterns"))
        else:
            judging = self._given("judge", "persona", "policy", "samples", "history", "rubric")
            self.safety = BrandSafety(**judging, **self._given("categories", "patterns"))
            self.safety.judged.step_of = self
        known: Any = self.authenticity.calibration
        is_original = isinstance(known, AlignmenterCalibration)
        self.stability = Stability(
            calibration=known if is_original else None,
            **self._given("variant", "maximum", "embedder", "compat"),
        )

    def _given(self, *names: str) -> dict[str, Any]:
        """Return the options that one of the three metrics also has."""
        return {name: getattr(self, name) for name in names}

    def children(self) -> tuple[Metric, ...]:
        """Return the metrics it combines."""
        return (self.authenticity, self.safety, self.stability)

    @property
    def synchronous(self) -> bool:
        """Whether scoring never waits."""
        return self.safety.synchronous and self.stability.synchronous

    @property
    def options(self) -> dict[str, Json]:
        """The options as plain data."""
        parts = zip(WEIGHTS, self.children(), strict=True)
        return {"weights": self.weights, **{id: metric.options for id, metric in parts}}

    @property
    def made_with(self) -> dict[str, Json]:
        """Facts that affect the value in addition to the options."""
        return {**self.authenticity.made_with, **self.safety.made_with}

    def aggregates(self) -> list[Aggregate]:
        """Return the spread over sessions, and the number of sessions with each grade."""
        return [Sessions(), _Grades()]

    def requests(self, case: Case) -> tuple[RubricVariant, list[Request]]:
        """Return the requests of a case without sending them.

        Raises:
            ConfigError: there is no judge.
        """
        if isinstance(self.safety, SafetyPatterns):
            raise ConfigError(f"{self.name} has no judge")
        return self.safety.judged.requests(case)

    async def score(self, case: Case) -> Score:
        """Score one session.

        Raises:
            JudgekitError: raised by the judge or the cassette, or the case lacks a field.
        """
        metrics = zip(WEIGHTS, self.children(), strict=True)
        scores = {id: await checked_score(metric, case) for id, metric in metrics}
        folded = fold_parts([_part(id, score) for id, score in scores.items()], self.weights or {})
        meta: dict[str, Json] = {id: score.meta for id, score in scores.items()}
        meta |= {k: v for k, v in scores["safety"].meta.items() if k in _JUDGE}
        common: dict[str, Any] = {
            "parts": folded.parts,
            "method": "weighted mean of authenticity, safety and stability",
            "meta": meta,
        }
        if folded.value is None:
            return not_applicable("Nothing with a weight applies to this session.", **common)
        letter = grade(folded.value)
        summary = "; ".join(map(spelled_part, folded.parts))
        lowest = min(
            (part for part in folded.parts if part.value is not None and part.weight),
            key=lambda part: part.value or 0.0,
        )
        return Score(
            value=folded.value,
            reason=f"{letter}: {summary}. Lowest, {lowest.id}: {lowest.reason}",
            source="judge" if scores["safety"].source == "judge" else "computed",
            confidence=folded.covered,
            judgments=scores["safety"].judgments,
            details={"grade": letter, **{id: score.details for id, score in scores.items()}},
            **common,
        )


_JUDGE = ("model", "rubric", "version", "digest")
"""Keys of the facts about the judge in results."""


def _part(id: str, score: Score) -> Part:
    return Part(
        id=id,
        status=score.status,
        value=score.value,
        reason=score.reason.removeprefix(f"{id} {score.value or 0.0:.2f}: "),
        quotes=tuple(quote for part in score.parts for quote in part.quotes),
        details={"method": score.method},
    )


class _Grades(ScoreAggregate):
    """Counts the sessions with each grade."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()

    def add_score(self, score: Score, value: float) -> None:
        """Add one session."""
        self._counts[grade(value)] += 1

    def finish(self) -> Figures:
        """Return the counts; `None` without scored sessions."""
        there = bool(self._counts)
        return {f"grade_{letter}": self._counts[letter] if there else None for _, letter in GRADES}


def _spelled(
    metric: str, weights: Mapping[str, float] | None, scoring: object
) -> Mapping[str, float] | None:
    """Return the weights, from `weights` or from `scoring`."""
    if scoring is None:
        return weights
    if weights is not None:
        raise ConfigError(f"{metric}: give weights or scoring, not both")
    names = {f"{part}_weight": part for part in WEIGHTS}
    if not isinstance(scoring, Mapping):
        raise ConfigError(f"{metric}: scoring must be {', '.join(names)}, not {scoring!r}")
    for name in scoring:
        if name not in names:
            raise ConfigError(f"{metric}: scoring has no {name!r}{suggest(str(name), list(names))}")
    return {part: scoring.get(name, WEIGHTS[part]) for name, part in names.items()}
