"""Opinions on a case: request one for each judge, sample and order; then combine them."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from itertools import islice, product, repeat
from typing import Any, NamedTuple

from pydantic import BaseModel

from judgekit.core.decisions import DECISION_APIS, MOST_QUESTIONS, count_of, left_out_of, refusal_of
from judgekit.core.errors import ConfigError, InvalidReply, JudgekitError, JudgePending
from judgekit.core.judgment import Answer, Judgment, read_reply
from judgekit.core.jury import Jury, Member
from judgekit.core.reply_problem import described
from judgekit.core.request import Api, Request
from judgekit.core.score import Opinion, failure_of
from judgekit.core.synchronous import outcomes_of
from judgekit.core.value import trusted
from judgekit.metrics.opinions.vote import Ballot, VoteRule, distribution_of, read_out, vote_on
from judgekit.rubric.criterion import Criterion, order_name
from judgekit.rubric.fold import Combine, Outcome
from judgekit.rubric.rubric import Rubric
from judgekit.rubric.variant import Variant


def check_askable(metric: str, rubric: Rubric, *, mode: str, jury: Jury) -> None:
    """Refuse criteria that the API of a judge does not support.

    Raises:
        ConfigError: there is such a criterion; names the first one.
    """
    judges = [member.judge for member in jury.members if member.judge.settings.api in DECISION_APIS]
    for judge, criterion in product(judges, rubric.criteria_of(mode)):
        if (why := refusal_of(criterion.question)) is not None:
            raise ConfigError(
                f"{metric}: {judge.model} (api: {judge.settings.api}) does not support criterion "
                f"{criterion.id!r} of rubric {rubric.name!r}: {why}, or name another judge"
            )


def unsupported_parts(rubric: Rubric, *, mode: str, jury: Jury) -> list[str]:
    """Return the parts of a rubric that decision endpoints do not support."""
    if not any(member.judge.settings.api in DECISION_APIS for member in jury.members):
        return []
    asked = [(c.id, left_out_of(c.question)) for c in rubric.criteria_of(mode)]
    parts = [f"{', '.join(left_out)} of {id}" for id, left_out in asked if left_out]
    return ["reasons", *parts, *(f"detail {detail.name}" for detail in rubric.details)]


Mirror = Callable[[Judgment], Judgment]
"""Converts a verdict on two answers to the other order."""


class OpinionRequest(NamedTuple):
    """The requests for one opinion."""

    member: Member
    sample: int
    place: int
    """Place in the balanced orders."""
    requests: tuple[Request, ...]
    """One request for each part of the criteria."""
    mirror: Mirror | None = None
    """Converts the verdict if the two answers are swapped."""


class OpinionReply(NamedTuple):
    """An opinion, or the error that prevented it."""

    ask: OpinionRequest
    judgments: tuple[Judgment, ...] = ()
    """One for each request."""
    verdict: Judgment | None = None
    """The answers to all criteria, in the order of the rubric; `None` after an error."""
    outcomes: Sequence[Outcome] = ()
    """Status and value of each answer; empty after an error, or if the reply has another form."""
    error: JudgekitError | None = None


async def ask_member(
    member: Member, request: Request, *, response_model: type[BaseModel] | None = None
) -> Judgment:
    """Return the judgment of one judge on a request.

    Raises:
        JudgekitError: raised by the judge or the cassette, with the key of the request.
    """
    try:
        reply = await member.judge.ask(request)
        try:
            return read_reply(
                reply, form=request.form, request_key=request.key, response_model=response_model
            )
        except InvalidReply as exc:
            raise described(exc, reply, request) from exc
    except JudgekitError as exc:
        exc.key = request.key
        raise


async def ask_all(
    asks: Sequence[OpinionRequest],
    jury: Jury,
    judge: Callable[[OpinionRequest, Request], Coroutine[Any, Any, Judgment]],
    *,
    variant: Variant | None,
) -> list[OpinionReply]:
    """Return all opinions, if there are enough of them.

    A member counts if more than half of its samples are answered, and `quorum` members must count.
    All requests finish before an error is raised, so every paid reply is recorded.

    Args:
        asks: the requests.
        jury: the members.
        judge: sends a request of an opinion to its member, and reads the reply.
        variant: the criteria; `None` if the reply has another form.

    Raises:
        JudgekitError: an error that stops the run, or one that left too few opinions; errors of
            the judge have priority over invalid replies.
    """
    judged = (judge(ask, request) for ask in asks for request in ask.requests)
    outcomes = await outcomes_of(judged, inline=jury.synchronous)
    for outcome in outcomes:
        if isinstance(outcome, BaseException) and not (
            isinstance(outcome, JudgekitError) and failure_of(outcome)
        ):
            raise outcome
    replies = iter(outcomes)
    opinions = [opinion_reply(ask, [*islice(replies, len(ask.requests))], variant) for ask in asks]
    check_quorum(opinions, jury)
    return opinions


def check_quorum(opinions: Sequence[OpinionReply], jury: Jury) -> None:
    """Check that enough members of a jury gave opinions.

    Raises:
        JudgekitError: the error that left too few; errors of the judge have priority over invalid
            replies.
    """
    bad = [one.error for one in opinions if one.error is not None]
    # A quorum without an opinion that is still to come would have another value.
    if (pending := next((e for e in bad if isinstance(e, JudgePending)), None)) is not None:
        raise pending
    if bad and len(replies_by_member(opinions, jury)) < jury.quorum:
        raise next((error for error in bad if not isinstance(error, InvalidReply)), bad[0])


def replies_by_member(
    opinions: Sequence[OpinionReply], jury: Jury
) -> list[tuple[Member, list[OpinionReply]]]:
    """Return the opinions of each member that gave them for more than half of its samples.

    A sample of two answers counts only if both orders are answered.
    """
    failed = {(one.ask.member.name, one.ask.sample) for one in opinions if one.verdict is None}
    valid: dict[str, list[OpinionReply]] = {member.name: [] for member in jury.members}
    samples = dict.fromkeys(valid, 0)
    for one in opinions:
        name = one.ask.member.name
        if not failed or (name, one.ask.sample) not in failed:
            valid[name].append(one)
            samples[name] += one.ask.mirror is None
    return [(m, valid[m.name]) for m in jury.members if 2 * samples[m.name] > jury.samples]


def parts_of(variant: Variant, jury: Jury, api: Api | None) -> list[tuple[str, ...] | None]:
    """Return the criteria of each request; `None` for all in one request."""
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


def opinion_reply(
    ask: OpinionRequest, replies: Sequence[Any], variant: Variant | None
) -> OpinionReply:
    """Return the opinion from the replies to one request; each is a judgment or an error."""
    judgments = tuple([reply for reply in replies if isinstance(reply, Judgment)])
    if len(judgments) < len(replies):
        error = next(reply for reply in replies if isinstance(reply, JudgekitError))
        return OpinionReply(ask, judgments, error=error)
    verdict = judgments[0]
    if len(judgments) > 1 or ask.place:
        verdict = _joined(judgments, () if variant is None else variant.ids)
    if ask.mirror is not None:
        verdict = ask.mirror(verdict)
    outcomes = () if variant is None else variant.outcomes(verdict)
    return OpinionReply(ask, judgments, verdict, outcomes)


def _joined(judgments: Sequence[Judgment], ids: Sequence[str]) -> Judgment:
    """Merge judgments of parts of the criteria, in the order of the rubric."""
    answers = {id: answer for judgment in judgments for id, answer in judgment.answers.items()}
    details = {name: text for judgment in judgments for name, text in judgment.details.items()}
    merged = {
        **judgments[0].__dict__,
        "answers": {id: answers[id] for id in ids or answers},
        "details": details,
        "tries": max(judgment.tries for judgment in judgments),
    }
    return trusted(Judgment, merged)


def combine_opinions(
    variant: Variant, asked: Sequence[OpinionReply], jury: Jury, *, by: VoteRule = vote_on
) -> tuple[Judgment, Sequence[Outcome]]:
    """Return the combined answers of all opinions, and their values.

    Each member first combines its samples; a member with too few does not count. Then the members
    vote.

    Args:
        variant: the criteria.
        asked: the opinions.
        jury: the members, and how they vote.
        by: rule that combines ballots; a rule other than `vote_on` replaces the readout.
    """
    members = replies_by_member(asked, jury)
    given = [_ballots(variant, own, member.weight, jury, by) for member, own in members]
    merged = given[0]
    if len(given) > 1:
        rows = zip(variant.criteria, zip(*given, strict=True), strict=True)
        merged = [_merged(c, ballots, jury, by, "judges") for c, ballots in rows]
    answers, outcomes, _ = zip(*merged, strict=True)
    fields = members[0][1][0].verdict.__dict__
    combined = {**fields, "answers": dict(zip(variant.ids, answers, strict=True))}
    return trusted(Judgment, combined), outcomes


def _ballots(
    variant: Variant, replies: Sequence[OpinionReply], weight: float, jury: Jury, by: VoteRule
) -> list[Ballot]:
    """Return the ballot of a member on each criterion: its samples together."""
    weights = repeat(weight if len(replies) == 1 else 1.0)
    rows = [
        list(map(Ballot, one.verdict.answers.values(), one.outcomes, weights))
        for one in replies
        if one.verdict is not None
    ]
    distributions = [ballot.answer.distribution for ballot in rows[0]]
    if len(rows) == 1 and not any(distributions):
        return rows[0]
    several = zip(variant.criteria, zip(*rows, strict=True), strict=True)
    return [_merged(c, own, jury, by, "samples")._replace(weight=weight) for c, own in several]


def _merged(
    criterion: Criterion, ballots: Sequence[Ballot], jury: Jury, by: VoteRule, voters: str
) -> Ballot:
    """Return the combined ballot with its distribution, read out if a readout is set."""
    vote = jury.vote if voters == "judges" else "majority"
    verdict = by(criterion, ballots, vote=vote, voters=voters)
    distribution = verdict.answer.distribution
    if by is not vote_on:
        distribution = distribution_of(criterion, ballots)
        answer = trusted(Answer, {**verdict.answer.__dict__, "distribution": distribution})
        return Ballot(answer, verdict.outcome)
    if distribution is None:
        return verdict
    readout = jury.readout
    if readout is None and distribution.source == "decisions":
        # A decision has probabilities and no other answer.
        readout = "expected" if criterion.question.kind == "score" else "yes"
    if readout is None:
        return verdict
    verdict = read_out(criterion, distribution, readout, verdict.answer)
    value = verdict.outcome[1]
    if value is None or len(ballots) == 1:
        return verdict
    near = min(ballots, key=lambda ballot: abs((ballot.outcome[1] or 0.0) - value)).answer
    reason = {"reason": near.reason, "quotes": near.quotes, "details": near.details}
    return verdict._replace(answer=verdict.answer.model_copy(update=reason))


def opinions_of(
    variant: Variant, asked: Sequence[OpinionReply], combine: Combine
) -> tuple[Opinion, ...]:
    """Return every opinion on a case, with the value that it alone would give."""
    opinions = []
    place = 0
    for one in asked:
        value, answers, values, failure = None, {}, {}, None
        if one.verdict is not None:
            value = variant.fold(one.outcomes, combine=combine).value
            answers = {id: answer.value for id, answer in one.verdict.answers.items()}
            values = dict(zip(variant.ids, [number for _, number in one.outcomes], strict=True))
        elif one.error is not None:
            failure = failure_of(one.error)
        fields = {
            "of": "",
            "member": one.ask.member.name,
            "sample": one.ask.sample,
            "order": order_name(one.ask.place, swapped=one.ask.mirror is not None),
            "value": value,
            "answers": answers,
            "values": values,
            "judgments": tuple(range(place, place + len(one.judgments))),
            "failure": failure.kind if failure else None,
            "message": failure.message if failure else "",
        }
        opinions.append(trusted(Opinion, fields))
        place += len(one.judgments)
    return tuple(opinions)
