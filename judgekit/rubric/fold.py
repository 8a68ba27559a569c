"""Fold the values of criteria into one number, by group and weight."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from judgekit.core.score import Status

Combine = Literal["weighted_mean", "min", "max", "all"]


Outcome = tuple[Status, float | None]
"""Status of a criterion, and its value on 0..1 if it was scored."""


class Worth(NamedTuple):
    """A criterion with its weight and outcome."""

    id: str
    group: str
    weight: float
    status: Status
    value: float | None


class Folded(NamedTuple):
    """The outcome of a fold."""

    status: Status
    value: float | None
    """On 0..1; `None` unless scored."""
    raw: float | None
    """Value before clamping; penalties may lower it below 0."""
    shares: dict[str, float]
    """Effective weight of each criterion that counts; the positive ones add up to 1. Empty with
    `min`, `max` and `all`, which do not add values."""
    covered: float
    """Share of the intended positive weight that has an answer, 0..1."""
    groups: dict[str, float | None]
    """Value of each group that has weight, before clamping."""


class GroupShare(NamedTuple):
    """One group that counts."""

    name: str
    share: float
    """Its weight among the groups that count; these weights add up to 1."""
    positive: float
    """Sum of its positive weights."""
    members: tuple[tuple[int, float], ...]
    """Index and weight of each of its criteria."""


class Shares(NamedTuple):
    """The part of a fold that depends on the statuses of criteria and not on their values."""

    status: Status
    """The status of the whole."""
    effective: dict[str, float]
    """Weight of each criterion that counts; the positive ones add up to 1."""
    covered: float
    """Share of the intended positive weight that has an answer, 0..1."""
    counted: tuple[int, ...]
    """Index of each criterion that counts."""
    groups: tuple[GroupShare, ...]
    """The groups that count."""


def fold(
    worths: Sequence[Worth], *, groups: Mapping[str, float], combine: Combine = "weighted_mean"
) -> Folded:
    """Fold criteria into one value.

    Inside a group, the value is sum(weight * value) / sum(positive weights), over the scored
    criteria. Across groups it is the same, with the groups' weights. A criterion without a score is
    in neither sum, so the others keep their proportions. A penalty (negative weight) subtracts
    |weight| * value. `min`, `max` and `all` use only scored criteria; `all` is 1 if each of them
    has the value 1, else 0.

    Args:
        worths: the criteria, in the rubric's order.
        groups: group -> weight in the selected mode; groups without weight are ignored.
        combine: how criteria become one number.
    """
    values = [worth.value for worth in worths]
    return fold_values(values, shares=shares_of(worths, groups), combine=combine)


def fold_values(
    outcomes: Sequence[float | None], *, shares: Shares, combine: Combine = "weighted_mean"
) -> Folded:
    """Fold the values of criteria with known shares (see `fold`).

    Args:
        outcomes: the values, in the order of the criteria; `None` if not scored.
        shares: the result of `shares_of` for criteria with the same statuses.
        combine: how criteria become one number.
    """
    if not shares.counted:
        return Folded(shares.status, None, None, {}, 0.0, {})
    values: Sequence[Any] = outcomes
    if None in outcomes:
        values = [value or 0.0 for value in outcomes]
    # Members first, then groups, as in the published formulas: the order decides the rounding.
    mean = 0.0
    by_group: dict[str, float | None] = {}
    for name, share, positive, members in shares.groups:
        total = 0.0
        for place, weight in members:
            total += weight * values[place]
        by_group[name] = total / positive
        mean += share * (total / positive)
    weighted = combine == "weighted_mean"
    raw = mean if weighted else _pick(combine, shares.counted, values)
    value = min(1.0, max(0.0, raw))
    effective = shares.effective if weighted else {}
    return Folded("scored", value, raw, effective, shares.covered, by_group)


def _pick(combine: Combine, counted: Sequence[int], values: Sequence[float]) -> float:
    """Return the value of `min`, `max` or `all`."""
    scored = [values[place] for place in counted]
    if combine == "all":
        return 1.0 if all(value == 1.0 for value in scored) else 0.0
    return min(scored) if combine == "min" else max(scored)


def shares_of(worths: Sequence[Worth], groups: Mapping[str, float]) -> Shares:
    """Return the shares of the criteria, which depend only on their statuses."""
    intended: dict[str, float] = {}
    answered: dict[str, float] = {}
    for group, weight in groups.items():
        positive = [w for w in worths if weight > 0 and w.group == group and w.weight > 0]
        if positive:
            # Exact sums: weights such as .4, .3, .2 and .1 add up to exactly 1.
            intended[group] = math.fsum(w.weight for w in positive)
        if scored := [w.weight for w in positive if w.status == "scored"]:
            answered[group] = math.fsum(scored)
    if not answered:
        statuses = [worth.status for worth in worths if groups.get(worth.group, 0.0) > 0]
        status: Status = "abstained" if "abstained" in statuses else "not_applicable"
        return Shares(status, {}, 0.0, (), ())
    live = math.fsum(groups[group] for group in answered)
    counted = tuple(
        place
        for place, worth in enumerate(worths)
        if worth.status == "scored" and worth.group in answered
    )
    effective = {}
    for place in counted:
        worth = worths[place]
        effective[worth.id] = worth.weight / answered[worth.group] * groups[worth.group] / live
    everything = math.fsum(groups[group] for group in intended)
    covered = math.fsum(groups[g] * answered[g] / intended[g] for g in answered) / everything
    shares = []
    for group, total in answered.items():
        members = tuple((n, worths[n].weight) for n in counted if worths[n].group == group)
        shares.append(GroupShare(group, groups[group] / live, total, members))
    return Shares("scored", effective, covered, counted, tuple(shares))
