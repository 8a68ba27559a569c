"""The verdict on a case: what the opinions of all samples and judges come to."""

from __future__ import annotations

from collections.abc import Sequence

from judgekit.core.distribution import Distribution
from judgekit.core.failure import failure_of
from judgekit.core.judgment import Answer, Judgment
from judgekit.core.jury import Jury
from judgekit.core.score import Opinion
from judgekit.core.value import trusted
from judgekit.metrics.opinions.asking import Asked
from judgekit.metrics.opinions.vote import Ballot, Verdict, distribution_of, read_out, vote_on
from judgekit.rubric.arrangement import order_name
from judgekit.rubric.criterion import Criterion
from judgekit.rubric.fold import Combine, Outcome
from judgekit.rubric.variant import Variant


def combine_opinions(
    variant: Variant, asked: Sequence[Asked], jury: Jury
) -> tuple[Judgment, list[Outcome], list[Distribution | None]]:
    """Return the answers that all opinions come to, their values, and their distributions.

    Each member first combines its samples; a member with too few is left out. Then members vote.
    """
    verdicts = [[one.verdict for one in asked if one.ask.member == m] for m in jury.members]
    members = [
        (member, [verdict for verdict in own if verdict is not None])
        for member, own in zip(jury.members, verdicts, strict=True)
    ]
    members = [(member, own) for member, own in members if 2 * len(own) > jury.samples]
    answers: dict[str, Answer] = {}
    outcomes: list[Outcome] = []
    distributions = []
    for criterion in variant.criteria:
        ballots = []
        for member, own in members:
            samples = [_ballot(criterion, judgment.answers[criterion.id]) for judgment in own]
            merged = _settled(criterion, samples, jury, vote_on(criterion, samples))
            ballots.append(Ballot(merged.answer, merged.outcome, member.weight))
        verdict = vote_on(criterion, ballots, vote=jury.vote, voters="judges")
        if len(ballots) > 1:
            verdict = _settled(criterion, ballots, jury, verdict)
        answers[criterion.id] = verdict.answer
        outcomes.append(verdict.outcome)
        distributions.append(verdict.answer.distribution)
    first = members[0][1][0]
    return trusted(Judgment, {**first.__dict__, "answers": answers}), outcomes, distributions


def _ballot(criterion: Criterion, answer: Answer) -> Ballot:
    return Ballot(answer, criterion.value_of(answer))


def _settled(
    criterion: Criterion, ballots: Sequence[Ballot], jury: Jury, verdict: Verdict
) -> Verdict:
    """Return a verdict with the distribution of its ballots, read out if that is asked for."""
    distribution = distribution_of(criterion, ballots)
    if distribution is None:
        return verdict
    answer = verdict.answer.model_copy(update={"distribution": distribution})
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


def opinions_of(variant: Variant, asked: Sequence[Asked], combine: Combine) -> tuple[Opinion, ...]:
    """Return every opinion on a case, with what it alone would score."""
    opinions = []
    place = 0
    for one in asked:
        facts = {
            "member": one.ask.member.name,
            "sample": one.ask.sample,
            "order": order_name(one.ask.place),
            "judgments": tuple(range(place, place + len(one.judgments))),
        }
        place += len(one.judgments)
        if one.verdict is None:
            assert one.error is not None  # noqa: S101 - there is one or the other
            failure = failure_of(one.error)
            assert failure is not None  # noqa: S101 - others stop the run
            opinions.append(Opinion(**facts, failure=failure.kind, message=failure.message))
            continue
        outcomes = variant.outcomes(one.verdict)
        answers = one.verdict.answers.items()
        opinions.append(
            Opinion(
                **facts,
                value=variant.fold(outcomes, combine).value,
                answers={id: answer.value for id, answer in answers},
                values={id: value for id, (_, value) in zip(variant.ids, outcomes, strict=True)},
            )
        )
    return tuple(opinions)
