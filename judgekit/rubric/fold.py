"""Answers to numbers: the two-level weighted fold, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from judgekit.score import Status

Combine = Literal["weighted_mean", "min", "max", "all"]


Outcome = tuple[Status, float | None]
"""What came of a criterion, and its value on 0..1 if it was scored."""


class Worth(NamedTuple):
    """One criterion on its way into the fold."""

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
    """Effective weight of each criterion that counted; the positive ones sum to 1."""
    covered: float
    """Share of the intended positive weight that was answered, 0..1."""
    groups: dict[str, float | None]
    """Value of each group that has weight, before clamping."""


class Shares(NamedTuple):
    """What the statuses of criteria say of a fold, whatever their values are."""

    status: Status
    """That of the whole."""
    effective: dict[str, float]
    """Weight of each criterion that counts; the positive ones sum to 1."""
    covered: float
    """Share of the intended positive weight that was answered, 0..1."""
    counted: tuple[tuple[int, float], ...]
    """Place and effective weight of each criterion that counts."""
    groups: tuple[tuple[str, float, tuple[tuple[int, float], ...]], ...]
    """Each group that counts: its name, its positive weight, and places and weights in it."""


def fold(
    worths: Sequence[Worth],
    *,
    groups: Mapping[str, float],
    combine: Combine = "weighted_mean",
) -> Folded:
    """Fold criteria into one value.

    Inside a group: sum(weight * value) / sum(positive weights), over the criteria that were
    scored. Across groups: the same, with the groups' weights. What was not scored leaves both
    sums, so that the rest keeps its proportions. A penalty (negative weight) takes away
    weight * value. `min`, `max` and `all` look at the scored criteria alone; `all` is 1 when
    every one of them is worth 1, else 0.

    Args:
        worths: the criteria, in the rubric's order.
        groups: group -> weight in the chosen mode; groups without weight are left out.
        combine: how criteria become one number.
    """
    values = [worth.value for worth in worths]
    return fold_values(values, shares=shares_of(worths, groups), combine=combine)


def fold_values(
    given: Sequence[float | None], *, shares: Shares, combine: Combine = "weighted_mean"
) -> Folded:
    """Fold the values of criteria, of which it is known already what counts how much (see `fold`).

    Args:
        given: the values, in the order of the criteria; `None` where one was not scored.
        shares: what `shares_of` returned for criteria with the same statuses.
        combine: how criteria become one number.
    """
    if not shares.counted:
        return Folded(shares.status, None, None, {}, 0.0, {})
    values = [value or 0.0 for value in given]
    raw = 0.0
    if combine == "weighted_mean":
        for place, share in shares.counted:
            raw += share * values[place]
    else:
        scored = [values[place] for place, _ in shares.counted]
        if combine == "all":
            raw = 1.0 if all(value == 1.0 for value in scored) else 0.0
        else:
            raw = min(scored) if combine == "min" else max(scored)
    by_group: dict[str, float | None] = {}
    for group, weight, members in shares.groups:
        total = 0.0
        for place, part in members:
            total += part * values[place]
        by_group[group] = total / weight
    value = min(1.0, max(0.0, raw))
    return Folded("scored", value, raw, shares.effective, shares.covered, by_group)


def shares_of(worths: Sequence[Worth], groups: Mapping[str, float]) -> Shares:
    """Return what counts and by how much, which depends on the statuses alone."""
    intended: dict[str, float] = {}
    answered: dict[str, float] = {}
    for worth in worths:
        if worth.weight > 0 and groups.get(worth.group, 0.0) > 0:
            intended[worth.group] = intended.get(worth.group, 0.0) + worth.weight
            if worth.status == "scored":
                answered[worth.group] = answered.get(worth.group, 0.0) + worth.weight
    if not answered:
        asked = [worth.status for worth in worths if groups.get(worth.group, 0.0) > 0]
        status: Status = "abstained" if "abstained" in asked else "not_applicable"
        return Shares(status, {}, 0.0, (), ())
    live = sum(groups[group] for group in answered)
    counted = []
    for place, worth in enumerate(worths):
        if worth.status == "scored" and worth.group in answered:
            share = worth.weight / answered[worth.group] * groups[worth.group] / live
            counted.append((place, share))
    everything = sum(groups[group] for group in intended)
    return Shares(
        status="scored",
        effective={worths[place].id: share for place, share in counted},
        covered=sum(groups[g] * answered[g] / intended[g] for g in answered) / everything,
        counted=tuple(counted),
        groups=tuple(
            (
                group,
                answered[group],
                tuple((n, worths[n].weight) for n, _ in counted if worths[n].group == group),
            )
            for group in groups
            if group in answered
        ),
    )
