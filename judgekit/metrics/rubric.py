"""A rubric as a metric: render, call the judge, validate, fold, explain."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from functools import partial
from itertools import product
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from pydantic import BaseModel

from judgekit.core.arguments import checked
from judgekit.core.case import Case, Message, with_last_messages
from judgekit.core.distribution import Readout
from judgekit.core.errors import ConfigError, JudgekitError
from judgekit.core.judge_wrapper import RequestBuilder
from judgekit.core.judgment import Judgment
from judgekit.core.jury import Calls, Member, Order, jury_of
from judgekit.core.left_out import SHOWN, note
from judgekit.core.miss import RequestMiss
from judgekit.core.protocols import Aggregate, Asks, JudgeLike, Metric
from judgekit.core.request import About, Api, ChatMessage, Request
from judgekit.core.score import Opinion, Part, Score
from judgekit.core.value import Json, trusted
from judgekit.metrics._options import Bounds, check_number
from judgekit.metrics.left_out import PrintedFields
from judgekit.metrics.moved import moved_by
from judgekit.metrics.opinions.opinion import (
    Mirror,
    OpinionReply,
    OpinionRequest,
    ask_all,
    ask_member,
    check_askable,
    combine_opinions,
    opinion_reply,
    opinions_of,
    parts_of,
    unsupported_parts,
)
from judgekit.metrics.opinions.vote import spelled, tie_in
from judgekit.metrics.quote import FIGURES, QuoteTally, find_quotes
from judgekit.metrics.response_model import ResponseModel
from judgekit.rubric.criterion import WRITTEN, Arrangement, order_name
from judgekit.rubric.fold import WAYS, Folded, Outcome
from judgekit.rubric.load import criteria_rubric, load_rubric
from judgekit.rubric.rubric import Rubric
from judgekit.rubric.variant import Variant

if TYPE_CHECKING:
    from judgekit.metrics.version_hint import VersionHint

DEFAULT_HISTORY = 10


class JudgedMetric(Metric):
    """Base of metrics with a judge; adds the facts about the judge to results."""

    asks: ClassVar[Asks] = "verdict"

    def _judged_by(self, model: str, *rubrics: Rubric) -> None:
        *first, last = rubrics
        named = [f"{rubric.name}@{rubric.version}" for rubric in rubrics]
        self._rubrics = rubrics
        # Reports print RUBRIC@VERSION; several are joined: `statements@1+claim_support@1`.
        self._made_with: dict[str, Json] = {
            "rubric": "+".join([*named[: len(first)], last.name]),
            "version": last.version,
            "digest": "+".join(rubric.digest[:16] for rubric in rubrics),
            "model": model,
        }
        self._method = f"{model} by {' and '.join(named)}"

    @property
    def made_with(self) -> dict[str, Json]:
        """Rubrics, digests and model."""
        return self._made_with

    @property
    def rubrics(self) -> tuple[Rubric, ...]:
        """The rubrics of the metric, in order."""
        return self._rubrics

    def aggregates(self) -> Sequence[Aggregate]:
        """Return new aggregates for a run."""
        return (QuoteTally(),) if self.figures else ()


class _OpinionPlan(NamedTuple):
    """One opinion to request on each case: by which judge, and in which order."""

    member: Member
    builder: RequestBuilder
    api: Api | None
    sample: int
    place: int
    """Place in the balanced orders."""
    mirror: Mirror | None
    arrangements: list[Arrangement]
    """The arrangement of each request."""


class RubricMetric(JudgedMetric):
    """Scores a case by a judge's answers to a rubric. Range 0..1, higher is better.

    The value is the fold of the criteria (see `judgekit.rubric.fold`); `confidence` is the share of
    the rubric's weight that the judge answered. With `samples`, the judge is called that many
    times: numbers are averaged, words and yes/no are decided by majority, and a tie abstains. With
    a `Jury` as judge, several judges vote.

    Args:
        rubric: a loaded rubric, a name, or a path.
        criteria: the criteria in place of a rubric: id -> question, or a mapping with the keys of a
            criterion in a rubric file. The judge gets the same requests as with these criteria in
            a suite.
        description: the task of `criteria`, in one sentence for the judge.
        requires: fields every case must have for `criteria`; `output` by default.
        judge: the judge, or a `Jury`.
        name: the name in results; by default that of the rubric, or `criteria`.
        mode: one of the rubric's modes; by default its default mode.
        samples: how many times to call the judge; each reply is recorded under a separate key.
        order: `balanced` changes the order of criteria and options from sample to sample.
        calls: `all` criteria in one call, `each` in a separate call, or a number per call.
        readout: how to get an answer from the distribution of the answers (see `Jury`).
        max_reason: maximum length of a reason, a quote or another text of a reply, in characters;
            by default that of the judge.
        history: maximum number of earlier messages that the judge sees.
        scale: factor for the displayed value, such as 10 for "8.5 out of 10"; above 0.
        parameters: values for the rubric's parameters; the others keep their defaults.
        response_model: a Pydantic class that the judge fills in, instead of the rubric's criteria.
        value: function from an instance of that class to its value on 0..1; by default its field
            `value`.

    Raises:
        ConfigError: an option is out of range, or there is not exactly one of rubric and criteria.
        RubricError: the rubric cannot be loaded, or a criterion is wrong.

    Example:
        >>> kind = RubricMetric(criteria={"polite": "Is the answer polite?"}, judge="fake/judge")
        >>> [criterion.id for criterion in kind.rubric.criteria]
        ['polite']
    """

    confidence = "is the share of the rubric's weight that the judge answered"

    @checked
    def __init__(
        self,
        rubric: Rubric | str | Path | None = None,
        *,
        criteria: Mapping[str, str | Mapping[str, Any]] | None = None,
        description: str | None = None,
        requires: Sequence[str] | None = None,
        judge: JudgeLike,
        name: str | None = None,
        mode: str | None = None,
        samples: int = 1,
        order: Order = "written",
        calls: Calls = "all",
        readout: Readout | None = None,
        max_reason: int | None = None,
        history: int = DEFAULT_HISTORY,
        scale: float = 1.0,
        parameters: Mapping[str, Any] | None = None,
        response_model: type[BaseModel] | None = None,
        value: Callable[[Any], float] | None = None,
    ) -> None:
        if (rubric is None) == (criteria is None):
            both = "both a rubric and criteria" if criteria is not None else "no rubric"
            raise ConfigError(f"{name or 'a rubric metric'} has {both}; give a rubric or criteria")
        if rubric is not None and (description is not None or requires is not None):
            raise ConfigError("description and requires belong to criteria; a rubric has its own")
        if criteria is not None:
            loaded = criteria_rubric(
                name or "criteria", criteria, description=description, requires=requires
            )
        else:
            loaded = rubric if isinstance(rubric, Rubric) else load_rubric(rubric or "")
        self.rubric = loaded.with_parameters(parameters or {})
        self.name = name or self.rubric.name
        self.mode = self.rubric.check_mode(mode)
        check_number(self.name, "history", history, int, Bounds(0))
        if isinstance(scale, bool) or not isinstance(scale, (int, float)) or not 0 < scale < 1e300:
            raise ConfigError(f"scale must be a number above 0, such as 5 or 100, not {scale!r}")
        self.jury = jury_of(
            judge,
            samples=samples,
            order=order,
            calls=calls,
            readout=readout,
            max_reason=max_reason,
        )
        self.samples = self.jury.samples
        self.history = history
        self.scale = float(scale)
        self.response_model = response_model
        self._own = None if response_model is None else ResponseModel(response_model, value=value)
        if self._own is not None and (self.jury.options or self.jury.members[0].judge.settings.api):
            raise ConfigError(
                f"{self.name}: a response model supports only one judge and samples; "
                "juries, orders, calls, readouts and max_reason need the criteria of a rubric"
            )
        check_askable(self.name, self.rubric, mode=self.mode, jury=self.jury)
        self._mirrors: tuple[Mirror | None, ...] = (None,)
        self._plans: dict[Variant, list[_OpinionPlan]] = {}
        self._versions: VersionHint | None = None
        self.step_of: Metric | None = None
        """The metric of which this one is a step."""
        self._shows = PrintedFields(self.rubric, mode=self.mode, most=history)
        self._effective_modes: dict[tuple[str, ...], str] = {}
        self._builders = [
            (
                member,
                RequestBuilder(member.judge, max_reason=self.jury.max_reason),
                member.judge.settings.api,
            )
            for member in self.jury.members
        ]
        self.judge = self.jury.members[0].judge if len(self.jury.members) == 1 else self.jury
        self._judged_by(self.judge.model, self.rubric)

    @property
    def figures(self) -> Mapping[str, bool]:
        """The figures of quotes, if the rubric asks for quotes, and whether higher is better."""
        with_quotes = (c.question.quotes for c in self.rubric.criteria_of(self.mode))
        return FIGURES if self._own is None and any(with_quotes) else {}

    @property
    def synchronous(self) -> bool:
        """Whether scoring never waits, because no judge is asynchronous."""
        return self.judge.synchronous

    @property
    def validated(self) -> bool:
        """Whether scores contain only validated answers; a response model may return others."""
        return self._own is None

    @property
    def options(self) -> dict[str, Json]:
        """Options that affect the requests or the value."""
        options: dict[str, Json] = {
            "rubric": self.rubric.name,
            "mode": self.mode,
            "samples": self.samples,
            "history": self.history,
            "scale": self.scale,
            **self.jury.options,
        }
        if self.rubric.parameters:
            options["parameters"] = {
                name: list(value) if isinstance(value, tuple) else value
                for name, value in self.rubric.parameters.items()
            }
        if self._own is not None:
            options["response_model"] = self._own.form.digest[:16]
        if left_out := unsupported_parts(self.rubric, mode=self.mode, jury=self.jury):
            options["not_asked"] = left_out
        return options

    def requests(self, case: Case) -> tuple[Variant, list[Request]]:
        """Return the requests of a case without sending them.

        Raises:
            CaseError: the case lacks a field that the rubric needs.
            RubricError: the template failed.
        """
        variant, asks = self.opinion_requests(case)
        return variant, [request for ask in asks for request in ask.requests]

    def opinion_requests(self, case: Case) -> tuple[Variant, list[OpinionRequest]]:
        """Return the variant of a case in written order, and the requests, sample by sample.

        Raises:
            CaseError: the case lacks a field that the rubric needs.
            RubricError: the template failed.
        """
        # Not as an attribute: a metric whose rubric does not print the history does not read it.
        earlier: tuple[Message, ...] = case.__dict__["history"]
        if len(earlier) > self.history:
            earlier = earlier[len(earlier) - self.history :]
            case = with_last_messages(case, self.history)
        own_form = None if self._own is None else self._own.form
        rendered: dict[tuple[Arrangement, bool], tuple[Variant, tuple[ChatMessage, ...]]] = {}

        def render(how: Arrangement, api: Api | None) -> tuple[Variant, tuple[ChatMessage, ...]]:
            bare = api is not None  # for an API other than chat, the form has the questions
            known = rendered.get((how, bare))
            if known is None:
                arranged, messages = self.rubric.render(
                    self.shown(case, swapped=how.swapped),
                    mode=self.mode,
                    history=earlier,
                    own_form=own_form is not None or bare,
                    how=how._replace(swapped=False) if how.swapped else how,
                )
                known = rendered[how, bare] = arranged, self.completed(messages)
            return known

        _, _, api = self._builders[0]
        variant, _ = render(WRITTEN, api)
        plans = self._plans.get(variant.origin)
        if plans is None:
            plans = self._plans[variant.origin] = self._planned(variant.origin)
        asks = []
        order = None
        for plan in plans:
            if order != (plan.place, plan.mirror):  # the members share it
                order, about = (plan.place, plan.mirror), self._about(case, plan)
            requests = []
            for how in plan.arrangements:
                arranged, messages = render(how, plan.api)
                form = own_form or arranged.form_for(plan.api)
                requests.append(
                    plan.builder.request(
                        messages=messages, form=form, sample=plan.sample, about=about
                    )
                )
            asks.append(
                OpinionRequest(plan.member, plan.sample, plan.place, tuple(requests), plan.mirror)
            )
        return variant, asks

    def _planned(self, variant: Variant) -> list[_OpinionPlan]:
        """Return the opinions to request on each case with this variant."""
        jury = self.jury
        plans = []
        for sample, mirror in product(range(jury.samples), self._mirrors):
            place = sample if jury.order == "balanced" else 0
            for member, builder, api in self._builders:
                parts = parts_of(variant, jury, api)
                arrangements = [
                    Arrangement(place, ids, number == len(parts), mirror is not None)
                    for number, ids in enumerate(parts, start=1)
                ]
                plans.append(
                    _OpinionPlan(member, builder, api, sample, place, mirror, arrangements)
                )
        return plans

    def _about(self, case: Case, plan: _OpinionPlan) -> About:
        swapped = plan.mirror is not None
        fields = {
            "case": case.id,
            "metric": self.name,
            "rubric": self.rubric.name,
            "output": self.shown(case, swapped=True).output if swapped else case.__dict__["output"],
            "order": order_name(plan.place, swapped=swapped),
        }
        return trusted(About, fields)

    def completed(self, messages: tuple[ChatMessage, ...]) -> tuple[ChatMessage, ...]:
        """Return the messages of a request with what the metric adds to them."""
        return messages

    def shown(self, case: Case, *, swapped: bool) -> Case:
        """Return a case as one request shows it, with two answers swapped or not."""
        return case

    async def score(self, case: Case) -> Score:
        """Return the score of one case.

        Raises:
            JudgekitError: raised by the judge or the cassette, or the case lacks a field.
        """
        variant, asks = self.opinion_requests(case)
        given = variant if self._own is None else None
        if len(asks) == 1 and len(asks[0].requests) == 1:
            (request,) = asks[0].requests
            judgment = await self._judge(case, asks[0], request)
            opinions = [opinion_reply(asks[0], (judgment,), given)]
        else:
            opinions = await ask_all(asks, self.jury, partial(self._judge, case), variant=given)
        if self._own is not None:
            score = self._score_of_model(self._own, opinions)
        else:
            score = self._score_of(case, variant, opinions)
        self._note_left_out(case, asks[0], score)
        return score

    def _note_left_out(self, case: Case, ask: OpinionRequest, score: Score) -> None:
        messages = ask.requests[0].messages
        if left := self._shows.left_out(self.shown(case, swapped=False), messages):
            note(left)
            score.details[SHOWN] = left

    async def _judge(self, case: Case, ask: OpinionRequest, request: Request) -> Judgment:
        try:
            return await ask_member(ask.member, request, response_model=self.response_model)
        except JudgekitError as exc:
            if isinstance(exc, RequestMiss):
                self._hint(exc, case, ask)
                exc.miss.moved = moved_by(case)
            raise

    def _hint(self, exc: RequestMiss, case: Case, ask: OpinionRequest) -> None:
        """Add to a miss which version of the rubric is recorded for an opinion."""
        if self._versions is None:
            from judgekit.metrics.version_hint import VersionHint

            self._versions = VersionHint(
                self.rubric, requests=self.requests_with, step_of=self.step_of
            )
        self._versions.add(exc.miss, case, ask)

    def requests_with(self, rubric: Rubric) -> Callable[[Case], list[OpinionRequest]]:
        """Return a function that makes the requests of a case with another rubric."""
        other = copy(self)
        other.rubric, other._plans = rubric, {}
        return lambda case: other.opinion_requests(case)[1]

    def _score_of_model(self, own: ResponseModel, opinions: Sequence[OpinionReply]) -> Score:
        judgments = [one.verdict for one in opinions if one.verdict is not None]
        value, fields = own.combined(judgments, metric=self.name)
        return Score(
            value=value,
            scale=self.scale,
            reason=str(fields.get("reason", "")),
            source="judge",
            method=self._method,
            judgments=tuple(judgments),
            details=fields,
            meta=self._meta_of(judgments),
        )

    def _score_of(self, case: Case, variant: Variant, several: Sequence[OpinionReply]) -> Score:
        """Fold the answers of one judgment, or of several opinions together."""
        verdict, outcomes = self.combined(variant, several)
        folded = variant.fold(outcomes, combine=self.rubric.combine)
        parts = _parts(case, verdict, outcomes, folded)
        details = self.details(variant, verdict, folded)
        opinions: tuple[Opinion, ...] = ()
        judgments = several[0].judgments
        if len(several) > 1:
            judgments = tuple(judgment for one in several for judgment in one.judgments)
            opinions = opinions_of(variant, several, self.rubric.combine)
            if len(self.jury.members) == 1:
                valid = [opinion.values for opinion in opinions if opinion.failure is None]
                details["samples"] = {id: [values[id] for values in valid] for id in variant.ids}
        elif len(judgments) == 1:
            # The parts already have the answers of a single judgment.
            fields = {**verdict.__dict__, "answers": {}, "details": {}}
            judgments = (trusted(Judgment, fields),)
        return trusted(
            Score,
            {
                "type": "score",
                "status": folded.status,
                "value": folded.value,
                "scale": self.scale,
                "parts": parts,
                "reason": self.reason(verdict, folded, parts),
                "source": "judge",
                "method": self._method,
                "confidence": min(1.0, folded.covered) if folded.value is not None else None,
                "ground_truth": None,
                "judgments": judgments,
                "details": details,
                "meta": self._meta_of(judgments),
                "fallback": None,
                "opinions": opinions,
            },
        )

    def opinion_replies(self, case: Case, judgments: Sequence[Judgment]) -> list[OpinionReply]:
        """Return recorded judgments of a case as the opinions that this metric would request."""
        by_key = {judgment.request_key: judgment for judgment in judgments}
        variant, asks = self.opinion_requests(case)
        given = variant if self._own is None else None
        complete = [ask for ask in asks if all(r.key in by_key for r in ask.requests)]
        replies = ((ask, [by_key[request.key] for request in ask.requests]) for ask in complete)
        return [opinion_reply(ask, own, given) for ask, own in replies]

    def combined(
        self, variant: Variant, several: Sequence[OpinionReply]
    ) -> tuple[Judgment, Sequence[Outcome]]:
        """Return the combined answers of all opinions, and their values."""
        verdict = several[0].verdict
        if len(several) == 1 and verdict is not None and self.jury.readout is None:
            answers = verdict.answers.values()
            if all(answer.distribution is None for answer in answers):
                return verdict, several[0].outcomes
        return combine_opinions(variant, several, self.jury)

    def details(self, variant: Variant, judgment: Judgment, folded: Folded) -> dict[str, Json]:
        """Return the details of a score."""
        details: dict[str, Json] = dict(judgment.details)
        if len(self.rubric.modes[self.mode]) > 1:
            details["mode"] = self.mode
            details["effective_mode"] = self.effective_mode(variant)
            details["groups"] = dict(folded.groups)
        if folded.raw is not None and folded.raw != folded.value:
            details["raw"] = folded.raw
        return details

    def effective_mode(self, variant: Variant) -> str:
        """Return the mode that applies to the case: without groups that need missing fields."""
        live = tuple(variant.groups)
        if live not in self._effective_modes:
            modes = self.rubric.modes
            same = (mode for mode in (self.mode, *modes) if tuple(modes[mode]) == live)
            self._effective_modes[live] = next(same, "+".join(live))
        return self._effective_modes[live]

    def reason(self, judgment: Judgment, folded: Folded, parts: Sequence[Part]) -> str:
        """Return the reason: the criterion that lowered the value most, and its explanation."""
        if folded.value is None:
            ties = {part.id: tie_in(part.reason or "") for part in parts[:3]}
            why = (
                f"{p.id}: {ties[p.id]}" if ties[p.id] else f"{p.id} {p.status}" for p in parts[:3]
            )
            return f"nothing to score: {'; '.join(why)}"
        scored = [part for part in parts if part.value is not None]
        way = WAYS[self.rubric.combine]
        if way.shared:
            decisive = max(scored, key=attrgetter("cost"))
            met = decisive.cost <= 0
        else:
            decisive = scored[way.pick([part.value or 0.0 for part in scored])]
            met = folded.value == 1.0
        if met:
            return f"every criterion is fully met; {_explanation(decisive)}"
        return f"{decisive.id} {decisive.value:.2f}: {_explanation(decisive)}"

    def _meta_of(self, judgments: Sequence[Judgment]) -> dict[str, Json]:
        reasked = max([judgment.tries for judgment in judgments])
        return {**self.made_with, "tries": reasked} if reasked > 1 else dict(self.made_with)


def _parts(
    case: Case, judgment: Judgment, outcomes: Sequence[Outcome], folded: Folded
) -> tuple[Part, ...]:
    return tuple(
        [
            trusted(
                Part,
                {
                    "id": id,
                    "status": status,
                    "value": number,
                    "weight": folded.shares.get(id, 0.0),
                    "answer": answer.value,
                    "reason": answer.reason,
                    "quotes": find_quotes(answer.quotes, case) if answer.quotes else (),
                    "items": answer.items,
                    "details": answer.details,
                    "distribution": answer.distribution,
                },
            )
            for (id, answer), (status, number) in zip(
                judgment.answers.items(), outcomes, strict=True
            )
        ]
    )


def _explanation(part: Part) -> str:
    if part.reason:
        return part.reason
    if (known := part.distribution) is not None:
        return f"{spelled(part.answer)}, probability {known.probability(part.answer):.2f}"
    unmet = [str(item["item"]) for item in part.items if isinstance(item, dict) and not item["met"]]
    return f"not met: {'; '.join(unmet)}" if unmet else "all of its items are met"
