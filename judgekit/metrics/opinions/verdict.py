"""The verdict on a case: what the opinions of all samples and judges come to."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from judgekit.core.distribution import Distribution
from judgekit.core.failure import failure_of
from judgekit.core.judgment import Answer, Judgment
from judgekit.core.jury import Jury
from judgekit.core.score import Opinion
from judgekit.core.value import trusted
from judgekit.metrics.opinions.asking import OpinionReply, verdicts_by_member
from judgekit.metrics.opinions.vote import (
    Ballot,
    Verdict,
    VoteRule,
    distribution_of,
    read_out,
    vote_on,
)
from judgekit.rubric.criterion import Criterion
from judgekit.rubric.fold import Combine, Outcome
from judgekit.rubric.variant import Variant

Known = dict[Any, tuple[int, Verdict]]
"""Criterion and words of the members -> place of the ballot that won, or -1, and the verdict."""
MOST_KNOWN = 4_096


def combine_opinions(
    variant: Variant,
    asked: Sequence[OpinionReply],
    jury: Jury,
    known: Known,
    *,
    by: VoteRule = vote_on,
) -> tuple[Judgment, list[Outcome], list[Distribution | None]]:
    """Return the answers that all opinions come to, their values, and their distributions.

    Each member first combines its samples; a member with too few is left out. Then members vote.

    Args:
        variant: the criteria.
        asked: the opinions.
        jury: the members, and how they vote.
        known: verdicts on words that were computed before; changed in place.
        by: how several ballots become one; a rule other than `vote_on` replaces the readout.
    """
    members = verdicts_by_member(asked, jury)
    usual = by is vote_on
    settled = partial(_settled, jury=jury if usual else None)
    single = usual and jury.samples == 1 and jury.readout is None
    answers: dict[str, Answer] = {}
    outcomes: list[Outcome] = []
    distributions = []
    for criterion in variant.criteria:
        id, worth = criterion.id, criterion.worth
        ballots = []
        for member, own in members:
            first = own[0].answers[id]
            if single and first.distribution is None:
                ballots.append(Ballot(first, worth(first.value, first.items), member.weight))
                continue
            answered = [judgment.answers[id] for judgment in own]
            samples = [Ballot(a, worth(a.value, a.items)) for a in answered]
            merged = settled(criterion, samples, by(criterion, samples))
            ballots.append(Ballot(merged.answer, merged.outcome, member.weight))
        if len(ballots) == 1:
            verdict = Verdict(ballots[0].answer, ballots[0].outcome)
        elif single and (criterion.question.labels or criterion.question.kind == "boolean"):
            verdict = _known_vote(criterion, ballots, jury, known)
        else:
            together = by(criterion, ballots, vote=jury.vote, voters="judges")
            verdict = settled(criterion, ballots, together)
        answers[id] = verdict.answer
        outcomes.append(verdict.outcome)
        distributions.append(verdict.answer.distribution)
    fields = members[0][1][0].__dict__
    return trusted(Judgment, {**fields, "answers": answers}), outcomes, distributions


def _known_vote(
    criterion: Criterion, ballots: Sequence[Ballot], jury: Jury, known: Known
) -> Verdict:
    """Return the verdict of single words, which is computed once for the same words."""
    words = tuple([ballot.answer.value for ballot in ballots])
    weights = tuple([ballot.weight for ballot in ballots])
    if any(ballot.answer.distribution for ballot in ballots):
        together = vote_on(criterion, ballots, vote=jury.vote, voters="judges")
        return _settled(criterion, ballots, together, jury=jury)
    key = (criterion.id, words, weights)
    if key not in known:
        together = vote_on(criterion, ballots, vote=jury.vote, voters="judges")
        won = [n for n, ballot in enumerate(ballots) if ballot.answer is together.answer]
        if len(known) > MOST_KNOWN:
            known.clear()
        settled = _settled(criterion, ballots, together, jury=jury)
        known[key] = (won[0] if won else -1, settled)
    place, verdict = known[key]
    if place < 0:
        return verdict
    distribution = verdict.answer.distribution
    fields = {**ballots[place].answer.__dict__, "distribution": distribution}
    return Verdict(trusted(Answer, fields), verdict.outcome)


def _settled(
    criterion: Criterion, ballots: Sequence[Ballot], verdict: Verdict, *, jury: Jury | None
) -> Verdict:
    """Return a verdict with the distribution of its ballots, read out if that is asked for."""
    distribution = distribution_of(criterion, ballots)
    if distribution is None:
        return verdict
    answer = trusted(Answer, {**verdict.answer.__dict__, "distribution": distribution})
    if jury is None:
        return verdict._replace(answer=answer)
    readout = jury.readout
    if readout is None and distribution.source == "decisions":
        # A decision has no answer but its probabilities.
        readout = "expected" if criterion.question.kind == "score" else "yes"
    if readout is None:
        return verdict._replace(answer=answer)
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
