"""The figures of a metric as they are drawn: numbers in words, places on an axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from judgekit.core.score import round_half_up
from judgekit.report.summary import MetricSummary

WIDTH = 320.0
"""Width of a figure, in the units of its drawing."""
MARGIN = 8.0
HEIGHT = 46.0
"""Height of the tallest bar of a histogram."""


def number(value: float | None, scale: float = 1.0, digits: int = 2) -> str:
    """Return a number as people read it; a dash for none.

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
    """Return a share as whole per cent; never a rounded 0 or 100.

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


class HistogramBar(NamedTuple):
    """One bar of a histogram."""

    x: str
    y: str
    width: str
    height: str
    title: str


class Axis:
    """The axis of a drawing of a metric's values.

    Without bounds on both sides the axis spans the values of the run, and the page says so.
    """

    def __init__(self, summary: MetricSummary) -> None:
        self.summary = summary
        self.scale = summary.scale
        low, high = summary.range
        self.bounded = low is not None and high is not None
        seen = [
            value
            for value in (
                summary.minimum, summary.maximum, summary.low, summary.high, summary.threshold,
            )
            if value is not None
        ]  # fmt: skip
        self.low = low if low is not None else min(seen, default=0.0)
        self.high = high if high is not None else max(seen, default=1.0)
        if self.high <= self.low:
            self.high = self.low + 1.0
        span = (self.high - self.low) * abs(self.scale)
        self.digits = 3 if span <= 2 else 2

    def say(self, value: float | None) -> str:
        """Return a value as shown, with the digits a mean deserves."""
        return number(value, self.scale, self.digits)

    def short(self, value: float | None) -> str:
        """Return a value as shown, for ticks and single results."""
        whole = value is not None and not self.bounded and (value * self.scale).is_integer()
        return number(value, self.scale, 0 if whole else 2)

    def interval(self, low: float, high: float) -> str:
        """Return an interval as shown: its ends stay inside the metric's range."""
        least, most = self.summary.range
        low = low if least is None else max(least, low)
        high = high if most is None else min(most, high)
        return f"[{self.say(low)}, {self.say(high)}]"

    def x(self, value: float) -> str:
        """Return the position of a value; one outside is at the edge."""
        return _place((value - self.low) / (self.high - self.low), WIDTH, MARGIN)

    @property
    def caution(self) -> str | None:
        """A caution if there are few values."""
        found = self.summary
        if not found.few:
            return None
        scored = f"Only {found.independent} " + ("scored" if found.clusters is None else "clusters")
        if found.too_few:
            return f"{scored}: too few for an interval ({found.too_few})."
        return f"{scored}: the interval is wide, and little is known yet."

    @property
    def bars(self) -> list[HistogramBar]:
        """The bars of the histogram that are not empty."""
        counts = self.summary.histogram
        top = max(counts, default=0)
        if not top:
            return []
        step = (WIDTH - 2 * MARGIN) / len(counts)
        width = (self.high - self.low) / len(counts)
        return [
            HistogramBar(
                x=f"{MARGIN + place * step + 0.75:.1f}",
                y=f"{HEIGHT - max(1.5, count / top * HEIGHT):.1f}",
                width=f"{step - 1.5:.1f}",
                height=f"{max(1.5, count / top * HEIGHT):.1f}",
                title=(
                    f"{self.short(self.low + place * width)} to "
                    f"{self.short(self.low + (place + 1) * width)}: {count}"
                ),
            )
            for place, count in enumerate(counts)
            if count
        ]

    @staticmethod
    def small_bars(counts: Sequence[int]) -> list[HistogramBar]:
        """Return the bars of a criterion's histogram, on its small axis of 0..1."""
        top = max(counts, default=0)
        if not top:
            return []
        step = 192.0 / len(counts)
        return [
            HistogramBar(
                x=f"{4 + place * step + 0.5:.1f}",
                y=f"{14 - max(1.0, count / top * 13):.1f}",
                width=f"{step - 1:.1f}",
                height=f"{max(1.0, count / top * 13):.1f}",
                title=f"{place / len(counts):.2f} to {(place + 1) / len(counts):.2f}: {count}",
            )
            for place, count in enumerate(counts)
            if count
        ]

    @property
    def counts(self) -> list[tuple[str, int, str]]:
        """How rows ended: word, count and tone; empty where all ended alike."""
        s = self.summary
        counts = [
            ("judged", s.judged, "plain"),
            ("computed", s.computed, "plain"),
            ("fallback", s.fallback, "warn"),
            ("abstained", s.abstained, "plain"),
            ("not applicable", s.not_applicable, "plain"),
            ("failed", s.failed, "bad"),
            ("not run", s.not_run, "bad"),
        ]
        some = [entry for entry in counts if entry[1]]
        return some if len(some) > 1 else []

    @property
    def view(self) -> str:
        """The part of the drawing that is used: without a histogram, only what is below it."""
        return "0 0 320 84" if self.bars else "0 42 320 42"

    @staticmethod
    def unit(value: float) -> str:
        """Return the position of a criterion's value, on 0..1, on its small axis."""
        return _place(value, 200.0, 4.0)


def _place(share: float, width: float, margin: float) -> str:
    return f"{margin + min(1.0, max(0.0, share)) * (width - 2 * margin):.1f}"
