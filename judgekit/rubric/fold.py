"""Fold the values of criteria into one number, by group and weight."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from judgekit.core.score import Status

Combine = Literal["weighted_mean", "min", "max", "all"]


Outcome = tuple[Status, float | None]
"""Status of a criterion, and its value on 0..1 if it was scored."""


class Worth(NamedTuple):
    """One criterion with its weight and outcome."""

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
    """Before clamping: penalties may take it below 0."""
    shares: dict[str, float]
    """Effective weight of each criterion that counted; the positive ones sum to 1. Empty where
    the values of criteria are not added up: of `min`, `max` and `all`."""
    covered: float
    """Share of the intended positive weight that was answered, 0..1."""
    groups: dict[str, float | None]
    """Value of each group that has weight, before clamping."""


class GroupShare(NamedTuple):
    """One group that counts."""

    name: str
    share: float
    """Its weight among the groups that count; these sum to 1."""
    positive: float
    """Sum of the positive weights in it."""
    members: tuple[tuple[int, float], ...]
    """Index and weight of each criterion in it."""


class Shares(NamedTuple):
    """The part of a fold that depends on the statuses of criteria and not on their values."""

    status: Status
    """The status of the whole."""
    effective: dict[str, float]
    """Weight of each criterion that counts; the positive ones sum to 1."""
    covered: float
    """Share of the intended positive weight that was answered, 0..1."""
    counted: tuple[int, ...]
    """Index of each criterion that counts."""
    groups: tuple[GroupShare, ...]
    """The groups that count."""


def fold(
    worths: Sequence[Worth], *, groups: Mapping[str, float], combine: Combine = "weighted_mean"
) -> Folded:
    """Fold criteria into one value.

    Inside a group: sum(weight * value) / sum(positive weights), over the criteria that were
    scored. Across groups: the same, with the groups' weights. A criterion that was not scored is
    left out of both sums, so the others keep their proportions. A penalty (negative weight)
    subtracts weight * value. `min`, `max` and `all` use only scored criteria; `all` is 1 if each
    of them has the value 1, else 0.

    Args:
        worths: the criteria, in the rubric's order.
        groups: group -> weight in the chosen mode; groups without weight are left out.
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
