"""The members of a jury against people, and how many independent judges they are worth."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from judgekit.analysis.agreement.pairs import JudgedPair, Pairs, by_case, combined, is_number
from judgekit.report import calibration as results
from judgekit.report.calibration import LabelRule
from judgekit.stats.agreement import Units
from judgekit.stats.votes import EffectiveVotes, Kind, LabelNoise, label_noise, votes_of_errors

Alone = Callable[[Pairs], Mapping[str, Any]]
"""Returns the figures of a single judge, as fields of `MemberAgreement`."""


def jury_agreement(
    pairs: Pairs, *, alone: Alone, categories: int, labels: LabelRule, clustered: bool
) -> results.JuryAgreement | None:
    """Return the agreement of each member with people, and the effective votes.

    Every member is compared on all cases that it answered, also where the jury has no verdict.
    Errors are differences of numbers, and 1 for a wrong word or yes/no, against the majority of the
    labels of a case (for numbers, their mean); see `votes_of_errors`.

    Args:
        pairs: the answers to each label, also to cases without a verdict of the jury.
        alone: returns the figures of a single judge.
        categories: number of possible answers; 0 for many numbers.
        labels: how several labels of a case are combined, for the figures of a member.
        clustered: whether units are clusters.
    """
    cases = [own for own in by_case(pairs) if own[0].members]
    if not cases:
        return None
    names = list(dict.fromkeys(name for own in cases for name in own[0].members))
    counted, _ = combined(cases, labels)
    alone_of = {name: _of_member(counted, name) for name in names}
    one_each, _ = combined(cases, "mean")
    known = {name: _of_member(one_each, name) for name in names}
    weights = {name: _weight(own, name, categories) for name, own in known.items() if own}
    scale = math.fsum(weights.values()) / max(1, len(weights))
    members = [
        results.MemberAgreement(
            member=name,
            weight=round(weight / scale, 3) if scale > 0 else 0.0,
            **alone(alone_of[name]),
        )
        for name, weight in weights.items()
        if alone_of[name]
    ]
    complete = [p for p in one_each if all(p.members.get(name) is not None for name in names)]
    votes, noise = _votes(complete, names, cases, categories, clustered=clustered)
    return results.JuryAgreement(
        members=tuple(members),
        pairs=len(complete),
        correlation=votes.correlation,
        effective=votes.value,
        low=votes.low,
        high=votes.high,
        too_few=votes.too_few,
        wrong_labels=noise.share,
        labels_compared=noise.measured,
        **_best(counted, names, alone),
    )


def _of_member(pairs: Pairs, name: str) -> list[JudgedPair]:
    """Return the pairs that a member answered, with its answer instead of the jury's."""
    return [pair._replace(judge=answer) for pair in pairs
            if (answer := pair.members.get(name)) is not None]  # fmt: skip


def _votes(
    pairs: Pairs, names: Sequence[str], cases: Sequence[Pairs], categories: int, *, clustered: bool
) -> tuple[EffectiveVotes, LabelNoise]:
    numbers = bool(pairs) and is_number(pairs[0].person)
    kind: Kind = "numbers" if numbers else "two" if categories == 2 else "words"
    noise = label_noise([[pair.person for pair in own] for own in cases], kind)
    if not pairs:
        return EffectiveVotes(None, None), noise
    units = Units([pair.case.unit for pair in pairs], [pair.weight for pair in pairs],
                  clustered=clustered)  # fmt: skip
    errors = [[_error(pair, name) for name in names] for pair in pairs]
    people = [float(pair.person) for pair in pairs] if numbers else []
    mean = math.fsum(people) / len(pairs)
    spread = math.fsum((person - mean) ** 2 for person in people) / len(pairs)
    return votes_of_errors(errors, units, kind, noise=noise, spread=spread), noise


def _best(pairs: Pairs, names: Sequence[str], alone: Alone) -> dict[str, Any]:
    """Return the member that agrees better with people than the jury, where both have an answer."""
    decided = [pair for pair in pairs if pair.judge is not None]
    found: dict[str, Any] = {"best": None}
    most = 0.0
    for name in names:
        if own := _of_member(decided, name):
            shared = [pair for pair in decided if pair.members.get(name) is not None]
            one, jury = (_figure(alone(of)) for of in (own, shared))
            if one - jury > most:
                most = one - jury
                found = {"best": name, "best_pairs": len(own), "best_figures": (one, jury)}
    return found


def _figure(figures: Mapping[str, Any]) -> float:
    known = (figures.get(name) for name in ("kappa", "rank"))
    values = [one.value for one in known if one is not None and one.value is not None]
    return float(values[0]) if values else -math.inf


def _error(pair: JudgedPair, name: str) -> float:
    answer = pair.members[name]
    if is_number(answer) and is_number(pair.person):
        return float(answer or 0.0) - float(pair.person)
    return float(answer != pair.person)


def _weight(pairs: Pairs, name: str, categories: int) -> float:
    """Return the weight of a member by its errors, with a prior worth two cases.

    For words and yes/no, it is the log-odds of a correct answer, adjusted for the number of
    categories, with one correct and one wrong answer added, and at least 0 (Nitzan and Paroush
    1982). For numbers, it is the inverse of the mean squared error, with an error of a half added.
    """
    errors = [_error(pair, name) for pair in pairs]
    if is_number(pairs[0].person):
        return (len(errors) + 1) / (math.fsum(error * error for error in errors) + 0.25)
    wrong = math.fsum(errors)
    right = len(errors) - wrong
    return max(0.0, math.log((right + 1) * (max(2, categories) - 1) / (wrong + 1)))
