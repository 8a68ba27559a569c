"""Fold the values of criteria into one number, by group and weight.

`WAYS` is the one table of the ways to combine, for criteria of a rubric and for metrics of a suite.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, get_args

from judgekit.core.comparing import equal, mean_within
from judgekit.core.score import Status

Combine = Literal["weighted_mean", "mean", "min", "max", "all"]
"""The name of a way to combine values; `WAYS` says what each means."""
DEFAULT: Combine = "weighted_mean"
"""The way of a rubric that names none."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Way:
    """A way to combine values on 0..1."""

    value: Callable[[Sequence[float], Sequence[float]], float]
    """Returns the combined value. Takes the values, at least one, and their weights. The positive
    weights add up to 1; they are equal unless the way is `weighted`."""
    phrase: str
    """The value of a rubric in words, after "its value is"."""
    weighted: bool = False
    """Whether the weights that a file gives affect the value."""
    linear: bool = False
    """Whether the value is a sum of shares, so that the value of 1 - x is 1 - the value of x."""
    decisive: Literal["lowest", "highest", "cost"]
    """The part that explains the value: the one with the lowest or highest value, if the value is
    that of one part; or the one that costs the most, if all parts share the value."""
    exact: bool = False
    """Whether a value below 1 counts as 0."""

    @property
    def shared(self) -> bool:
        """Whether all parts have a share of the value."""
        return self.decisive == "cost"

    @property
    def penalties(self) -> bool:
        """Whether a negative weight subtracts from the value."""
        return self.weighted and self.linear

    def pick(self, values: Sequence[float]) -> int:
        """Return the index of the first part that decides alone; for ways that are not `shared`."""
        extreme = max(values) if self.decisive == "highest" else min(values)
        return values.index(extreme)


def _mean(values: Sequence[float], weights: Sequence[float]) -> float:
    mean = math.fsum(map(operator.mul, values, weights))
    return mean_within(mean, values) if min(weights) >= 0 else mean


WAYS: Mapping[Combine, Way] = MappingProxyType(
    {
        "weighted_mean": Way(
            value=_mean, phrase="the weighted mean", weighted=True, linear=True, decisive="cost"
        ),
        "mean": Way(value=_mean, phrase="the mean", linear=True, decisive="cost"),
        "min": Way(
            value=lambda values, _: min(values),
            phrase="that of the lowest criterion",
            decisive="lowest",
        ),
        "max": Way(
            value=lambda values, _: max(values),
            phrase="that of the highest criterion",
            decisive="highest",
        ),
        "all": Way(
            value=lambda values, _: float(all(equal(value, 1.0) for value in values)),
            phrase="1 if every criterion is met in full",
            decisive="lowest",
            exact=True,
        ),
    }
)
# Types need the names as a literal; a name without a row, or a row without a name, stops here.
if tuple(WAYS) != get_args(Combine):
    raise TypeError(f"Combine has {get_args(Combine)}, and WAYS has {tuple(WAYS)}")


def way_of(combine: object) -> Way | None:
    """Return the way with a name from a foreign file; `None` if there is none."""
    return next((way for name, way in WAYS.items() if name == combine), None)


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
    """Effective weight of each criterion that counts; the positive ones add up to 1. Empty if the
    way to combine is not `shared`."""
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
    worths: Sequence[Worth], *, groups: Mapping[str, float], combine: Combine = DEFAULT
) -> Folded:
    """Fold criteria into one value.

    Inside a group, the value is sum(weight * value) / sum(positive weights), over the scored
    criteria. Across groups it is the same, with the groups' weights. A criterion without a score is
    in neither sum, so the others keep their proportions. A penalty (negative weight) subtracts
    |weight| * value. The other ways in `WAYS` use the scored criteria of all groups together.

    Args:
        worths: the criteria, in the rubric's order.
        groups: group -> weight in the selected mode; groups without weight are ignored.
        combine: how criteria become one number.
    """
    values = [worth.value for worth in worths]
    return fold_values(values, shares=shares_of(worths, groups), combine=combine)


_weight = operator.itemgetter(1)


def fold_values(
    outcomes: Sequence[float | None], *, shares: Shares, combine: Combine = DEFAULT
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
    # Members first, then groups, as in the published formulas.
    by_group: dict[str, float | None] = {}
    parts: list[float] = []
    for name, share, positive, members in shares.groups:
        own = math.fsum([weight * values[place] for place, weight in members]) / positive
        if min(members, key=_weight)[1] > 0:  # a penalty may lower the mean below every value
            own = mean_within(own, [values[place] for place, _ in members])
        by_group[name] = own
        parts.append(share * own)
    raw = mean_within(math.fsum(parts), [value or 0.0 for value in by_group.values()])
    way = WAYS[combine]
    effective = shares.effective
    if combine != "weighted_mean":
        if not way.weighted:
            effective = dict.fromkeys(effective, 1.0 / len(shares.counted))
        counted = [values[place] for place in shares.counted]
        raw = way.value(counted, list(effective.values()))
    value = min(1.0, max(0.0, raw))
    effective = effective if way.shared else {}
    return Folded("scored", value, raw, effective, shares.covered, by_group)


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
