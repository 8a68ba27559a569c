"""The value of a case from the shares of its criteria, and whether the case passes.

The value is that of HealthBench: points of what is met / positive points. A node with children is
their weighted mean, as in PaperBench. The ways to pass are those of Reward Kit.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

from judgekit.core.comparing import at_least, equal
from judgekit.metrics.criteria.item import CriterionItem

PassRule = Literal["all", "any", "required"] | float
"""Which criteria must be met: all, at least one, the required ones; or the least value."""
Shares = Mapping[str, float | None]
"""Number of a criterion that a judge decides -> its share, 0..1; `None` if it has none."""


class TreeValue(NamedTuple):
    """The value of some criteria together."""

    value: float | None
    """At most 1; below 0 if penalties are larger than what is met. `None` without an answer to a
    criterion with positive points."""
    earned: float
    """Sum of points x share."""
    possible: float
    """Sum of the positive points of what has a share."""
    covered: float
    """Share of all points, negative ones too, whose criteria were answered; 1 without points."""
    weights: Mapping[str, float]
    """Number of a criterion that a judge decides -> its weight in the value."""
    nodes: Mapping[str, float | None]
    """Number of a node with children -> its share."""


def tree_value(items: Sequence[CriterionItem], shares: Shares) -> TreeValue:
    """Return the value of criteria: sum of points x share / sum of positive points.

    A criterion without a share is in neither sum. The share of a node is this value of its
    children, clipped to 0..1.

    Example:
        >>> from judgekit.metrics.criteria.item import items_of
        >>> items = items_of([{"criterion": "Names the dose", "points": 5},
        ...                   {"criterion": "Scares the reader", "points": -2}])
        >>> tree_value(items, {"1": 1.0, "2": 0.5}).value
        0.8
    """
    own: list[tuple[float, float]] = []
    covered: list[float] = []
    weights: dict[str, float] = {}
    nodes: dict[str, float | None] = {}
    below: list[tuple[float, Mapping[str, float]]] = []
    for item in items:
        if item.children:
            inner = tree_value(item.children, shares)
            share = None if inner.value is None else min(1.0, max(0.0, inner.value))
            nodes |= {item.number: share, **inner.nodes}
            covered.append(abs(item.points) * inner.covered)
            # A node without a value adds nothing; nor do the criteria below it.
            points = 0.0 if share is None else item.points
            below.append((points, inner.weights))
        else:
            share = shares[item.number]
            covered.append(abs(item.points) * (share is not None))
            weights[item.number] = 0.0 if share is None else item.points
        if share is not None:
            own.append((item.points, share))
    earned = math.fsum(points * share for points, share in own)
    possible = math.fsum(points for points, _ in own if points > 0)
    everything = math.fsum(abs(item.points) for item in items)
    for points, inner_weights in below:
        weights |= {number: points * weight for number, weight in inner_weights.items()}
    return TreeValue(
        value=earned / possible if possible else None,
        earned=earned,
        possible=possible,
        covered=math.fsum(covered) / everything if everything else 1.0,
        weights={n: weight / possible if possible else 0.0 for n, weight in weights.items()},
        nodes=nodes,
    )


def passed(
    items: Sequence[CriterionItem], shares: Shares, rule: PassRule, value: TreeValue
) -> bool | None:
    """Return whether a case passes; `None` if an open criterion decides it.

    A criterion is met with the share 1, and one with negative points with the share 0. `required`
    are the items marked so; if there are none, those that are not optional.
    """
    if not isinstance(rule, str):
        return None if value.value is None else at_least(value.value, rule)
    leaves = [leaf for item in items for leaf in item.leaves()]
    if rule != "required":
        return (
            _every(_met(leaf, shares) for leaf in leaves)
            if rule == "all"
            else _some([_met(leaf, shares) for leaf in leaves])
        )
    every = [one for item in items for one in item.walk()]
    marked = [one for one in every if one.required]
    if not marked:
        optional = {leaf.number for one in every if one.optional for leaf in one.leaves()}
        marked = [leaf for leaf in leaves if leaf.number not in optional]
    met = (_met(leaf, shares) for one in marked for leaf in one.leaves())
    return _every(met) if marked else None


def _met(leaf: CriterionItem, shares: Shares) -> bool | None:
    share = shares[leaf.number]
    return None if share is None else equal(share, 0.0 if leaf.points < 0 else 1.0)


def _every(met: Iterable[bool | None]) -> bool | None:
    known = set(met)
    return False if False in known else None if None in known else True


def _some(met: Sequence[bool | None]) -> bool | None:
    return True if True in met else None if None in met else False


def tag_values(
    items: Sequence[CriterionItem], shares: Shares, by: Sequence[str]
) -> dict[str, float | None]:
    """Return tag -> the value of the criteria with that tag, of tags that `by` selects.

    An entry of `by` is a tag, or the part of tags before their colon: `axis` selects
    `axis:accuracy`. A criterion has the tags of the nodes above it.
    """
    tagged: dict[str, list[CriterionItem]] = {}

    def collect(item: CriterionItem, above: tuple[str, ...]) -> None:
        tags = (*above, *item.tags)
        for child in item.children:
            collect(child, tags)
        if not item.children:
            for tag in dict.fromkeys(tags):
                if tag in by or tag.partition(":")[0] in by:
                    tagged.setdefault(tag, []).append(item)

    for item in items:
        collect(item, ())
    return {tag: tree_value(own, shares).value for tag, own in sorted(tagged.items())}
