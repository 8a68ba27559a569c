"""The answer of a judge to one criterion, as people could have given it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean

from judgekit.analysis.agreement.pairs import Answer
from judgekit.core.distribution import Distribution
from judgekit.core.judgment import Judgment
from judgekit.core.score import Opinion, Part, Score
from judgekit.core.value import Json
from judgekit.metrics.opinions.vote import combined_value
from judgekit.metrics.pairwise.figures import EVEN, side_of
from judgekit.metrics.pairwise.orders import Rule
from judgekit.rubric.criterion import SWAPPED

TIE = "tie"
"""The answer where two orders disagree and no opinion has a word for a tie."""


def answer_of(part: Part, result: Score) -> Answer | None:
    """Return the judge's answer to a criterion that has a value; `None` if it has no single one.

    A value may come from probabilities without a most probable answer, or with "cannot tell" as the
    most probable one. The answer is then the most probable real answer; `None` if two are equally
    probable. Of two answers that are compared, it is the one that the value prefers, or a tie.
    """
    verdict = part.answer if result.opinions else _verdict(part, result.judgments)
    if "pairwise" in result.details and part.value is not None:
        return _preferred(part.id, part.value, verdict, result.opinions)
    if isinstance(verdict, (bool, int, float, str)):
        return verdict
    real = _real(part.distribution)
    if not real:
        return part.value
    best = max(real.values())
    first, *others = [answer for answer, probability in real.items() if probability == best]
    return None if others else first


def _real(distribution: Distribution | None) -> dict[Answer, float]:
    """Return the probabilities of answers other than "cannot tell"."""
    items = distribution.items() if distribution is not None else ()
    return {answer: probability for answer, probability in items if answer is not None}


def _verdict(part: Part, judgments: Sequence[Judgment]) -> Json:
    """Return the answer behind the value of a criterion; for several samples, the combined one.

    The parts of older runs contain only the answer of the first sample.
    """
    if len(judgments) < 2 or any(part.id not in judgment.answers for judgment in judgments):
        return part.answer
    return combined_value([judgment.answers[part.id].value for judgment in judgments])


def _preferred(criterion: str, value: float, verdict: Json, opinions: Sequence[Opinion]) -> Answer:
    """Return the word for the side of a value: the verdict, or the nearest word of an opinion."""
    values = word_values(criterion, opinions)
    if isinstance(verdict, str) and side_of(values.get(verdict, EVEN)) == side_of(value):
        return verdict
    own = {word: number for word, number in values.items() if side_of(number) == side_of(value)}
    return min(own, key=lambda word: abs(own[word] - value)) if own else TIE


def word_values(criterion: str, opinions: Sequence[Opinion]) -> dict[str, float]:
    """Return the words of the opinions on a criterion with their values."""
    found: dict[str, float] = {}
    for opinion in opinions:
        word, value = opinion.answers.get(criterion), opinion.values.get(criterion)
        if isinstance(word, str) and value is not None:
            found[word] = value
    return found


def member_answers(
    opinions: Sequence[Opinion], criterion: str | None, *, rule: Rule | None = None
) -> dict[str, Answer | None]:
    """Return the answer of each member of a jury; empty if there is only one judge.

    Args:
        opinions: the opinions on one case.
        criterion: a criterion, or `None` for the value of the metric.
        rule: how a pairwise metric combines two orders; `None` for other metrics.
    """
    members: dict[str, list[Opinion]] = {}
    for opinion in opinions:
        members.setdefault(opinion.member, []).append(opinion)
    if len(members) < 2:
        return {}
    if rule is not None and criterion is not None:
        return {m: _compared(own, criterion, rule, opinions) for m, own in members.items()}
    answers = {
        member: [one.value if criterion is None else one.answers.get(criterion)
                 for one in own if one.failure is None]
        for member, own in members.items()
    }  # fmt: skip
    return {member: combined_value(own) if own else None for member, own in answers.items()}


def _compared(
    own: Sequence[Opinion], criterion: str, rule: Rule, opinions: Sequence[Opinion]
) -> Answer | None:
    """Return the verdict of one member on two answers, in all its samples and both orders."""
    values = [one.values.get(criterion) for one in own if one.failure is None]
    known = [value for value in values if value is not None]
    if 2 * len(known) <= len(own):
        return None
    if rule == "strict":
        known = [fmean(pair) if side_of(pair[0]) == side_of(pair[1]) else EVEN
                 for pair in order_values(own, criterion)]  # fmt: skip
    if rule == "mean":
        value = fmean(known)
    else:
        sides = [side_of(one) for one in known]
        counts = {side: sides.count(side) for side in (1, 0, -1)}
        best = [side for side, count in counts.items() if count == max(counts.values())]
        kept = [one for one in known if side_of(one) == best[0]] if len(best) == 1 else [EVEN]
        value = fmean(kept)
    return _preferred(criterion, value, None, opinions)


def order_values(opinions: Sequence[Opinion], criterion: str) -> list[tuple[float, float]]:
    """Return the values of a criterion in both orders, for each member and sample with both."""
    pairs: dict[tuple[str, int], dict[bool, float]] = {}
    for one in opinions:
        value = one.values.get(criterion)
        if value is not None and one.failure is None:
            swapped = one.order.endswith(SWAPPED)
            pairs.setdefault((one.member, one.sample), {})[swapped] = value
    return [(pair[False], pair[True]) for pair in pairs.values() if len(pair) == 2]


def probabilities_of(part: Part | None) -> Mapping[Answer | None, float]:
    """Return the probability of each answer to a criterion; empty if the row has none."""
    known = part.distribution if part is not None else None
    return dict(known.items()) if known is not None else {}
