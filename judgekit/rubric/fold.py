"""Answers to numbers: the two-level weighted fold, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from judgekit.score import Status

Combine = Literal["weighted_mean", "min", "max", "all"]


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


def fold(
    worths: Sequence[Worth],
    *,
    groups: Mapping[str, float],
    combine: Combine = "weighted_mean",
    shares: tuple[dict[str, float], float] | None = None,
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
        shares: what `shares_of` returned for criteria with the same statuses, to save the work.
    """
    asked = [worth for worth in worths if groups.get(worth.group, 0.0) > 0]
    effective, covered = shares_of(asked, groups) if shares is None else shares
    scored = [worth for worth in asked if worth.id in effective]
    if not scored or not any(share > 0 for share in effective.values()):
        status: Status = (
            "abstained" if any(w.status == "abstained" for w in asked) else "not_applicable"
        )
        return Folded(status, None, None, {}, 0.0, {})
    values = [worth.value or 0.0 for worth in scored]
    if combine == "min":
        raw = min(values)
    elif combine == "max":
        raw = max(values)
    elif combine == "all":
        raw = 1.0 if all(value == 1.0 for value in values) else 0.0
    else:
        raw = 0.0
        for worth in scored:
            raw += effective[worth.id] * (worth.value or 0.0)
    by_group = _by_group(scored, groups)
    return Folded("scored", min(1.0, max(0.0, raw)), raw, effective, covered, by_group)


def shares_of(
    asked: Sequence[Worth], groups: Mapping[str, float]
) -> tuple[dict[str, float], float]:
    """Return each scored criterion's effective weight, and the share of weight covered.

    Both depend on the statuses alone, not on the values.
    """
    intended: dict[str, float] = {}
    answered: dict[str, float] = {}
    for worth in asked:
        if worth.weight > 0:
            intended[worth.group] = intended.get(worth.group, 0.0) + worth.weight
            if worth.status == "scored":
                answered[worth.group] = answered.get(worth.group, 0.0) + worth.weight
    everything = sum(groups[group] for group in intended)
    live = sum(groups[group] for group in answered)
    if not live:
        return {}, 0.0
    shares = {
        worth.id: worth.weight / answered[worth.group] * groups[worth.group] / live
        for worth in asked
        if worth.status == "scored" and worth.group in answered
    }
    covered = sum(groups[g] * answered[g] / intended[g] for g in answered) / everything
    return shares, covered


def _by_group(scored: Sequence[Worth], groups: Mapping[str, float]) -> dict[str, float | None]:
    totals: dict[str, float] = {}
    weights: dict[str, float] = {}
    for worth in scored:
        totals[worth.group] = totals.get(worth.group, 0.0) + worth.weight * (worth.value or 0.0)
        weights[worth.group] = weights.get(worth.group, 0.0) + max(0.0, worth.weight)
    return {
        group: totals[group] / weights[group] if weights.get(group) else None
        for group in groups
        if groups[group] > 0 and group in totals
    }
