"""Compare a jury with people: each judge, the effective number of votes, and weights."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from judgekit.analysis.agreement.pairs import Answer, JudgedPair, Pairs, is_number
from judgekit.core.score import Opinion
from judgekit.metrics.opinions.vote import combined_value
from judgekit.report.calibration import Agreement, JuryAgreement, MemberAgreement
from judgekit.stats.reliability import effective_votes, mean_correlation


def member_answers(opinions: Sequence[Opinion], criterion: str | None) -> dict[str, Answer | None]:
    """Return the answer of each member of a jury; empty if there is only one judge.

    Args:
        opinions: the opinions on one case.
        criterion: a criterion, or `None` for the value of the metric.
    """
    members: dict[str, list[Answer | None]] = {}
    for opinion in opinions:
        own = members.setdefault(opinion.member, [])
        if opinion.failure is None:
            own.append(opinion.value if criterion is None else opinion.answers.get(criterion))
    if len(members) < 2:
        return {}
    return {member: combined_value(own) if own else None for member, own in members.items()}


def jury_agreement(
    pairs: Pairs, *, jury: Agreement, alone: Callable[[Pairs], Mapping[str, Any]]
) -> JuryAgreement | None:
    """Return the agreement of a jury and of each member with people.

    Errors are differences of numbers, and 1 for a wrong word or yes/no; their mean correlation
    over pairs of members gives the number of effective votes (see `effective_votes`).

    Args:
        pairs: the answers to each labelled case.
        jury: the agreement of the whole jury.
        alone: returns the figures of a single member, as fields of `MemberAgreement`.
    """
    pairs = [pair for pair in pairs if pair.members]
    if not pairs:
        return None
    names = list(dict.fromkeys(name for pair in pairs for name in pair.members))
    complete = [p for p in pairs if all(p.members.get(name) is not None for name in names)]
    errors = [[_error(pair, name) for pair in complete] for name in names]
    correlation = mean_correlation(errors) if complete else None
    every = {name: [p._replace(judge=p.members.get(name)) for p in pairs] for name in names}
    known = {name: [pair for pair in own if pair.judge is not None] for name, own in every.items()}
    weights = {n: _weight(own, n, len(jury.categories)) for n, own in known.items() if own}
    scale = math.fsum(weights.values()) / max(1, len(weights))
    members = [
        MemberAgreement(
            member=name, weight=round(weight / scale, 3) if scale > 0 else 0.0, **alone(known[name])
        )
        for name, weight in weights.items()
    ]
    best = max(members, key=_figure, default=None)
    better = best is not None and _figure(best) > _figure(jury)
    return JuryAgreement(
        members=tuple(members),
        pairs=len(complete),
        correlation=correlation,
        effective=None if correlation is None else effective_votes(len(names), correlation),
        best=best.member if best is not None and better else None,
    )


def _figure(agreement: Agreement | MemberAgreement) -> float:
    for figure in (agreement.kappa, agreement.rank):
        if figure is not None and figure.value is not None:
            return figure.value
    return -math.inf


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
