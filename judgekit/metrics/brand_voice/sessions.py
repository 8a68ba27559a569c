"""The spread of a metric over sessions."""

from __future__ import annotations

import math
from array import array
from collections.abc import Mapping, Sequence

from judgekit.core.score import Score
from judgekit.metrics.aggregate import Figures, ScoreAggregate
from judgekit.stats.bootstrap import bootstrap_interval, too_few

FIGURES: Mapping[str, bool] = {
    "bootstrap_low": True,
    "bootstrap_high": True,
    "bootstrap_margin": False,
    "lowest": True,
    "highest": True,
    "sd_ddof_1": False,
    "variance_ddof_1": False,
}
"""The figures of `Sessions`, and whether higher is better."""


class Sessions(ScoreAggregate):
    """The spread of one metric over sessions: one value from 0 to 1 for each session.

    `sd_ddof_1` and `variance_ddof_1` divide by n - 1. There is no bootstrap interval of fewer than
    30 sessions, or where nearly all of them are at the top or bottom (see `too_few`).
    """

    def __init__(self) -> None:
        self._values = array("d")

    def add_score(self, score: Score, value: float) -> None:
        """Add one session."""
        self._values.append(value)

    def finish(self) -> Figures:
        """Return the figures; `None` where there are too few sessions for one."""
        values = self._values
        few = too_few(values, bounds=(0.0, 1.0))
        interval = bootstrap_interval(values) if few is None else None
        variance = _variance(values)
        return {
            "bootstrap_low": interval.low if interval else None,
            "bootstrap_high": interval.high if interval else None,
            "bootstrap_margin": interval.margin if interval else None,
            "lowest": min(values, default=None),
            "highest": max(values, default=None),
            "sd_ddof_1": None if variance is None else math.sqrt(variance),
            "variance_ddof_1": variance,
        }


def _variance(values: Sequence[float]) -> float | None:
    if len(values) < 2:
        return None
    mean = math.fsum(values) / len(values)
    return math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1)
