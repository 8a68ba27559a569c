"""The difference of two runs, each corrected with its own labels.

A correction of one run is not used for the other: a judge errs differently on the answers of
another system, and a shared correction can reverse the sign of a difference (arXiv 2605.06939).
"""

from __future__ import annotations

import math

from judgekit.core.value import Value
from judgekit.report.corrected import LabelFigure
from judgekit.report.manifest import mapping
from judgekit.report.report import Report
from judgekit.stats.intervals import mean_interval


class CorrectedDifference(Value):
    """The difference of two corrected means, with the runs taken as independent."""

    base: LabelFigure
    new: LabelFigure
    mean: float | None
    """New minus base."""
    low: float | None = None
    high: float | None = None
    """95 % interval; `None` for too few labels."""
    too_few: str | None = None
    """Why there is no interval, or no difference."""

    @property
    def line(self) -> str:
        """The difference, and what it assumes."""
        both = f"{self.base.text()}, then {self.new.text()}"
        if self.mean is None:
            return f"no corrected difference: {self.too_few}"
        spread = f"[{self.low:+.3f}, {self.high:+.3f}]" if self.low is not None else "too few"
        return (
            f"corrected by people: {both}: {self.mean:+.3f} {spread}. Assumes that the labels of "
            "each run are a random sample of its own cases, and takes the runs as independent, "
            "which makes the interval of runs over the same cases too wide rather than too narrow."
        )


def corrected_difference(
    base: Report, new: Report, metric: str, *, same_answers: bool
) -> CorrectedDifference | None:
    """Return the corrected difference of a metric; `None` if neither run has labels of it.

    Args:
        base: the baseline.
        new: the other run.
        metric: a metric of both.
        same_answers: whether both runs scored the same answers.
    """
    before, after = base.metrics[metric].corrected, new.metrics[metric].corrected
    if before is None and after is None:
        return None
    none = LabelFigure(value=None, n=0, too_few="no labels")
    old = none if before is None else before.corrected
    late = none if after is None else after.corrected
    why = None
    if before is None or after is None:
        why = f"only the {'new run' if before is None else 'base'} has labels; label the other too"
    elif before.without_digest and after.without_digest and not same_answers:
        files = [mapping(run.figures.manifest.get("labels")).get("digest") for run in (base, new)]
        if files[0] == files[1]:
            why = "the labels name no output, and cannot be about the answers of both runs"
    if why is not None or old.value is None or late.value is None:
        return CorrectedDifference(
            base=old, new=late, mean=None, too_few=why or old.too_few or late.too_few
        )
    mean = late.value - old.value
    errors = [one.standard_error for one in (before, after) if one is not None]
    if any(error is None for error in errors):
        return CorrectedDifference(
            base=old, new=late, mean=mean, too_few=old.too_few or late.too_few
        )
    variances = [error**2 for error in errors if error is not None]
    freedoms = [one.df or math.inf for one in (before, after) if one is not None]
    parts = sum(v**2 / df for v, df in zip(variances, freedoms, strict=True))
    df = sum(variances) ** 2 / parts if parts else 1e6
    least, most = base.metrics[metric].range
    span = None if least is None or most is None else most - least
    bounds = (None, None) if span is None else (-span, span)
    ends = mean_interval(mean, math.sqrt(sum(variances)), df, bounds=bounds) or (None, None)
    return CorrectedDifference(base=old, new=late, mean=mean, low=ends[0], high=ends[1])
