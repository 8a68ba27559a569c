"""Format the figures of a metric for charts: texts, and positions on an axis."""

from __future__ import annotations

from collections.abc import Iterable

from judgekit.core.score import round_half_up
from judgekit.report.summary import MetricSummary

WIDTH = 320.0
"""Width of a chart, in its own units."""
MARGIN = 8.0


def number(value: float | None, scale: float = 1.0, digits: int = 2) -> str:
    """Return the text of a number; a dash for `None`.

    >>> number(0.5449), number(12345.6), number(None)
    ('0.54', '12,346', '–')
    """
    if value is None:
        return "–"
    scaled = value * scale
    if abs(scaled) >= 1000:
        return f"{scaled:,.0f}"
    return f"{round_half_up(scaled):.2f}" if digits == 2 else f"{scaled:.{digits}f}"


def percent(share: float | None) -> str:
    """Return a share in whole per cent; other values are never rounded to 0 or 100.

    >>> percent(0.647), percent(0.999), percent(1.0)
    ('65 %', '>99 %', '100 %')
    """
    if share is None:
        return "–"
    if 0 < share < 0.005:
        return "<1 %"
    if 0.995 <= share < 1:
        return ">99 %"
    return f"{share * 100:.0f} %"


def weight(value: float) -> str:
    """Return a criterion's share of the score.

    >>> weight(0.28), weight(-0.5), weight(0.125)
    ('28 %', '−50 %', '12.5 %')
    """
    return f"{value * 100:.3g} %".replace("-", "−")


class Axis:
    """The axis of a chart of a metric's values.

    Without bounds on both sides the axis spans the values of the run, and the page says so.
    """

    def __init__(self, summary: MetricSummary) -> None:
        self.summary = summary
        self.scale = summary.scale
        low, high = summary.range
        self.bounded = low is not None and high is not None
        known = (summary.minimum, summary.maximum, summary.low, summary.high, summary.threshold)
        values = [value for value in known if value is not None]
        self.low = low if low is not None else min(values, default=0.0)
        self.high = high if high is not None else max(values, default=1.0)
        if self.high <= self.low:
            self.high = self.low + 1.0
        span = (self.high - self.low) * abs(self.scale)
        self.digits = 3 if span <= 2 else 2

    def say(self, value: float | None) -> str:
        """Return the text of a mean."""
        return number(value, self.scale, self.digits)

    def short(self, value: float | None) -> str:
        """Return the text of a value, for ticks and single results."""
        whole = value is not None and not self.bounded and (value * self.scale).is_integer()
        return number(value, self.scale, 0 if whole else 2)

    def interval(self, low: float, high: float) -> str:
        """Return the text of an interval."""
        return f"[{self.say(low)}, {self.say(high)}]"

    def x(self, value: float) -> str:
        """Return the position of a value; values outside the axis are at its edge."""
        return _place((value - self.low) / (self.high - self.low), WIDTH, MARGIN)

    def at(self, share: float) -> str:
        """Return the value at a share of the axis."""
        return self.short(self.low + share * (self.high - self.low))

    @staticmethod
    def unit(value: float) -> str:
        """Return the position of a criterion's value, on 0..1, on its small axis."""
        return _place(value, 200.0, 4.0)


class CentredAxis:
    """The axis of a chart of differences, with zero in the middle.

    Args:
        values: all values of the chart; `None` for a missing one.
    """

    def __init__(self, values: Iterable[float | None]) -> None:
        self._most = 1.08 * (max((abs(v) for v in values if v is not None), default=0.0) or 0.05)

    def x(self, value: float) -> str:
        """Return the position of a value."""
        return f"{120 + max(-1.0, min(1.0, value / self._most)) * 114:.1f}"  # of 240, margin 6


def _place(share: float, width: float, margin: float) -> str:
    return f"{margin + min(1.0, max(0.0, share)) * (width - 2 * margin):.1f}"
