"""The vote: combine several answers to one criterion."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from operator import mul
from typing import Any, NamedTuple

from judgekit.core.comparing import mean_within
from judgekit.core.distribution import Distribution, Label, Readout, Source
from judgekit.core.judgment import Answer
from judgekit.core.jury import Vote
from judgekit.core.value import trusted
from judgekit.rubric.criterion import Criterion
from judgekit.rubric.fold import Outcome

_EQUAL = 1e-9


class Ballot(NamedTuple):
    """One answer to a criterion, or a combination of several."""

    answer: Answer
    """In a combination, the reason, quotes and items are those of one answer that supports it."""
    outcome: Outcome
    weight: float = 1.0


VoteRule = Callable[..., Ballot]
"""Combines several ballots on a criterion; takes the arguments of `vote_on`."""


def vote_on(
    criterion: Criterion,
    ballots: Sequence[Ballot],
    *,
    vote: Vote = "majority",
    voters: str = "samples",
) -> Ballot:
    """Combine several ballots on a criterion; the answer has their distribution, if there is one.

    Words and yes/no are decided by the majority of the weights, and a tie abstains; with `vote:
    mean`, the mean of their values counts. Numbers are averaged. If half of the ballots have no
    number, the result has none.
    """
    if len(ballots) == 1:
        return ballots[0]
    answers, outcomes, weights = zip(*ballots, strict=True)
    values = tuple([answer.value for answer in answers])
    own = tuple([answer.distribution for answer in answers])
    question = criterion.question
    place, outcome, changes, tied = _verdict(
        question.kind, question.labels, vote == "mean", values, own, outcomes, weights
    )
    answer = Answer(reason=f"the {voters} {_TIED} {tied}") if tied else answers[place]
    return Ballot(trusted(Answer, {**answer.__dict__, **changes}), outcome)


_TIED = "are tied:"


def tie_in(reason: str) -> str:
    """Return the tie of a vote in words, from the reason of its answer; empty if it has none.

    Example:
        >>> tie_in("the judges are tied: yes 1, no 1")
        'tie 1 to 1 of the judges: yes, no'
    """
    who, _, votes = reason.partition(f" {_TIED} ")
    if who not in ("the judges", "the samples") or not votes:
        return ""
    counts = [one.rpartition(" ") for one in votes.split(", ")]
    shares, words = " to ".join(one[2] for one in counts), ", ".join(one[0] for one in counts)
    return f"tie {shares} of {who}: {words}"


# Judges often give the same answers: without the cache, a replayed jury takes an eighth longer.
@lru_cache(maxsize=4_096)
def _verdict(
    kind: str, labels: tuple[str, ...], averaged: bool, *columns: tuple[Any, ...]
) -> tuple[int, Outcome, dict[str, Any], str]:
    """Return the part of a vote that does not depend on reasons.

    Returns:
        the index of the ballot whose reason supports the verdict, the outcome, value and
        distribution of the answer, and the tied words.
    """
    values, own, outcomes, weights = columns
    values = tuple([_unsigned(value) for value in values])
    shown = None if kind == "checklist" else _mean_distribution(kind, labels, values, own, weights)
    tied = ""
    if averaged or not (labels or kind == "boolean"):
        place, value, outcome = _mean(values, outcomes, weights)
    else:
        place, tied = _winner(values, weights)
        value, outcome = (None, ("abstained", None)) if tied else (values[place], outcomes[place])
    return place, outcome, {"value": value, "distribution": shown}, tied


def _unsigned(value: Any) -> Any:
    """Return 0.0 for -0.0: they are equal, and a cached verdict must fit both."""
    return value + 0.0 if isinstance(value, float) else value


def _winner(words: Sequence[Label], votes: Sequence[float]) -> tuple[int, str]:
    """Return the index of the first ballot for the winning word, and the tied words."""
    weights: dict[Label, float] = {}
    for word, vote in zip(words, votes, strict=True):
        weights[word] = weights.get(word, 0.0) + vote
    best = max(weights.values())
    first, *others = [word for word, weight in weights.items() if best - weight < _EQUAL]
    if not others:
        return words.index(first), ""
    ranked = sorted(weights.items(), key=lambda entry: -entry[1])
    return 0, ", ".join(f"{spelled(word)} {weight:g}" for word, weight in ranked)


def _mean(
    values: Sequence[Label], outcomes: Sequence[Outcome], weights: Sequence[float]
) -> tuple[int, Label, Outcome]:
    known = [n for n, (_, number) in enumerate(outcomes) if number is not None]
    counted = [weights[n] for n in known]
    total = math.fsum(counted)
    if 2 * len(known) <= len(outcomes) or total <= 0:
        place = next((n for n, (_, number) in enumerate(outcomes) if number is None), 0)
        status, number = outcomes[place]
        return place, values[place], ("abstained" if number is not None else status, None)
    known_values = [outcomes[n][1] or 0.0 for n in known]
    if counted.count(counted[0]) == len(counted):
        mean = math.fsum(known_values) / len(known_values)
    else:
        mean = math.fsum(map(mul, counted, known_values)) / total
    mean = mean_within(mean, known_values)
    distances = [abs(number - mean) for number in known_values]
    place = known[distances.index(min(distances))]
    shown = values[place]
    if shown is not None and not isinstance(shown, (str, bool)):
        # A checklist has items, and a word remains a word.
        numbers = [float(values[n] or 0) for n in known]
        shown = mean_within(math.fsum(map(mul, counted, numbers)) / total, numbers)
    return place, shown, ("scored", mean)


def combined_value(values: Sequence[Label]) -> Label:
    """Return the verdict of several samples: the majority of words or yes/no, the mean of numbers.

    It is `None` if the samples are tied, or most of them abstained.

    >>> combined_value(["good", "bad", "good"]), combined_value([True, False])
    ('good', None)
    >>> combined_value([0.5, 1.0, None])
    0.75
    """
    numbers = [v for v in values if isinstance(v, (int, float)) and not isinstance(v, bool)]
    if numbers:
        mean = mean_within(math.fsum(numbers) / len(numbers), numbers)
        return mean if 2 * len(numbers) > len(values) else None
    place, tied = _winner(values, (1.0,) * len(values))
    return None if tied else values[place]


def distribution_of(criterion: Criterion, ballots: Sequence[Ballot]) -> Distribution | None:
    """Return the distribution of the answers to a criterion.

    It is the mean of the distributions of the judges. If a judge gave none, its answer counts as
    certain, and the distribution is one of samples. There is none for a checklist, or if all
    weights are 0.
    """
    return vote_on(criterion, ballots).answer.distribution


def _mean_distribution(
    kind: str,
    labels: tuple[str, ...],
    values: Sequence[Label],
    distributions: Sequence[Distribution | None],
    counted: Sequence[float],
) -> Distribution | None:
    """Return the mean of the distributions of several answers; `None` without weight."""
    weights: dict[Label, float] = {}
    mass = bound = total = 0.0
    sources: set[Source | None] = set()
    for value, own, weight in zip(values, distributions, counted, strict=True):
        total += weight
        sources.add(own.source if own else None)
        mass += weight * (own.mass if own else 1.0)
        bound += weight * (own.bound if own else 0.0)
        for given, probability in own.items() if own else [(value, 1.0)]:
            label = _unsigned(given)
            weights[label] = weights.get(label, 0.0) + weight * probability
    if total <= 0:
        return None
    order: list[Label] = [*labels] or [True, False]
    if kind == "score" and not labels:
        order = [*sorted(label for label in weights if label is not None)]
    shown = tuple([label for label in (*order, None) if label in weights])
    only = sources.pop() if len(sources) == 1 else None
    return trusted(
        Distribution,
        {
            "labels": shown,
            "probabilities": tuple([weights[label] / total for label in shown]),
            "source": only or "samples",
            "mass": min(1.0, mass / total),
            "bound": min(1.0, bound / total),
        },
    )


def read_out(
    criterion: Criterion, distribution: Distribution, readout: Readout, answer: Answer
) -> Ballot:
    """Return the answer that a readout takes from a distribution.

    `expected` is the mean of the values of the answers, on 0..1. `mode` is the value of the most
    probable answer. `yes` is `expected` for a yes/no question, else `mode`. The readout abstains if
    "cannot tell" is the most probable answer, or if two answers are tied for `mode`.
    """
    mode = distribution.mode
    plain = readout == "mode" or (readout == "yes" and criterion.question.kind != "boolean")
    if plain or distribution.probability(None) > 0.5:
        outcome: Outcome = ("abstained", None) if mode is None else criterion.outcome(mode, ())
        return Ballot(answer.model_copy(update={"value": mode}), outcome)
    label_values: dict[Label, float] = {
        label: value
        for label in distribution.labels
        if label is not None and (value := criterion.outcome(label, ())[1]) is not None
    }
    expected = distribution.expected_of(label_values)
    if expected is None:
        return Ballot(answer, ("not_applicable", None))
    shown = distribution.expected if criterion.question.kind == "score" else None
    update = {"value": mode if shown is None or criterion.levels else shown}
    return Ballot(answer.model_copy(update=update), ("scored", min(1.0, max(0.0, expected))))


def spelled(value: Label) -> str:
    """Return an answer in words."""
    return {True: "yes", False: "no", None: "no answer"}.get(value, str(value))  # type: ignore[arg-type]
