"""Ask for every opinion on a case: each judge, sample, order, and part of the criteria."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from itertools import product
from typing import Any, NamedTuple

from judgekit.core.decisions import DECISION_APIS, MOST_QUESTIONS, count_of
from judgekit.core.errors import InvalidReply, JudgekitError
from judgekit.core.failure import failure_of
from judgekit.core.judge_wrapper import RequestBuilder
from judgekit.core.judgment import Judgment
from judgekit.core.jury import Jury, Member
from judgekit.core.request import About, Api, ChatMessage, Form, Request
from judgekit.core.value import trusted
from judgekit.rubric.arrangement import WRITTEN, Arrangement, order_name
from judgekit.rubric.variant import Variant

Render = Callable[[Arrangement, bool], tuple[Variant, tuple[ChatMessage, ...]]]
"""Returns the variant and the messages of an arrangement; `True` leaves the criteria out."""


Mirror = Callable[[Judgment], Judgment]
"""Returns the verdict on two answers as if they had been shown in the other order."""


class OpinionRequest(NamedTuple):
    """What is asked for one opinion."""

    member: Member
    sample: int
    place: int
    """Place in the balanced orders."""
    requests: tuple[Request, ...]
    """One for each part of the criteria."""
    mirror: Mirror | None = None
    """Of two answers that are shown in the other order."""

    @property
    def order(self) -> str:
        """The order of options, criteria or answers."""
        return order_name(self.place, swapped=self.mirror is not None)


class OpinionReply(NamedTuple):
    """An opinion, or why there is none."""

    ask: OpinionRequest
    judgments: tuple[Judgment, ...] = ()
    """One for each request."""
    verdict: Judgment | None = None
    """The answers to all criteria, in the order of the rubric; `None` for an error."""
    error: JudgekitError | None = None


class Asker:
    """Asks the members of a jury.

    Args:
        jury: the jury.
        mirror: of a rubric about two answers; each sample is then asked in both orders.

    Raises:
        ConfigError: a member is no judge.
    """

    def __init__(self, jury: Jury, *, mirror: Mirror | None = None) -> None:
        self.jury = jury
        self._mirrors = (None,) if mirror is None else (None, mirror)
        self._builders = [RequestBuilder(member.judge) for member in jury.members]
        self._apis = [member.judge.api for member in jury.members]
        opinions = jury.samples * len(jury.members) * len(self._mirrors)
        self.single = opinions == 1 and jury.calls == "all"
        """Whether one opinion gives all answers."""

    def asks(
        self, render: Render, *, form: Form | None, about: Callable[[bool], About]
    ) -> tuple[Variant, list[OpinionRequest]]:
        """Return the variant for a case in written order, and what to ask, sample by sample.

        Args:
            render: renders the case.
            form: the form of the replies, if it is not that of the rubric.
            about: returns the purpose of the requests; `True` for answers in the other order.
        """
        jury = self.jury
        bare = self._apis[0] is not None  # the form has the questions of another API than chat
        variant, messages = render(WRITTEN, bare)
        parts = {api: _parts(variant, jury, api) for api in self._apis}
        if self.single and parts[self._apis[0]] == [None]:
            own = form or variant.form_for(self._apis[0])
            request = self._builders[0].request(
                messages=messages, form=own, sample=0, about=about(False)
            )
            return variant, [OpinionRequest(jury.members[0], 0, 0, (request,))]
        shown = {(WRITTEN, bare): (variant, messages)}
        asks = []
        sides = [(mirror, about(mirror is not None)) for mirror in self._mirrors]
        for sample, (mirror, side) in product(range(jury.samples), sides):
            place = sample if jury.order == "balanced" else 0
            order = order_name(place, swapped=mirror is not None)
            purpose = trusted(About, {**side.__dict__, "order": order})
            members = zip(jury.members, self._builders, self._apis, strict=True)
            for member, builder, api in members:
                requests = []
                for number, ids in enumerate(parts[api], start=1):
                    last, bare = number == len(parts[api]), api is not None
                    how = Arrangement(place, ids, last, mirror is not None)
                    if (how, bare) not in shown:
                        shown[how, bare] = render(how, bare)
                    arranged, messages = shown[how, bare]
                    own = form or arranged.form_for(api)
                    requests.append(
                        builder.request(messages=messages, form=own, sample=sample, about=purpose)
                    )
                asks.append(OpinionRequest(member, sample, place, tuple(requests), mirror))
        return variant, asks

    async def answers(
        self,
        asks: Sequence[OpinionRequest],
        judge: Callable[[Member, Request], Coroutine[Any, Any, Judgment]],
        *,
        ids: Sequence[str],
    ) -> list[OpinionReply]:
        """Return all opinions, if enough of them came.

        A member counts if more than half of its samples came, and `quorum` members must count.
        All requests finish before an error is raised, so that every paid reply is recorded.

        Args:
            asks: what to ask.
            judge: asks a member, and reads its reply.
            ids: the criteria, in the order of the rubric; empty if the reply has another form.

        Raises:
            JudgekitError: one that stops the run, or why there are not enough opinions; a reason
                of the judge before an invalid reply.
        """
        pairs = [(ask, request) for ask in asks for request in ask.requests]
        outcomes: list[Judgment | BaseException] = []
        if self.jury.synchronous:
            for ask, request in pairs:
                try:
                    outcomes.append(await judge(ask.member, request))
                except JudgekitError as exc:
                    outcomes.append(exc)
        else:
            import asyncio  # a replay does without

            pending = [judge(ask.member, request) for ask, request in pairs]
            outcomes = list(await asyncio.gather(*pending, return_exceptions=True))
        for outcome in outcomes:
            if isinstance(outcome, BaseException) and _stops(outcome):
                raise outcome
        replies = iter(outcomes)
        opinions = [opinion_reply(ask, [next(replies) for _ in ask.requests], ids) for ask in asks]
        self._check(opinions)
        return opinions

    def _check(self, opinions: Sequence[OpinionReply]) -> None:
        bad = [one.error for one in opinions if one.error is not None]
        if not bad:
            return
        if len(verdicts_by_member(opinions, self.jury)) < self.jury.quorum:
            raise next((error for error in bad if not isinstance(error, InvalidReply)), bad[0])


def verdicts_by_member(
    opinions: Sequence[OpinionReply], jury: Jury
) -> list[tuple[Member, list[Judgment]]]:
    """Return the verdicts of every member that has them for more than half of its samples.

    A sample of two answers counts only if both of its orders were answered.
    """
    failed = {(one.ask.member.name, one.ask.sample) for one in opinions if one.verdict is None}
    verdicts: dict[str, list[Judgment]] = {member.name: [] for member in jury.members}
    samples = dict.fromkeys(verdicts, 0)
    for one in opinions:
        name = one.ask.member.name
        if one.verdict is not None and (name, one.ask.sample) not in failed:
            verdicts[name].append(one.verdict)
            samples[name] += one.ask.mirror is None
    return [(m, verdicts[m.name]) for m in jury.members if 2 * samples[m.name] > jury.samples]


def _parts(variant: Variant, jury: Jury, api: Api | None) -> list[tuple[str, ...] | None]:
    """Return the criteria of each request; `None` for all of them in one."""
    if jury.calls == "all" and api not in DECISION_APIS:
        return [None]
    most = {"all": len(variant.ids), "each": 1}.get(str(jury.calls), jury.calls)
    limit = MOST_QUESTIONS if api in DECISION_APIS else None
    parts: list[list[str]] = []
    count = 0
    for criterion in variant.criteria:
        questions = count_of(criterion.question)
        count += questions
        if not parts or len(parts[-1]) == most or (limit is not None and count > limit):
            parts.append([])
            count = questions
        parts[-1].append(criterion.id)
    return [None] if jury.calls == "all" and len(parts) == 1 else [tuple(part) for part in parts]


def _stops(error: BaseException) -> bool:
    return not isinstance(error, JudgekitError) or failure_of(error) is None


def opinion_reply(ask: OpinionRequest, replies: Sequence[Any], ids: Sequence[str]) -> OpinionReply:
    """Return the opinion that the replies to one ask give; each is a judgment or an error."""
    judgments = tuple(reply for reply in replies if isinstance(reply, Judgment))
    error = next((reply for reply in replies if isinstance(reply, JudgekitError)), None)
    if error is not None:
        return OpinionReply(ask, judgments, error=error)
    verdict = _joined(judgments, ids) if len(judgments) > 1 or ask.place else judgments[0]
    return OpinionReply(ask, judgments, verdict if ask.mirror is None else ask.mirror(verdict))


def _joined(judgments: Sequence[Judgment], ids: Sequence[str]) -> Judgment:
    """Return judgments of parts of the criteria as one, in the order of the rubric."""
    first = judgments[0]
    answers = {id: answer for judgment in judgments for id, answer in judgment.answers.items()}
    details = {name: text for judgment in judgments for name, text in judgment.details.items()}
    merged = {
        **first.__dict__,
        "answers": {id: answers[id] for id in ids or answers},
        "details": details,
        "tries": max(judgment.tries for judgment in judgments),
    }
    return trusted(Judgment, merged)
