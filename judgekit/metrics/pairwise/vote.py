"""How opinions about two answers, in both orders, become one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Literal, NamedTuple

from judgekit.core.judgment import Answer
from judgekit.core.jury import Vote
from judgekit.metrics.opinions.vote import (
    Ballot,
    Verdict,
    VoteRule,
    distribution_of,
    read_out,
    vote_on,
)
from judgekit.metrics.pairwise.side import EVEN, side_of
from judgekit.rubric.criterion import Criterion

Rule = Literal["strict", "vote", "mean"]


def rule_of(rule: Rule) -> VoteRule:
    """Return how ballots about two answers become one.

    - `strict`: an answer wins a sample if both orders prefer it, otherwise there is a tie; then
      the samples vote.
    - `vote`: the majority of all samples in both orders; a tie if there is none.
    - `mean`: the mean of the values, or of the probabilities where the judge gives them.

    The members of a jury vote by `Jury.vote`; they are averaged where the rule is `mean`.
    """
    return partial(_vote, rule=rule)


def _vote(
    criterion: Criterion,
    ballots: Sequence[Ballot],
    *,
    vote: Vote = "majority",
    voters: str = "samples",
    rule: Rule,
) -> Verdict:
    samples = voters == "samples"
    if rule == "mean" or (vote == "mean" and not samples):
        verdict = vote_on(criterion, ballots, vote="mean")
        distribution = distribution_of(criterion, ballots)
        if samples and distribution is not None:
            verdict = read_out(criterion, distribution, "expected", verdict.answer)
        even = verdict.outcome[1] is not None and side_of(verdict.outcome[1]) == 0
        return _tie(criterion, verdict.answer.reason) if even else verdict
    if samples:
        ballots = [_decided(criterion, ballot) for ballot in ballots]
    if rule == "strict" and samples:
        pairs = zip(ballots[::2], ballots[1::2], strict=True)
        ballots = [_agreed(criterion, *pair) for pair in pairs]
    if len(ballots) == 1:
        return Verdict(ballots[0].answer, ballots[0].outcome)
    return _majority(criterion, ballots, voters if not samples or rule == "strict" else "opinions")


def _decided(criterion: Criterion, ballot: Ballot) -> Ballot:
    """Return a ballot without a single most probable answer with its expected value."""
    distribution = ballot.answer.distribution
    if ballot.outcome[1] is not None or distribution is None or distribution.mode is not None:
        return ballot
    return Ballot(*read_out(criterion, distribution, "expected", ballot.answer), ballot.weight)


class _Side(NamedTuple):
    weight: float
    ballots: list[Ballot]


def _majority(criterion: Criterion, ballots: Sequence[Ballot], voters: str) -> Verdict:
    """Return the answer that most of the weight prefers."""
    sides = {
        side: [ballot for ballot in ballots if _side(ballot) == side] for side in (1, -1, 0, None)
    }
    ranked = sorted(
        (_Side(math.fsum(b.weight for b in own), own) for own in sides.values() if own),
        key=lambda side: -side.weight,
    )
    undecided = math.fsum(ballot.weight for ballot in sides[None])
    if 2 * undecided >= math.fsum(ballot.weight for ballot in ballots):
        return Verdict(sides[None][0].answer, sides[None][0].outcome)
    if len(ranked) > 1 and ranked[0].weight - ranked[1].weight < 1e-9:
        return _tie(criterion, f"the {voters} are divided")
    first, *_ = own = ranked[0].ballots
    if _side(first) in (0, None):
        return Verdict(first.answer, first.outcome)
    values = [ballot.outcome[1] or 0.0 for ballot in own]
    return Verdict(first.answer, ("scored", math.fsum(values) / len(values)))


def _side(ballot: Ballot) -> int | None:
    return None if ballot.outcome[1] is None else side_of(ballot.outcome[1])


def _agreed(criterion: Criterion, one: Ballot, other: Ballot) -> Ballot:
    """Return what both orders of a sample say; a tie if they disagree."""
    if one.outcome[1] is None or other.outcome[1] is None:
        return one if one.outcome[1] is None else other
    if _side(one) != _side(other):
        return Ballot(*_tie(criterion, "the two orders disagree"))
    return one._replace(outcome=("scored", (one.outcome[1] + other.outcome[1]) / 2))


def _tie(criterion: Criterion, reason: str) -> Verdict:
    labels = (level.label for level in criterion.levels if level.value == EVEN)
    return Verdict(Answer(value=next(labels, "tie"), reason=reason), ("scored", EVEN))
