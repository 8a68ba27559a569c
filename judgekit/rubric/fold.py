"""Fold the values of criteria into one number, by group and weight.

`WAYS` is the one table of the ways to combine, for criteria of a rubric and for metrics of a suite.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
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


class WeightedCriterion(NamedTuple):
    """The weight of a criterion and its group."""

    id: str
    group: str
    weight: float


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


class _GroupShare(NamedTuple):
    """One group that counts."""

    name: str
    share: float
    """Its weight among the groups that count; these weights add up to 1."""
    positive: float
    """Sum of its positive weights."""
    members: tuple[tuple[int, float], ...]
    """Index and weight of each of its criteria."""


class _Shares(NamedTuple):
    """The part of a fold that depends on the statuses of criteria and not on their values."""

    status: Status
    """The status of the whole."""
    effective: dict[str, float]
    """Weight of each criterion that counts; the positive ones add up to 1."""
    covered: float
    """Share of the intended positive weight that has an answer, 0..1."""
    counted: tuple[int, ...]
    """Index of each criterion that counts."""
    groups: tuple[_GroupShare, ...]
    """The groups that count."""


_weight = operator.itemgetter(1)


class Fold:
    """Criteria with their weights; folds their outcomes into one value.

    Inside a group, the value is sum(weight * value) / sum(positive weights), over the scored
    criteria. Across groups it is the same, with the groups' weights. A criterion without a score is
    in neither sum, so the others keep their proportions. A penalty (negative weight) subtracts
    |weight| * value. The other ways in `WAYS` use the scored criteria of all groups together.

    Args:
        criteria: the criteria, in the rubric's order.
        groups: group -> weight in the selected mode; groups without weight are ignored.
    """

    def __init__(self, criteria: Iterable[WeightedCriterion], groups: Mapping[str, float]) -> None:
        self._criteria = tuple(criteria)
        self._groups = dict(groups)
        # Few combinations of statuses occur in a run, and their shares take longer than a fold.
        self._shares: dict[tuple[Status, ...], _Shares] = {}

    def __call__(self, outcomes: Sequence[Outcome], *, combine: Combine = DEFAULT) -> Folded:
        """Fold outcomes into one value.

        Args:
            outcomes: the outcomes of the criteria, in their order.
            combine: how criteria become one number.
        """
        statuses, found = zip(*outcomes, strict=True) if outcomes else ((), ())
        shares = self._shares.get(statuses)
        if shares is None:
            shares = self._shares[statuses] = self._shares_of(statuses)
        if not shares.counted:
            return Folded(shares.status, None, None, {}, 0.0, {})
        values: Sequence[Any] = found
        if None in found:
            values = [value or 0.0 for value in found]
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
        # One sum over all criteria, as in `way.value`, differs in the last digit from the sums by
        # group, which recorded results have.
        if combine != "weighted_mean":
            if not way.weighted:
                effective = dict.fromkeys(effective, 1.0 / len(shares.counted))
            counted = [values[place] for place in shares.counted]
            raw = way.value(counted, list(effective.values()))
        value = min(1.0, max(0.0, raw))
        effective = effective if way.shared else {}
        return Folded("scored", value, raw, effective, shares.covered, by_group)

    def _shares_of(self, statuses: Sequence[Status]) -> _Shares:
        groups, criteria = self._groups, self._criteria
        answers = list(zip(criteria, statuses, strict=True))
        intended: dict[str, float] = {}
        answered: dict[str, float] = {}
        for group, weight in groups.items():
            positive = [
                (c.weight, status)
                for c, status in answers
                if weight > 0 and c.group == group and c.weight > 0
            ]
            if positive:
                # Exact sums: weights such as .4, .3, .2 and .1 add up to exactly 1.
                intended[group] = math.fsum(weight for weight, _ in positive)
            if scored := [weight for weight, status in positive if status == "scored"]:
                answered[group] = math.fsum(scored)
        if not answered:
            asked = [status for c, status in answers if groups.get(c.group, 0.0) > 0]
            status: Status = "abstained" if "abstained" in asked else "not_applicable"
            return _Shares(status, {}, 0.0, (), ())
        live = math.fsum(groups[group] for group in answered)
        counted = tuple(
            place
            for place, (c, status) in enumerate(answers)
            if status == "scored" and c.group in answered
        )
        effective = {}
        for place in counted:
            id, group, weight = criteria[place]
            effective[id] = weight / answered[group] * groups[group] / live
        everything = math.fsum(groups[group] for group in intended)
        covered = math.fsum(groups[g] * answered[g] / intended[g] for g in answered) / everything
        shares = []
        for group, total in answered.items():
            members = tuple((n, criteria[n].weight) for n in counted if criteria[n].group == group)
            shares.append(_GroupShare(group, groups[group] / live, total, members))
        return _Shares("scored", effective, covered, counted, tuple(shares))
