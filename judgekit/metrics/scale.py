"""Scales: convert a value from the range and direction of one metric to another."""

from __future__ import annotations

import math
from dataclasses import dataclass

from judgekit.core.errors import ConfigError
from judgekit.core.protocols import Metric


@dataclass(frozen=True, slots=True)
class Scale:
    """A range with finite ends, and which of them is good."""

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
