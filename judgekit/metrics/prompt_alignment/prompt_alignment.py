"""Prompt alignment: does an answer follow the user's request and the system prompt?

The dimensions and weights are those documented for the TypeScript scorer of the same name (user
.40/.30/.20/.10, system .35/.35/.15/.15, both .70 user + .30 system). Here, `both` needs two
analyses, one for each audience, and the share of fulfilled requirements is computed from a
checklist, while the original uses a number from the judge.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from pydantic import JsonValue

from judgekit.core.comparing import at_least
from judgekit.core.errors import ConfigError
from judgekit.core.judgment import Answer, Judgment
from judgekit.core.protocols import JudgeLike
from judgekit.core.score import Part, round_half_up
from judgekit.metrics.built_in import BuiltIn
from judgekit.metrics.rubric import DEFAULT_HISTORY
from judgekit.rubric.fold import Fold, Folded, Outcome, WeightedCriterion
from judgekit.rubric.rubric import Rubric
from judgekit.rubric.variant import Variant

Mode = Literal["user", "system", "both"]

WEIGHTS: Mapping[str, tuple[float, float, float, float]] = {
    "user": (0.40, 0.30, 0.20, 0.10),
    "system": (0.35, 0.35, 0.15, 0.15),
}
"""Audience -> weights of intent, requirements, completeness, appropriateness."""
BOTH: Mapping[str, float] = {"user": 0.70, "system": 0.30}

BANDS: Sequence[tuple[float, str]] = (
    (0.9, "excellent"),
    (0.8, "very good"),
    (0.7, "good"),
    (0.6, "moderate"),
    (0.4, "poor"),
    (0.0, "very poor"),
)
"""Lower bound (inclusive) on 0..1 -> word."""


class Analysis(NamedTuple):
    """The four dimensions for one audience, each on 0..1."""

    intent: float
    requirements: float
    completeness: float
    appropriateness: float


_CRITERIA = {
    audience: tuple(f"{audience}.{dimension}" for dimension in Analysis._fields)
    for audience in WEIGHTS
}


def fold_prompt_alignment(
    analysis: Analysis, system: Analysis | None = None, *, mode: Mode = "both"
) -> float:
    """Return the weighted value of one or two analyses, not rounded and not scaled.

    In mode `both`, `analysis` has the weights of the user and `system` those of the system prompt.
    A single analysis counts for both audiences, which gives the weights .385/.315/.185/.115. The
    metric uses the same arithmetic for verdicts, so both round to the same displayed figure.
    Numbers outside 0..1 are not clamped.

    Raises:
        ConfigError: an unknown mode, or a dimension that is not a finite number.

    Example:
        >>> round(fold_prompt_alignment(Analysis(0.9, 0.8, 0.7, 0.6), mode="user"), 10)
        0.8
        >>> round(fold_prompt_alignment(Analysis(0.9, 0.8, 0.7, 0.6)), 10)
        0.797
    """
    if mode != "both" and mode not in WEIGHTS:
        raise ConfigError(f"no mode {mode!r}; known: user, system, both")
    groups: Mapping[str, float] = BOTH if mode == "both" else {mode: 1.0}
    other = analysis if system is None or mode != "both" else system
    analyses = {"user": analysis, "system": other}
    criteria = [
        WeightedCriterion(f"{audience}.{dimension}", audience, weight)
        for audience in groups
        for dimension, weight in zip(Analysis._fields, WEIGHTS[audience], strict=True)
    ]
    outcomes: list[Outcome] = [
        ("scored", _finite(dimension, number))
        for audience in groups
        for dimension, number in zip(Analysis._fields, analyses[audience], strict=True)
    ]
    raw = Fold(criteria, groups)(outcomes).raw
    assert raw is not None  # noqa: S101 - every dimension was scored
    return raw


def _finite(dimension: str, number: object) -> float:
    if isinstance(number, bool) or not isinstance(number, (int, float)):
        raise ConfigError(f"{dimension} must be a number, not {number!r}")
    if not math.isfinite(number):
        raise ConfigError(f"{dimension} must be a finite number, not {number}")
    return float(number)


def alignment_band(value: float) -> str:
    """Return the word for a value on 0..1 (see `BANDS`)."""
    for bound, word in BANDS:
        if at_least(value, bound):
            return word
    return BANDS[-1][1]


class PromptAlignment(BuiltIn):
    """How well the output follows the prompts, by a judge. Range 0..1, higher is better.

    In mode `both` the judge rates the four dimensions twice in one call: for the user's request and
    for the system prompt. If a case has only one of the two, only that one is rated, and
    `details.effective_mode` names it. A checklist without requirements is not applicable; the other
    criteria share its weight.

    Args:
        judge: the judge.
        name: the name in results.
        mode: `user`, `system` or `both`.
        scale: factor for the displayed value, such as 10.
        history: maximum number of earlier messages that the judge sees; without them, short replies
            such as "yes" score too low.
        samples: how many times to ask the judge.
        rubric: rubric with the same criteria that replaces the built-in one.
        parameters: values for the parameters of that rubric.
    """

    judge: JudgeLike
    name: str = "prompt_alignment"
    mode: Mode = "both"
    scale: float = 1.0
    history: int = DEFAULT_HISTORY
    samples: int = 1
    rubric: Rubric | str | Path = "prompt_alignment"
    parameters: Mapping[str, Any] | None = None

    needs = ("output", "input or system, by mode")

    def details(self, variant: Variant, judgment: Judgment, folded: Folded) -> dict[str, JsonValue]:
        """Return the analyses in the format of the TypeScript scorer."""
        details: dict[str, JsonValue] = {
            "runId": judgment.request_key[:16],
            "mode": self.mode,
            "effective_mode": self.effective_mode(variant),
        }
        answers = judgment.answers
        for audience in variant.groups:
            details[audience] = _analysis(*[answers[id] for id in _CRITERIA[audience]])
        details["overallAssessment"] = judgment.details.get("overall_assessment", "")
        if folded.value is not None:
            details["band"] = alignment_band(folded.value)
        return details

    def reason(self, judgment: Judgment, folded: Folded, parts: Sequence[Part]) -> str:
        """Return one paragraph with figures on the displayed scale."""
        if folded.value is None:
            return super().reason(judgment, folded, parts)
        shown = f"{round_half_up(folded.value * self.scale):g} out of {self.scale:g}"
        summary = str(judgment.details.get("overall_assessment", "")).strip()
        cost = super().reason(judgment, folded, parts)
        return f"{shown}, {alignment_band(folded.value)} alignment. {summary} {_sentence(cost)}"


def _sentence(text: str) -> str:
    text = text[:1].upper() + text[1:]
    return text if text.endswith((".", "!", "?", "…")) else text + "."


def _analysis(
    intent: Answer, requirements: Answer, completeness: Answer, fit: Answer
) -> dict[str, JsonValue]:
    items: list[JsonValue] = [
        {"requirement": item["item"], "isFulfilled": item["met"], "reasoning": item["reason"]}
        for item in requirements.items
    ]
    met = len([1 for item in requirements.items if item["met"] is True])
    return {
        "intentAlignment": {
            "score": intent.value,
            "primaryIntent": intent.details.get("primary_intent"),
            "isAddressed": intent.details.get("is_addressed"),
            "reasoning": intent.reason,
        },
        "requirementsFulfillment": {
            "requirements": items,
            "overallScore": met / len(items) if items else None,
        },
        "completeness": {
            "score": completeness.value,
            "missingElements": completeness.details.get("missing_elements", []),
            "reasoning": completeness.reason,
        },
        "responseAppropriateness": {
            "score": fit.value,
            "formatAlignment": fit.details.get("format_alignment"),
            "toneAlignment": fit.details.get("tone_alignment"),
            "reasoning": fit.reason,
        },
    }
