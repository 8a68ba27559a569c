"""Ask for every opinion on a case: each judge, sample, order, and part of the criteria."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from itertools import islice
from typing import Any, NamedTuple

from judgekit.core.decisions import DECISION_APIS, MOST_QUESTIONS, count_of
from judgekit.core.errors import InvalidReply, JudgekitError
from judgekit.core.judgment import Judgment
from judgekit.core.jury import Jury, Member
from judgekit.core.request import Api, Request
from judgekit.core.score import failure_of
from judgekit.core.synchronous import outcomes_of
from judgekit.core.value import trusted
from judgekit.rubric.criterion import order_name
from judgekit.rubric.variant import Variant

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


async def ask_all(
    asks: Sequence[OpinionRequest],
    jury: Jury,
    judge: Callable[[Member, Request], Coroutine[Any, Any, Judgment]],
    *,
    ids: Sequence[str],
) -> list[OpinionReply]:
    """Return all opinions, if enough of them came.

    A member counts if more than half of its samples came, and `quorum` members must count.
    All requests finish before an error is raised, so that every paid reply is recorded.

    Args:
        asks: what to ask.
        jury: the members.
        judge: asks a member, and reads its reply.
        ids: the criteria, in the order of the rubric; empty if the reply has another form.

    Raises:
        JudgekitError: one that stops the run, or why there are not enough opinions; a reason
            of the judge before an invalid reply.
    """
    judged = (judge(ask.member, request) for ask in asks for request in ask.requests)
    outcomes = await outcomes_of(judged, inline=jury.synchronous)
    for outcome in outcomes:
        costs_a_row = isinstance(outcome, JudgekitError) and failure_of(outcome) is not None
        if isinstance(outcome, BaseException) and not costs_a_row:
            raise outcome
    replies = iter(outcomes)
    opinions = [opinion_reply(ask, list(islice(replies, len(ask.requests))), ids) for ask in asks]
    bad = [one.error for one in opinions if one.error is not None]
    if bad and len(verdicts_by_member(opinions, jury)) < jury.quorum:
        raise next((error for error in bad if not isinstance(error, InvalidReply)), bad[0])
    return opinions


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


def parts_of(variant: Variant, jury: Jury, api: Api | None) -> list[tuple[str, ...] | None]:
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
