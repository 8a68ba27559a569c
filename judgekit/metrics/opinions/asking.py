"""Ask for every opinion on a case: each judge, sample, order, and part of the criteria."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterator, Sequence
from itertools import product
from typing import Any, NamedTuple

from judgekit.core.errors import InvalidReply, JudgekitError
from judgekit.core.failure import failure_of
from judgekit.core.judge_wrapper import RequestBuilder
from judgekit.core.judgment import Judgment
from judgekit.core.jury import Jury, Member
from judgekit.core.request import About, ChatMessage, Form, Request
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


class Asked(NamedTuple):
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
        # The form has the questions of a judge with another API than chat.
        self._bare = [member.judge.api is not None for member in jury.members]
        opinions = jury.samples * len(jury.members) * len(self._mirrors)
        self.single = opinions == 1 and jury.calls == "all"
        """Whether one request gives all answers."""

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
        bare = self._bare[0]
        variant, messages = render(WRITTEN, bare)
        if self.single:
            request = self._builders[0].request(
                messages=messages, form=form or variant.form, sample=0, about=about(False)
            )
            return variant, [OpinionRequest(jury.members[0], 0, 0, (request,))]
        shown = {(WRITTEN, bare): (variant, messages)}
        chunks = list(_chunks(variant.ids, jury))
        asks = []
        sides = [(mirror, about(mirror is not None)) for mirror in self._mirrors]
        for sample, (mirror, purpose) in product(range(jury.samples), sides):
            place = sample if jury.order == "balanced" else 0
            hows = [
                Arrangement(place, ids, n == len(chunks), mirror is not None)
                for n, ids in enumerate(chunks, 1)
            ]
            members = zip(jury.members, self._builders, self._bare, strict=True)
            for member, builder, bare in members:
                requests = []
                for how in hows:
                    if (how, bare) not in shown:
                        shown[how, bare] = render(how, bare)
                    arranged, messages = shown[how, bare]
                    request = builder.request(
                        messages=messages, form=form or arranged.form, sample=sample, about=purpose
                    )
                    requests.append(request)
                asks.append(OpinionRequest(member, sample, place, tuple(requests), mirror))
        return variant, asks

    async def answers(
        self,
        asks: Sequence[OpinionRequest],
        judge: Callable[[Member, Request], Coroutine[Any, Any, Judgment]],
        *,
        ids: Sequence[str],
    ) -> list[Asked]:
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
        opinions = [asked(ask, [next(replies) for _ in ask.requests], ids) for ask in asks]
        self._check(opinions)
        return opinions

    def _check(self, opinions: Sequence[Asked]) -> None:
        bad = [one.error for one in opinions if one.error is not None]
        if not bad:
            return
        if len(counted(opinions, self.jury)) < self.jury.quorum:
            raise next((error for error in bad if not isinstance(error, InvalidReply)), bad[0])


def counted(opinions: Sequence[Asked], jury: Jury) -> list[tuple[Member, list[Judgment]]]:
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


def _chunks(ids: tuple[str, ...], jury: Jury) -> Iterator[tuple[str, ...] | None]:
    if jury.calls == "all":
        yield None
        return
    size = 1 if jury.calls == "each" else jury.calls
    for start in range(0, len(ids), size):
        yield ids[start : start + size]


def _stops(error: BaseException) -> bool:
    return not isinstance(error, JudgekitError) or failure_of(error) is None


def asked(ask: OpinionRequest, replies: Sequence[Any], ids: Sequence[str]) -> Asked:
    """Return the opinion that the replies to one ask give; each is a judgment or an error."""
    judgments = tuple(reply for reply in replies if isinstance(reply, Judgment))
    error = next((reply for reply in replies if isinstance(reply, JudgekitError)), None)
    if error is not None:
        return Asked(ask, judgments, error=error)
    verdict = _joined(judgments, ids) if len(judgments) > 1 or ask.place else judgments[0]
    return Asked(ask, judgments, verdict if ask.mirror is None else ask.mirror(verdict))


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
