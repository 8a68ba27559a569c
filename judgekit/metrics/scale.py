"""Scales: moving a value from one metric's range and direction to another's."""

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
        """Return where a value lies from worst (0) to best (1).

        >>> Scale(1, 5).goodness(4), Scale(0, 1, higher_is_better=False).goodness(0.25)
        (0.75, 0.75)
        """
        share = max(0.0, min(1.0, (value - self.low) / (self.high - self.low)))
        return share if self.higher_is_better else 1.0 - share

    def value(self, goodness: float) -> float:
        """Return the value that lies so far from worst to best: the inverse of `goodness`."""
        share = goodness if self.higher_is_better else 1.0 - goodness
        return max(self.low, min(self.high, self.low + share * (self.high - self.low)))
