"""Ask a judge about several criteria of a case at a time, and again about those left open.

The requests about a case share everything but their criteria, which come last. The criteria of a
request are `c1` to `ck`, so a change of one criterion changes one request. Each step follows from
recorded replies, so a replay takes the same steps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from judgekit.core.case import Case, with_last_messages
from judgekit.core.decisions import DECISION_APIS, MOST_QUESTIONS, refusal_of
from judgekit.core.errors import CaseError, InvalidReply, JudgekitError, JudgeRefused
from judgekit.core.judge_wrapper import RequestBuilder
from judgekit.core.judgment import Answer, Judgment
from judgekit.core.jury import Calls, Jury, Member
from judgekit.core.miss import Miss, RequestMiss
from judgekit.core.request import About, ChatMessage, Form, Request
from judgekit.core.score import failure_of
from judgekit.core.synchronous import outcomes_of
from judgekit.core.value import trusted
from judgekit.metrics.criteria.item import CriterionItem
from judgekit.metrics.moved import moved_by
from judgekit.metrics.opinions.opinion import OpinionReply, OpinionRequest, ask_member, check_quorum
from judgekit.rubric.criterion import arranged, order_name, ordered
from judgekit.rubric.rubric import Rubric
from judgekit.rubric.template import with_case_criteria
from judgekit.rubric.variant import CriterionView, Variant, decision_question

Explain = Callable[[Miss, Case, Sequence[CriterionItem], CriterionItem], None]
"""Adds to a miss what would hit, given all criteria of its case and the first of its request."""

_HALVED = ("truncated", "refused", "empty", "only_thought")
"""Failures that fewer criteria may avoid."""


class ItemView(CriterionView):
    """A criterion of a case for templates, with examples of what meets it."""

    def __init__(self, criterion: Any, accepted: tuple[str, ...]) -> None:
        super().__init__(criterion)
        self.__dict__["accepted"] = accepted


class _Reply(NamedTuple):
    """What one opinion has about some of the criteria."""

    answers: Mapping[str, Answer]
    """Part of a score -> answer."""
    judgments: tuple[Judgment, ...]


@dataclass(kw_only=True, eq=False)
class GroupedCriteria:
    """The requests about the criteria of cases, with a rubric as their frame.

    Args:
        frame: the rubric around the criteria; its single criterion says whether a judge must quote.
        jury: the judges, with their samples and orders.
        calls: how many criteria are in one request.
        metric: the name of the metric.
        history: the largest number of earlier messages that a judge sees.
        explain: adds to a miss what would hit.
    """

    frame: Rubric
    jury: Jury
    calls: Calls
    metric: str
    history: int
    explain: Explain

    def __post_init__(self) -> None:
        (self._model,) = (criterion.question for criterion in self.frame.criteria)
        self._builders = {
            member.name: RequestBuilder(member.judge, max_reason=self.jury.max_reason)
            for member in self.jury.members
        }

    def messages(self, case: Case) -> tuple[ChatMessage, ...]:
        """Return the messages about a case, without its criteria.

        Raises:
            CaseError: the case lacks a field.
        """
        case = with_last_messages(case, self.history)
        history = case.history[max(0, len(case.history) - self.history) :]
        frame = self.frame
        # The reference of the case is no criterion.
        case = case.model_copy(update={"reference": ()})
        return frame.render(case, mode=frame.default_mode, history=history, own_form=True)[1]

    def variant(self, leaves: Sequence[CriterionItem]) -> Variant:
        """Return the questions about all criteria, by the ids of their parts."""
        criteria = [leaf.criterion(leaf.part, self._model) for leaf in leaves]
        return Variant(self.frame, {"": 1.0}, criteria=criteria, details=())

    async def opinions(
        self,
        case: Case,
        leaves: Sequence[CriterionItem],
        variant: Variant,
        take: Callable[[int], None],
    ) -> list[OpinionReply]:
        """Return all opinions about the criteria of a case.

        `take` is called with the number of requests before the first one.

        Raises:
            CaseError: the case lacks a field, or a judge does not support the kind of a criterion.
            JudgekitError: an error that stops the run, or one that left too few opinions.
        """
        jury, messages = self.jury, self.messages(case)
        asks = []
        for sample in range(jury.samples):
            place = sample if jury.order == "balanced" else 0
            asks += [OpinionRequest(member, sample, place, ()) for member in jury.members]
        for member in jury.members:
            _check_askable(leaves, variant, member)
        take(sum(len(self._groups(leaves, ask.member)) for ask in asks))
        opinions = await self._replies(asks, case, leaves, messages, variant)
        check_quorum(opinions, jury)
        return opinions

    async def _replies(
        self,
        asks: Sequence[OpinionRequest],
        case: Case,
        leaves: Sequence[CriterionItem],
        messages: tuple[ChatMessage, ...],
        variant: Variant,
    ) -> list[OpinionReply]:
        work = (self._opinion(ask, case, leaves, messages, variant) for ask in asks)
        outcomes = await outcomes_of(work, inline=self.jury.synchronous)
        opinions = []
        for ask, outcome in zip(asks, outcomes, strict=True):
            if isinstance(outcome, OpinionReply):
                opinions.append(outcome)
            elif isinstance(outcome, JudgekitError) and failure_of(outcome):
                opinions.append(OpinionReply(ask, error=outcome))
            else:
                raise outcome
        return opinions

    async def _opinion(
        self,
        ask: OpinionRequest,
        case: Case,
        leaves: Sequence[CriterionItem],
        messages: tuple[ChatMessage, ...],
        variant: Variant,
    ) -> OpinionReply:
        asking = _OneOpinion(self, ask, case, messages, leaves)
        reply = await asking.about_all(self._groups(leaves, ask.member))
        if not reply.judgments:
            raise JudgeRefused(next(iter(reply.answers.values())).reason)
        answers = {leaf.part: reply.answers[leaf.part] for leaf in leaves}
        first = reply.judgments[0].__dict__
        tries = max(judgment.tries for judgment in reply.judgments)
        verdict = trusted(Judgment, {**first, "answers": answers, "tries": tries})
        return OpinionReply(ask, reply.judgments, verdict, variant.outcomes(verdict))

    def _groups(
        self, leaves: Sequence[CriterionItem], member: Member
    ) -> list[tuple[CriterionItem, ...]]:
        most = {"all": len(leaves), "each": 1}.get(str(self.calls), self.calls)
        size = int(most)
        if member.judge.settings.api in DECISION_APIS:
            size = min(size, MOST_QUESTIONS)
        return [tuple(leaves[n : n + size]) for n in range(0, len(leaves), size)]

    def request(
        self,
        ask: OpinionRequest,
        case: Case,
        messages: tuple[ChatMessage, ...],
        group: Sequence[CriterionItem],
    ) -> Request:
        """Return the request about some criteria of a case, in the order of the opinion."""
        member, place = ask.member, ask.place
        api = member.judge.settings.api
        criteria = [
            arranged(leaf.criterion(f"c{n}", self._model), place)
            for n, leaf in enumerate(ordered(group, place), start=1)
        ]
        partial = len(group) > 1
        if api in DECISION_APIS:
            asked = f"{self._model.text} The criterion: "
            questions = [decision_question(criterion) for criterion in criteria]
            form = Form(
                questions=tuple(q.model_copy(update={"text": asked + q.text}) for q in questions)
            )
        else:
            form = Form(questions=tuple(c.question for c in criteria), partial=partial)
            views = [
                ItemView(criterion, leaf.reference)
                for criterion, leaf in zip(criteria, ordered(group, place), strict=True)
            ]
            if api is None:
                messages = with_case_criteria(messages, criteria=views)
        about = {
            "case": f"{case.id}/{_span(group)}",
            "metric": self.metric,
            "rubric": self.frame.name,
            "output": case.output,
            "order": order_name(place),
        }
        return self._builders[member.name].request(
            messages=messages, form=form, sample=ask.sample, about=trusted(About, about)
        )


def _check_askable(leaves: Sequence[CriterionItem], variant: Variant, member: Member) -> None:
    if member.judge.settings.api not in DECISION_APIS:
        return
    for leaf, criterion in zip(leaves, variant.criteria, strict=True):
        if (why := refusal_of(criterion.question)) is not None:
            place = f"expected.criteria: number {leaf.number}"
            raise CaseError(f"{place}: {member.judge.model} does not support it: {why}")


def _span(group: Sequence[CriterionItem]) -> str:
    """Return the numbers of criteria as the end of an id, such as `3` or `1..8`."""
    return group[0].number if len(group) == 1 else f"{group[0].number}..{group[-1].number}"


class _OneOpinion:
    """One opinion of one judge about the criteria of a case."""

    def __init__(
        self,
        grouped: GroupedCriteria,
        ask: OpinionRequest,
        case: Case,
        messages: tuple[ChatMessage, ...],
        leaves: Sequence[CriterionItem],
    ) -> None:
        self._grouped, self._ask = grouped, ask
        self._case, self._messages, self._leaves = case, messages, leaves

    async def about_all(self, groups: Iterable[Sequence[CriterionItem]]) -> _Reply:
        """Return the answers about several groups; all requests finish before an error is raised.

        Raises:
            JudgekitError: one of them could not be judged.
        """
        judge = self._ask.member.judge
        work = (self.about(group) for group in groups)
        outcomes = await outcomes_of(work, inline=judge.synchronous)
        bad = [outcome for outcome in outcomes if isinstance(outcome, BaseException)]
        if bad:
            # Errors that stop the run come first, then outages, then invalid replies.
            stops = (e for e in bad if not (isinstance(e, JudgekitError) and failure_of(e)))
            others = (e for e in bad if not isinstance(e, InvalidReply))
            raise next(stops, next(others, bad[0]))
        replies = [outcome for outcome in outcomes if isinstance(outcome, _Reply)]
        return _joined(replies)

    async def about(self, group: Sequence[CriterionItem]) -> _Reply:
        """Return the answers about a group, with further requests if its reply leaves some open.

        Raises:
            JudgekitError: one of them could not be judged.
        """
        request = self._grouped.request(self._ask, self._case, self._messages, group)
        try:
            judgment = await ask_member(self._ask.member, request)
        except RequestMiss as exc:
            self._grouped.explain(exc.miss, self._case, self._leaves, group[0])
            exc.miss.moved = moved_by(self._case)
            raise
        except (InvalidReply, JudgeRefused) as exc:
            if len(group) == 1:
                if isinstance(exc, JudgeRefused):
                    return _Reply({group[0].part: Answer(reason=str(exc))}, ())
                raise
            if exc.kind not in _HALVED:
                raise
            middle = (len(group) + 1) // 2
            return await self.about_all([group[:middle], group[middle:]])
        shown = ordered(group, self._ask.place)
        named = {f"c{n}": leaf for n, leaf in enumerate(shown, start=1)}
        answers = {named[id].part: answer for id, answer in judgment.answers.items()}
        reply = _Reply(answers, (judgment,))
        open_ = [leaf for leaf in group if leaf.part not in answers]
        return _joined([reply, await self.about(open_)]) if open_ else reply


def _joined(replies: Sequence[_Reply]) -> _Reply:
    answers = {part: answer for reply in replies for part, answer in reply.answers.items()}
    return _Reply(answers, tuple(j for reply in replies for j in reply.judgments))
