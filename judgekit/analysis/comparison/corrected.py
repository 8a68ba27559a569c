"""The difference of two runs, each corrected with its own labels.

Each run needs its own labels: a judge makes different errors on the answers of another system, and
a shared correction can reverse the sign of a difference (arXiv 2605.06939).
"""

from __future__ import annotations

import math

from judgekit.core.value import Value
from judgekit.report.corrected import NO_LABELS, LabelFigure
from judgekit.report.report import Report
from judgekit.stats.intervals import mean_interval


class CorrectedDifference(Value):
    """The difference of two corrected means; the runs are assumed to be independent."""

    base: LabelFigure = NO_LABELS
    new: LabelFigure = NO_LABELS
    mean: float | None = None
    """New minus base."""
    low: float | None = None
    high: float | None = None
    """95 % interval; `None` for too few labels."""
    too_few: str | None = None
    """Why there is no interval, or no difference."""

    @property
    def spread(self) -> str:
        """The interval as text."""
        return "too few" if self.low is None else f"[{self.low:+.3f}, {self.high:+.3f}]"

    @property
    def line(self) -> str:
        """The difference and its assumptions, as text."""
        if self.mean is None:
            return f"no corrected difference: {self.too_few}"
        return (
            f"corrected by people: {self.base.text()}, then {self.new.text()}: {self.mean:+.3f} "
            f"{self.spread}. Assumes that the labels of each run are a random sample of its own "
            "cases, or of its plan, and takes the runs as independent, which makes the interval "
            "of runs over the same cases too wide rather than too narrow."
        )


def corrected_difference(
    base: Report, new: Report, metric: str, *, same_answers: bool
) -> CorrectedDifference | None:
    """Return the corrected difference of a metric; `None` if neither run has labels for it.

    Args:
        base: the baseline.
        new: the other run.
        metric: a metric of both.
        same_answers: whether both runs scored the same answers.
    """
    before, after = base.metrics[metric].corrected, new.metrics[metric].corrected
    if before is None or after is None:
        if before is after:
            return None
        side = "new run" if before is None else "base"
        return CorrectedDifference(too_few=f"only the {side} has labels; label the other too")
    labels = [run.figures.manifest.get("labels") for run in (base, new)]
    without_digest = before.without_digest and after.without_digest
    if without_digest and labels[0] == labels[1] and not same_answers:
        why = "the labels name no output, and cannot be about the answers of both runs"
        return CorrectedDifference(too_few=why)
    old, late = before.corrected, after.corrected
    found = CorrectedDifference(base=old, new=late, too_few=old.too_few or late.too_few)
    if old.value is None or late.value is None:
        return found
    mean = late.value - old.value
    if before.standard_error is None or after.standard_error is None:
        return found.model_copy(update={"mean": mean})
    one, two = before.standard_error**2, after.standard_error**2
    parts = one**2 / (before.df or math.inf) + two**2 / (after.df or math.inf)
    df = (one + two) ** 2 / parts if parts else 1e6
    least, most = base.metrics[metric].range
    span = None if least is None or most is None else most - least
    bounds = (None if span is None else -span, span)
    low, high = mean_interval(mean, math.sqrt(one + two), df, bounds=bounds) or (None, None)
    return found.model_copy(update={"mean": mean, "low": low, "high": high})
