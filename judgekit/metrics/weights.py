"""Combine several values: scales that map them to 0..1, weights, and their weighted mean."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from judgekit.core.errors import ConfigError
from judgekit.core.protocols import Metric
from judgekit.core.score import Part
from judgekit.core.suggest import suggest
from judgekit.metrics._options import check_weight
from judgekit.rubric.fold import DEFAULT, WAYS, Combine


@dataclass(frozen=True, slots=True)
class Scale:
    """A range with finite ends, and which end is better."""

    low: float
    high: float
    higher_is_better: bool = True

    @classmethod
    def of(cls, metric: Metric) -> Scale:
        """Return the scale of a metric.

        Raises:
            ConfigError: an end of its range is not finite, or the range is empty.
        """
        low, high = metric.range
        if not (math.isfinite(low) and math.isfinite(high) and low < high):
            raise ConfigError(
                f"{metric.name}: a range of {low:g} to {high:g} cannot be mapped to another;"
                " both ends must be finite"
            )
        return cls(float(low), float(high), metric.higher_is_better)

    def goodness(self, value: float) -> float:
        """Return the position of a value from worst (0) to best (1).

        >>> Scale(1, 5).goodness(4), Scale(0, 1, higher_is_better=False).goodness(0.25)
        (0.75, 0.75)
        """
        share = max(0.0, min(1.0, (value - self.low) / (self.high - self.low)))
        return share if self.higher_is_better else 1.0 - share

    def value(self, goodness: float) -> float:
        """Return the value at a position from worst (0) to best (1): the inverse of `goodness`."""
        share = goodness if self.higher_is_better else 1.0 - goodness
        return max(self.low, min(self.high, self.low + share * (self.high - self.low)))


def check_weights(metric: str, value: object, default: Mapping[str, float]) -> dict[str, float]:
    """Check weights, and return them; the defaults for `None`.

    Raises:
        ConfigError: a part is unknown or missing, or the sum is not 1.
    """
    if value is None:
        return dict(default)
    names = list(default)
    if not isinstance(value, Mapping):
        example = ", ".join(f"{name}: {weight:g}" for name, weight in default.items())
        raise ConfigError(f"{metric}: weights must be {{{example}}}, not {value!r}")
    for name in value:
        if name not in default:
            message = f"{metric}: weights: there is no part {name!r}{suggest(str(name), names)}"
            raise ConfigError(message)
    missing = [name for name in names if name not in value]
    if missing:
        message = f"{metric}: weights: missing {', '.join(missing)}; give each part a weight"
        raise ConfigError(message)
    weights = {name: check_weight(metric, f"weights.{name}", value[name]) for name in names}
    total = math.fsum(weights.values())
    if abs(total - 1.0) > 1e-6:
        raise ConfigError(f"{metric}: weights must add up to 1, not {total:g}")
    return weights


def spelled_part(part: Part) -> str:
    """Return the id of a part with its value, or with its status if it has no value."""
    if part.value is None:
        return f"{part.id} {part.status.replace('_', ' ')}"
    return f"{part.id} {part.value:.2f}"


class FoldedParts(NamedTuple):
    """Parts, and their combined value."""

    value: float | None
    """`None` if no part with a weight applies."""
    covered: float
    """Share of the weight of parts with a value, 0..1."""
    parts: tuple[Part, ...]
    """The parts, with their shares of the value as weights."""


def fold_parts(
    parts: Sequence[Part], weights: Mapping[str, float], *, combine: Combine = DEFAULT
) -> FoldedParts:
    """Return the combined value of the applicable parts; they share the weight of the others.

    Args:
        parts: the parts.
        weights: id -> weight, at least 0.
        combine: how values become one. The part whose value it is, if any, has all the weight.
    """
    way = WAYS[combine]
    known = [part for part in parts if part.value is not None and weights[part.id] > 0]
    values = [part.value or 0.0 for part in known]
    covered = math.fsum(weights[part.id] for part in known)
    shares = {part.id: weights[part.id] / covered for part in known if covered}
    value = way.value(values, list(shares.values())) if covered else None
    if known and not way.shared:
        decisive = known[way.pick(values)]
        # Shares times values are the value; a way that rounds down to 0 leaves no such share.
        shares = {decisive.id: float(decisive.value == value)}
    shared = tuple(p.model_copy(update={"weight": shares.get(p.id, 0.0)}) for p in parts)
    if value is None:
        return FoldedParts(None, 0.0, shared)
    return FoldedParts(max(0.0, min(1.0, value)), min(1.0, covered), shared)
