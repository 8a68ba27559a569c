"""How opinions about two answers, in both orders, become one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Literal

from judgekit.core.judgment import Answer
from judgekit.core.jury import Vote
from judgekit.metrics.opinions.vote import Ballot, VoteRule, distribution_of, read_out, vote_on
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
) -> Ballot:
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
        return ballots[0]
    return _majority(criterion, ballots, voters if not samples or rule == "strict" else "opinions")


def _decided(criterion: Criterion, ballot: Ballot) -> Ballot:
    """Return a ballot without a single most probable answer with its expected value."""
    distribution = ballot.answer.distribution
    if ballot.outcome[1] is not None or distribution is None or distribution.mode is not None:
        return ballot
    decided = read_out(criterion, distribution, "expected", ballot.answer)
    return decided._replace(weight=ballot.weight)


def _majority(criterion: Criterion, ballots: Sequence[Ballot], voters: str) -> Ballot:
    """Return the answer that most of the weight prefers."""
    sides: dict[int | None, list[Ballot]] = {}
    for ballot in ballots:
        sides.setdefault(_side(ballot), []).append(ballot)
    weights = {side: math.fsum(b.weight for b in own) for side, own in sides.items()}
    if None in sides and 2 * weights[None] >= math.fsum(ballot.weight for ballot in ballots):
        return sides[None][0]
    first, *others = sorted(sides, key=lambda side: -weights[side])
    if others and weights[first] - weights[others[0]] < 1e-9:
        return _tie(criterion, f"the {voters} are divided")
    own = sides[first]
    if first in (0, None):
        return own[0]
    values = [ballot.outcome[1] or 0.0 for ballot in own]
    return own[0]._replace(outcome=("scored", math.fsum(values) / len(values)))


def _side(ballot: Ballot) -> int | None:
    return None if ballot.outcome[1] is None else side_of(ballot.outcome[1])


def _agreed(criterion: Criterion, one: Ballot, other: Ballot) -> Ballot:
    """Return what both orders of a sample say; a tie if they disagree."""
    if one.outcome[1] is None or other.outcome[1] is None:
        return one if one.outcome[1] is None else other
    if _side(one) != _side(other):
        return _tie(criterion, "the two orders disagree")
    return one._replace(outcome=("scored", (one.outcome[1] + other.outcome[1]) / 2))


def _tie(criterion: Criterion, reason: str) -> Ballot:
    labels = (level.label for level in criterion.levels if level.value == EVEN)
    return Ballot(Answer(value=next(labels, "tie"), reason=reason), ("scored", EVEN))
