"""Prompt alignment: does an answer follow the user's request and the system prompt?

The dimensions and weights are those documented for the TypeScript scorer of the same name (user
.40/.30/.20/.10, system .35/.35/.15/.15, both .70 user + .30 system). Here, `both` needs two
analyses, one for each audience, and the share of fulfilled requirements is computed from a
checklist, while the original uses a number from the judge.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from copy import copy
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple

from pydantic import JsonValue

from judgekit.core.arguments import checked, checked_class
from judgekit.core.case import Case
from judgekit.core.comparing import at_least
from judgekit.core.errors import ConfigError, JudgekitError
from judgekit.core.judgment import Answer, Judgment
from judgekit.core.miss import RequestMiss
from judgekit.core.protocols import JudgeLike
from judgekit.core.request import ChatMessage, Request
from judgekit.core.score import Part, Score, failure_of, round_half_up
from judgekit.core.synchronous import outcomes_of
from judgekit.metrics.built_in import BuiltIn
from judgekit.metrics.opinions.opinion import (
    OpinionReply,
    OpinionRequest,
    ask_all,
    check_quorum,
)
from judgekit.metrics.prompt_alignment.requirement_lists import (
    KEY,
    RUBRIC,
    RequirementListing,
    RequirementLists,
    uses_lists,
)
from judgekit.metrics.rubric import DEFAULT_HISTORY
from judgekit.rubric.criterion import Criterion
from judgekit.rubric.fold import Fold, Folded, Outcome, WeightedCriterion
from judgekit.rubric.rubric import Rubric
from judgekit.rubric.template import with_requirements
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


@checked_class
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


@checked
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

    First the judge lists the requirements of each prompt without the answer (rubric
    `prompt_requirements`): one call for each user's message and each system prompt, shared by all
    answers to it. Each member of a jury makes its own list. `expected.requirements` replaces the
    lists. Then, in mode `both`, the judge rates the four dimensions twice in one call: for the
    user's request and for the system prompt. If a case has only one of the two, only that one is
    rated, and `details.effective_mode` names it. A requirement whose condition does not arise is
    left out. A checklist without requirements is not applicable; the other criteria share its
    weight. In version 1 of the rubric, the judge lists requirements with its verdict.

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

    listing: ClassVar[str] = RUBRIC
    """The rubric of the first step."""
    needs = ("output", "input or system, by mode")

    def __post_init__(self) -> None:
        super().__post_init__()
        self._lists: RequirementLists | None = None
        """The requirements that a copy of this metric asks about."""
        self._listing: RequirementListing | None = None
        (rubric,) = self.rubrics
        if uses_lists(rubric):
            self._listing = RequirementListing(self.jury, name=self.name, history=self.history)
            self._judged_by(str(self.made_with["model"]), self._listing.rubric, rubric)

    @property
    def asks_further(self) -> bool:
        """Whether later requests depend on earlier replies: the verdict on the lists does."""
        return self._listing is not None

    @property
    def further_by_case(self) -> int | None:
        """The largest number of requests to a judge about a case after the lists."""
        if self._listing is None:
            return None
        criteria = len(self.rubrics[-1].criteria_of(self.mode))
        most = {"all": criteria, "each": 1}.get(str(self.jury.calls), self.jury.calls)
        return self.jury.samples * math.ceil(criteria / int(most))

    async def score(self, case: Case) -> Score:
        """Return the score of one case.

        Raises:
            JudgekitError: raised by the judge or the cassette, or the case lacks a field.
        """
        if self._listing is None:
            return await super().score(case)
        variant, _ = self.rubrics[-1].variant(case, mode=self.mode)
        listed = await self._listed(self._listing, case, variant)
        known = {name: lists for name, lists in listed.items() if not isinstance(lists, Exception)}
        opinions = []
        asks = self._asks(case, known)
        if asks:
            judge = partial(self._judge_listed, case, known, variant)
            opinions = await ask_all(asks, self.jury, judge, variant=variant)
        for name, error in listed.items():
            if isinstance(error, JudgekitError):
                member = next(m for m in self.jury.members if m.name == name)
                opinions += [
                    OpinionReply(OpinionRequest(member, sample, 0, ()), error=error)
                    for sample in range(self.jury.samples)
                ]
        check_quorum(opinions, self.jury)
        score = self._score_of(case, variant, opinions)
        self._note_left_out(case, asks[0], score)
        score.details.update(_requirements(known))
        listings = [judgment for lists in known.values() for judgment in lists.judgments]
        # After the verdicts, because opinions name these by their places.
        return score.model_copy(update={"judgments": (*score.judgments, *listings)})

    async def _listed(
        self, listing: RequirementListing, case: Case, variant: Variant
    ) -> dict[str, RequirementLists | JudgekitError]:
        """Return the lists of each member, or the error that prevented them.

        Raises:
            JudgekitError: an error that stops the run.
        """
        audiences = tuple(variant.groups)
        work = (listing.of(case, audiences, member) for member in self.jury.members)
        outcomes = await outcomes_of(work, inline=self.synchronous)
        listed: dict[str, RequirementLists | JudgekitError] = {}
        for member, outcome in zip(self.jury.members, outcomes, strict=True):
            if isinstance(outcome, RequirementLists):
                listed[member.name] = outcome
            elif isinstance(outcome, JudgekitError) and failure_of(outcome):
                if isinstance(outcome, RequestMiss):
                    # Version 1 has no lists: it may be recorded.
                    asks = super().opinion_requests(case)[1]
                    own = next(ask for ask in asks if ask.member == member)
                    self._hint(outcome, case, own)
                listed[member.name] = outcome
            else:
                raise outcome
        return listed

    def _asks(self, case: Case, known: Mapping[str, RequirementLists]) -> list[OpinionRequest]:
        """Return the requests for opinions of the members with lists, in the usual order."""
        by_texts: dict[str, list[OpinionRequest]] = {}
        asks: list[tuple[int, OpinionRequest]] = []
        for name, lists in known.items():
            same = repr(sorted(lists.texts.items()))
            if same not in by_texts:
                by_texts[same] = self._with_lists(lists).opinion_requests(case)[1]
            asks += [entry for entry in enumerate(by_texts[same]) if entry[1].member.name == name]
        return [ask for _, ask in sorted(asks, key=lambda entry: entry[0])]

    def _with_lists(self, lists: RequirementLists) -> PromptAlignment:
        """Return a copy of this metric that asks about given requirements."""
        other = copy(self)
        other.rubric, other._plans = self.rubrics[-1].with_items(lists.names), {}
        other._lists = lists
        return other

    def list_requests(self, case: Case) -> list[Request]:
        """Return the requests for the lists of requirements of a case; none in version 1.

        Raises:
            CaseError: the case lacks a field that the rubric needs.
        """
        if self._listing is None:
            return []
        variant, _ = self.rubrics[-1].variant(case, mode=self.mode)
        return self._listing.requests(case, tuple(variant.groups))

    def as_scored(self, score: Score) -> PromptAlignment:
        """Return this metric with the requirements in the details of a score of one judge."""
        listed = score.details.get(KEY)
        if self._listing is None or not isinstance(listed, dict):
            return self
        texts = {a: tuple(map(str, t)) for a, t in listed.items() if isinstance(t, list)}
        return self._with_lists(RequirementLists(texts))

    def completed(self, messages: tuple[ChatMessage, ...]) -> tuple[ChatMessage, ...]:
        """Return the messages with the requirements after the answer."""
        if self._lists is None or not self._lists.shown:
            return messages
        return with_requirements(messages, requirements=self._lists.shown)

    async def _judge_listed(
        self,
        case: Case,
        known: Mapping[str, RequirementLists],
        variant: Variant,
        ask: OpinionRequest,
        request: Request,
    ) -> Judgment:
        judgment = await self._judge(case, ask, request)
        return known[ask.member.name].applied(judgment, variant.ids)

    def details(self, variant: Variant, judgment: Judgment, folded: Folded) -> dict[str, JsonValue]:
        """Return the analyses in the format of the TypeScript scorer."""
        details: dict[str, JsonValue] = {
            "runId": judgment.request_key[:16],
            "mode": self.mode,
            "effective_mode": self.effective_mode(variant),
        }
        answers = judgment.answers
        numbers = {c.id: _number(c, answers[c.id]) for c in variant.criteria}
        for audience in variant.groups:
            ids = _CRITERIA[audience]
            details[audience] = _analysis([answers[id] for id in ids], [numbers[id] for id in ids])
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


def _requirements(known: Mapping[str, RequirementLists]) -> dict[str, JsonValue]:
    """Return the requirements for the details: those of each judge, if the judges differ."""
    lists = [*known.values()]
    first = lists[0]
    details: dict[str, JsonValue] = {
        KEY: {audience: [*texts] for audience, texts in first.texts.items()}
    }
    if any(other.texts != first.texts for other in lists):
        details["requirements_by_judge"] = {
            name: {audience: [*texts] for audience, texts in one.texts.items()}
            for name, one in known.items()
        }
    if first.given:
        details["requirements_given"] = [*sorted(first.given)]
    if left_out := max(one.left_out for one in lists):
        details["requirements_left_out"] = left_out
    return details


def _sentence(text: str) -> str:
    text = text[:1].upper() + text[1:]
    return text if text.endswith((".", "!", "?", "…")) else text + "."


def _number(criterion: Criterion, answer: Answer) -> JsonValue:
    """Return the answer to a dimension as a number: levels have values."""
    if isinstance(answer.value, str):
        return criterion.outcome(answer.value, ())[1]
    return answer.value


def _analysis(answers: Sequence[Answer], numbers: Sequence[JsonValue]) -> dict[str, JsonValue]:
    intent, requirements, completeness, fit = answers
    items: list[JsonValue] = [
        {"requirement": item["item"], "isFulfilled": item["met"], "reasoning": item["reason"]}
        for item in requirements.items
    ]
    met = len([1 for item in requirements.items if item["met"] is True])
    return {
        "intentAlignment": {
            "score": numbers[0],
            "primaryIntent": intent.details.get("primary_intent"),
            "isAddressed": intent.details.get("is_addressed"),
            "reasoning": intent.reason,
        },
        "requirementsFulfillment": {
            "requirements": items,
            "overallScore": met / len(items) if items else None,
        },
        "completeness": {
            "score": numbers[2],
            "missingElements": completeness.details.get("missing_elements", []),
            "reasoning": completeness.reason,
        },
        "responseAppropriateness": {
            "score": numbers[3],
            "formatAlignment": fit.details.get("format_alignment"),
            "toneAlignment": fit.details.get("tone_alignment"),
            "reasoning": fit.reason,
        },
    }
