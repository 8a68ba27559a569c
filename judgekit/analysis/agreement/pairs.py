"""Pairs of a judge's and a person's answer, and the options that select and combine them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from statistics import fmean
from typing import Literal, NamedTuple, get_args

from judgekit.core.errors import ConfigError
from judgekit.report.calibration import KappaWeights, LabelRule
from judgekit.report.run_labels import check_word

Answer = float | bool | str
_NOBODY: Mapping[str, Answer | None] = {}
_UNKNOWN: Mapping[Answer | None, float] = {}


class JudgedCase(NamedTuple):
    """A case of the run."""

    id: str
    unit: int
    """The number of the case's cluster; unique if cases are independent."""
    group: str | None
    system: str | None
    """The system that gave the output."""


class JudgedPair(NamedTuple):
    """A judge's answer and a person's answer."""

    case: JudgedCase
    judge: Answer | None
    """`None` for a reply without a verdict."""
    judge_reason: str
    labeller: str
    person: Answer
    reason: str = ""
    """The person's reason."""
    weight: float = 1.0
    """1 / probability of the sampling plan."""
    members: Mapping[str, Answer | None] = _NOBODY
    """The answers of the members of a jury; `None` for a member without an answer."""
    probabilities: Mapping[Answer | None, float] = _UNKNOWN
    """Answer -> its probability by the judge; empty if the row has no distribution."""
    orders: tuple[tuple[float, float], ...] = ()
    """The values in both orders of a pairwise metric, for each member and sample."""

    def map(self, convert: Callable[[Answer], Answer]) -> JudgedPair:
        """Return the pair with other answers."""

        def other(answer: Answer | None) -> Answer | None:
            return None if answer is None else convert(answer)

        probabilities: defaultdict[Answer | None, float] = defaultdict(float)
        for answer, probability in self.probabilities.items():
            probabilities[other(answer)] += probability
        return self._replace(
            judge=other(self.judge),
            person=convert(self.person),
            members={name: other(answer) for name, answer in self.members.items()},
            probabilities=probabilities,
        )


Pairs = Sequence[JudgedPair]
Cases = Sequence[Pairs]
"""The pairs of each case."""


def by_case(pairs: Pairs) -> list[list[JudgedPair]]:
    """Return the pairs of each case; those of a case are adjacent."""
    return [list(own) for _, own in groupby(pairs, key=lambda pair: pair.case.id)]


def is_number(answer: Answer | None) -> bool:
    """Return whether an answer is a number; yes and no are not."""
    return isinstance(answer, (int, float)) and not isinstance(answer, bool)


def combined(cases: Cases, how: LabelRule) -> tuple[list[JudgedPair], int]:
    """Return one pair for each case, and the number of labels in ties, which are omitted.

    Args:
        cases: a pair for each label.
        how: `majority`, or `mean` (for numbers; the majority for words and yes/no).
    """
    if how == "each":
        return [pair for own in cases for pair in own], 0
    one_each, tied = [], 0
    for own in cases:
        people = [pair.person for pair in own]
        probabilities = own[0].probabilities
        if how == "mean" and all(map(is_number, people)):
            person: Answer = fmean(map(float, people))
            probabilities = _UNKNOWN  # the judge gave no probability for a mean
        else:
            first, *others = Counter(people).most_common(2)
            if others and others[0][1] == first[1]:
                tied += len(own)
                continue
            person = first[0]
        labeller = own[0].labeller if len(own) == 1 else ""
        pair = own[0]._replace(person=person, labeller=labeller, reason="")
        one_each.append(pair._replace(probabilities=probabilities))
    return one_each, tied


Failures = Literal["wrong", "drop"]
"""How to count a reply without a verdict: as a disagreement, or not at all."""


class AgreeSettings(NamedTuple):
    """How to count answers, and what to measure in addition to the overall agreement."""

    failures: Failures = "wrong"
    """How to count a failed reply."""
    combine: LabelRule = "each"
    """How to use several labels of a case."""
    weights: KappaWeights | None = None
    """Weights of kappa; by default, quadratic for ordered answers."""
    cluster: str | None = None
    """Metadata field that clusters cases."""
    group: str | None = None
    """Metadata field of groups within which agreement is measured."""
    system: str | None = None
    """Metadata field of the answering system; by default the model that answered."""
    alt_test: float | None = None
    """Epsilon of the alternative annotator test."""

    def check(self) -> None:
        """Check the options.

        Raises:
            ConfigError: an option has an unknown value.
        """
        check_word("failures", self.failures, get_args(Failures))
        check_word("labels", self.combine, get_args(LabelRule))
        if self.weights is not None:
            check_word("weights", self.weights, get_args(KappaWeights))
        epsilon = self.alt_test
        if epsilon is not None and not 0 <= epsilon < 1:
            raise ConfigError(f"alt-test must be an epsilon from 0 to below 1, not {epsilon:g}")
