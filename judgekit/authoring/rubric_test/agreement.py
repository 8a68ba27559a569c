"""Compare the verdicts of a judge with those that a person wrote for the same cases."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from statistics import fmean
from typing import NamedTuple

from judgekit.authoring.rubric_test.check import TOLERANCE
from judgekit.core.score import Failure, FailureKind, Part, Result
from judgekit.core.value import Value

NOT_ASKED: frozenset[FailureKind] = frozenset(
    {"cassette_miss", "not_run", "pending", "unavailable", "invalid_case"}
)
"""Failures without a reply of the judge; the other kinds are replies that are not valid."""


class InvalidVerdict(Value):
    """A reply of the judge without a verdict."""

    case: str
    kind: FailureKind
    message: str


class Replies(Value):
    """How many replies of a judge were verdicts."""

    asked: int
    """Number of cases with a reply."""
    valid: int
    invalid: tuple[InvalidVerdict, ...] = ()

    @property
    def reasons(self) -> dict[FailureKind, int]:
        """Number of invalid replies by kind, the most frequent first."""
        kinds = [one.kind for one in self.invalid]
        return dict(sorted({k: kinds.count(k) for k in kinds}.items(), key=lambda kv: -kv[1]))


class CriterionAgreement(Value):
    """How far a judge agrees with authored verdicts on one criterion."""

    criterion: str
    cases: int
    """Number of cases with both verdicts."""
    same: int
    """Number of cases with the same answer: the same value, or both without one."""
    difference: float | None = None
    """Mean absolute difference of the values, 0..1; `None` if no case has both values."""


class JudgedTwice(NamedTuple):
    """The results of one case."""

    judged: Result
    authored: Result


def count_replies(results: Mapping[str, Result]) -> Replies:
    """Count the replies of a judge, given the results by case."""
    invalid = tuple(
        InvalidVerdict(case=case, kind=result.kind, message=result.message)
        for case, result in results.items()
        if isinstance(result, Failure) and result.kind not in NOT_ASKED
    )
    valid = sum(not isinstance(result, Failure) for result in results.values())
    return Replies(asked=valid + len(invalid), valid=valid, invalid=invalid)


def total_replies(several: Iterable[Replies]) -> Replies:
    """Return the replies of several rubrics as one."""
    every = list(several)
    return Replies(
        asked=sum(one.asked for one in every),
        valid=sum(one.valid for one in every),
        invalid=tuple(invalid for one in every for invalid in one.invalid),
    )


def criterion_agreement(pairs: Iterable[JudgedTwice]) -> tuple[CriterionAgreement, ...]:
    """Compare two verdicts of each case, criterion by criterion; failures are left out."""
    found: dict[str, list[tuple[Part, Part]]] = {}
    for pair in pairs:
        if isinstance(pair.judged, Failure) or isinstance(pair.authored, Failure):
            continue
        authored = {part.id: part for part in pair.authored.parts}
        for part in pair.judged.parts:
            if part.id in authored:
                found.setdefault(part.id, []).append((part, authored[part.id]))
    return tuple(_agreement(criterion, parts) for criterion, parts in found.items())


def _agreement(criterion: str, parts: list[tuple[Part, Part]]) -> CriterionAgreement:
    both = [
        abs(one.value - other.value)
        for one, other in parts
        if one.value is not None and other.value is not None
    ]
    without = sum(one.value is None and one.status == other.status for one, other in parts)
    return CriterionAgreement(
        criterion=criterion,
        cases=len(parts),
        same=sum(difference <= TOLERANCE for difference in both) + without,
        difference=fmean(both) if both else None,
    )
