"""The verdict on a case: what the opinions of all samples and judges come to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from judgekit.core.judgment import Answer, Judgment
from judgekit.core.jury import Jury
from judgekit.core.score import Opinion, failure_of
from judgekit.core.value import trusted
from judgekit.metrics.opinions.asking import OpinionReply, verdicts_by_member
from judgekit.metrics.opinions.vote import Ballot, VoteRule, distribution_of, read_out, vote_on
from judgekit.rubric.criterion import Criterion
from judgekit.rubric.fold import Combine, Outcome
from judgekit.rubric.variant import Variant


def combine_opinions(
    variant: Variant, asked: Sequence[OpinionReply], jury: Jury, *, by: VoteRule = vote_on
) -> tuple[Judgment, list[Outcome]]:
    """Return the answers that all opinions come to, and their values.

    Each member first combines its samples; a member with too few is left out. Then members vote.

    Args:
        variant: the criteria.
        asked: the opinions.
        jury: the members, and how they vote.
        by: how several ballots become one; a rule other than `vote_on` replaces the readout.
    """
    members = verdicts_by_member(asked, jury)
    given = [(member.weight, _ballots(variant, own)) for member, own in members]
    answers: dict[str, Answer] = {}
    outcomes: list[Outcome] = []
    for place, criterion in enumerate(variant.criteria):
        ballots = []
        for weight, columns in given:
            samples = columns[place]
            merged = samples[0]
            if len(samples) > 1 or merged.answer.distribution is not None:
                merged = _merged(criterion, samples, jury, by=by, voters="samples")
            ballots.append(merged if weight == 1.0 else merged._replace(weight=weight))
        verdict = ballots[0]
        if len(ballots) > 1:
            verdict = _merged(criterion, ballots, jury, by=by, voters="judges")
        answers[criterion.id] = verdict.answer
        outcomes.append(verdict.outcome)
    fields = members[0][1][0].__dict__
    return trusted(Judgment, {**fields, "answers": answers}), outcomes


def _ballots(variant: Variant, judgments: Sequence[Judgment]) -> list[tuple[Ballot, ...]]:
    """Return the ballots of judgments, criterion by criterion."""
    rows = [map(Ballot, j.answers.values(), variant.outcomes(j)) for j in judgments]
    return list(zip(*rows, strict=True))


def _merged(
    criterion: Criterion, ballots: Sequence[Ballot], jury: Jury, *, by: VoteRule, voters: str
) -> Ballot:
    """Return what ballots come to, with their distribution, read out if that is asked for."""
    vote = jury.vote if voters == "judges" else "majority"
    verdict = by(criterion, ballots, vote=vote, voters=voters)
    distribution = distribution_of(criterion, ballots)
    if distribution is None:
        return verdict
    answer = trusted(Answer, {**verdict.answer.__dict__, "distribution": distribution})
    readout = jury.readout
    if readout is None and distribution.source == "decisions":
        # A decision has no answer but its probabilities.
        readout = "expected" if criterion.question.kind == "score" else "yes"
    if readout is None or by is not vote_on:
        return Ballot(answer, verdict.outcome)
    verdict = read_out(criterion, distribution, readout, answer)
    value = verdict.outcome[1]
    if value is None or len(ballots) == 1:
        return verdict
    near = min(ballots, key=lambda ballot: abs((ballot.outcome[1] or 0.0) - value)).answer
    reason = {"reason": near.reason, "quotes": near.quotes, "details": near.details}
    return verdict._replace(answer=verdict.answer.model_copy(update=reason))


def opinions_of(
    variant: Variant, asked: Sequence[OpinionReply], combine: Combine
) -> tuple[Opinion, ...]:
    """Return every opinion on a case, with what it alone would score."""
    opinions = []
    place = 0
    for one in asked:
        facts: dict[str, Any] = {
            "of": "",
            "member": one.ask.member.name,
            "sample": one.ask.sample,
            "order": one.ask.order,
            "value": None,
            "answers": {},
            "values": {},
            "judgments": tuple(range(place, place + len(one.judgments))),
            "failure": None,
            "message": "",
        }
        place += len(one.judgments)
        if one.verdict is not None:
            outcomes = variant.outcomes(one.verdict)
            facts["value"] = variant.fold(outcomes, combine).value
            facts["answers"] = {id: a.value for id, a in one.verdict.answers.items()}
            facts["values"] = {id: v for id, (_, v) in zip(variant.ids, outcomes, strict=True)}
        elif one.error is not None and (failure := failure_of(one.error)) is not None:
            facts |= {"failure": failure.kind, "message": failure.message}
        opinions.append(trusted(Opinion, facts))
    return tuple(opinions)
