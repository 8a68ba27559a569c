"""Two answers in both orders: swap them, and combine the opinions in both orders."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Literal

from judgekit.core.distribution import Label
from judgekit.core.errors import ConfigError
from judgekit.core.judgment import Answer, Judgment
from judgekit.core.jury import Vote
from judgekit.core.value import trusted
from judgekit.metrics.opinions.vote import Ballot, VoteRule, read_out, vote_on
from judgekit.metrics.pairwise.figures import EQUAL, EVEN, side_of
from judgekit.rubric.criterion import Criterion
from judgekit.rubric.fold import WAYS
from judgekit.rubric.rubric import Rubric

BOTH = ("output", "baseline")
"""The fields of a case that a pairwise rubric shows: the first answer, and the second."""


class AnswerExchange:
    """Converts verdicts on two answers to the other order.

    Args:
        rubric: a rubric about two answers: 1 if the first is better, .5 for a tie, 0 if the
            second is better.
        first: name, in reasons, of the answer that is shown first in the other order.

    Raises:
        ConfigError: the rubric does not compare two answers, or a label has no counterpart.
    """

    def __init__(self, rubric: Rubric, *, first: str) -> None:
        missing = [field for field in BOTH if field not in rubric.requires]
        if missing:
            raise ConfigError(
                f"rubric {rubric.name!r} does not compare two answers: it requires no "
                f"{missing[0]!r}; a pairwise rubric has `requires: [output, baseline]`"
            )
        if not WAYS[rubric.combine].linear:
            raise ConfigError(
                f"rubric {rubric.name!r} combines its criteria by {rubric.combine!r}, which treats "
                "the two answers differently; remove `combine`"
            )
        self._mirrors = {c.id: _mirror_of(c, rubric) for c in rubric.criteria}
        self._note = f"({first} shown first) "

    def __call__(self, judgment: Judgment) -> Judgment:
        """Return a judgment with the two answers swapped."""
        answers = {
            id: self._exchanged(answer, self._mirrors[id])
            for id, answer in judgment.answers.items()
        }
        return trusted(Judgment, {**judgment.__dict__, "answers": answers})

    def _exchanged(self, answer: Answer, mirror: Mapping[Label, Label]) -> Answer:
        distribution = answer.distribution
        if distribution is not None:
            labels = tuple(mirror.get(label, label) for label in distribution.labels)
            distribution = distribution.model_copy(update={"labels": labels})
        update = {
            "value": mirror.get(answer.value, answer.value),
            "reason": self._note + answer.reason,
            "distribution": distribution,
        }
        return trusted(Answer, {**answer.__dict__, **update})


def _mirror_of(criterion: Criterion, rubric: Rubric) -> dict[Label, Label]:
    """Return label -> the label with 1 - its value.

    Raises:
        ConfigError: there is no such label, or more than one.
    """
    about = f"rubric {rubric.name!r}, criterion {criterion.id!r}"
    if not criterion.levels:
        raise ConfigError(
            f"{about} does not ask for a word; a pairwise rubric has options such as "
            "`A: {value: 1}`, `tie: {value: 0.5}`, `B: {value: 0}`"
        )
    if criterion.weight < 0:
        raise ConfigError(f"{about} is a penalty, which treats the two answers differently")
    values = {level.label: level.value for level in criterion.levels if level.value is not None}
    mirror: dict[Label, Label] = {}
    for label, value in values.items():
        if side_of(value) == 0:
            continue  # its own image
        images = [other for other, number in values.items() if abs(number - (1 - value)) < EQUAL]
        twins = [other for other, number in values.items() if abs(number - value) < EQUAL]
        if not images:
            raise ConfigError(
                f"{about}: {label!r} has the value {value:g}, and no label has {1 - value:g}; "
                "labels must be symmetric when the answers are exchanged"
            )
        several = twins if len(twins) > 1 else images
        if len(several) > 1:
            raise ConfigError(
                f"{about}: {' and '.join(map(repr, several[:2]))} have the same value, so it is "
                "not clear which label stands for which when the answers are exchanged"
            )
        mirror[label] = images[0]
    if not mirror:
        raise ConfigError(f"{about}: no label prefers an answer; give two the values 1 and 0")
    return mirror


Rule = Literal["strict", "vote", "mean"]


def rule_of(rule: Rule) -> VoteRule:
    """Return how to combine ballots on two answers.

    - `strict`: an answer wins a sample if both orders prefer it; otherwise there is a tie. Then the
      samples vote.
    - `vote`: the majority of all samples in both orders; a tie if there is none.
    - `mean`: the mean of the values, or of the probabilities if the judge gives them.

    The members of a jury vote by `Jury.vote`; with the rule `mean` they are averaged.
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
        distribution = verdict.answer.distribution
        if samples and distribution is not None:
            verdict = read_out(criterion, distribution, "expected", verdict.answer)
        return _tie(criterion, verdict.answer.reason) if _side(verdict) == 0 else verdict
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
    return read_out(criterion, distribution, "expected", ballot.answer)


def _majority(criterion: Criterion, ballots: Sequence[Ballot], voters: str) -> Ballot:
    """Return the answer with the majority of the weight."""
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
    """Return the common answer of both orders of a sample; a tie if they disagree."""
    if one.outcome[1] is None or other.outcome[1] is None:
        return one if one.outcome[1] is None else other
    if _side(one) != _side(other):
        return _tie(criterion, "the two orders disagree")
    return one._replace(outcome=("scored", (one.outcome[1] + other.outcome[1]) / 2))


def _tie(criterion: Criterion, reason: str) -> Ballot:
    labels = (level.label for level in criterion.levels if level.value == EVEN)
    return Ballot(Answer(value=next(labels, "tie"), reason=reason), ("scored", EVEN))
