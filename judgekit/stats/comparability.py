"""Whether labelled rows can stand for all rows: a test of the judge's values in both."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from judgekit.stats.clusters import cr2
from judgekit.stats.correction import Correction
from judgekit.stats.student import student_t_p

FEWEST_COMPARED = 2
"""Minimum number of labelled rows for a comparison."""

ROUNDING = 1e-12


class RowComparison(NamedTuple):
    """The judge's mean on rows with and without a label."""

    labelled: float
    """The mean over the labelled rows, by their weights."""
    rest: float
    """The mean over the other rows; with the weights of a plan, over all rows."""
    p: float
    """Two-sided p of the hypothesis that the labelled rows are a random sample."""


def compare_rows(rows: Correction, *, span: float) -> RowComparison | None:
    """Compare the judge's values of labelled rows with those of the other rows.

    The gap between the means is divided by its standard error: the larger of the sandwich
    (`Correction.error`, over clusters if there are any) and that of a random sample of all values
    of the judge, sd * sqrt(design / labels + 1 / others). The second does not vanish when all
    labelled rows have the same value by chance. The design effect is Kish's for clusters,
    1 + (mean size - 1) * rho, where rho is the correlation in the clusters of all rows. A gap
    counts only as far as it exceeds the share of one label, because a few rows with a rare value
    are far from a t distribution. With weights of a plan, the rows that the plan prefers count
    less, so the plan itself causes no gap.

    Args:
        rows: labelled rows and others.
        span: the largest value of the judge minus the smallest.

    Returns:
        The comparison; `None` if there are fewer than two labelled rows, or no others.
    """
    others = rows.others.n
    if rows.n < FEWEST_COMPARED or not others:
        return None
    # The difference estimator has this factor for a judge's mean over all rows.
    lam = 1.0 / (1 + rows.n / others) if rows.weighted else 1.0
    labelled, rest = float(rows.share @ rows.judge), rows.judged
    sandwich, df = rows.error(np.zeros(rows.n), lam)
    design = _design_effect(rows)
    pooled = rows.pooled * (design / rows.effective + (0 if rows.weighted else 1 / others))
    error = max(sandwich, math.sqrt(pooled))
    gap = abs(labelled - rest) - span / rows.effective
    if gap <= ROUNDING or error <= 0 or not math.isfinite(error):
        return RowComparison(labelled, rest, 1.0)
    df = df if rows.clusters is None else min(df, max(1.0, rows.clusters - 1.0))
    return RowComparison(labelled, rest, student_t_p(gap / error, df))


def _design_effect(rows: Correction) -> float:
    """Return the factor by which clusters raise the variance of a mean of the labelled rows."""
    if rows.clusters is None or not rows.pooled:
        return 1.0
    count, total = rows.judged_units()
    own = np.bincount(rows.units, minlength=len(count)).astype(float)
    if not rows.weighted:
        count = count + own
        total = total + np.bincount(rows.units, weights=rows.judge, minlength=len(count))
    everything = cr2(total.tolist(), count.tolist())
    size, labelled = (float((each**2).sum() / each.sum()) for each in (count, own))
    if everything is None or size <= 1:
        return 1.0
    effect = everything.error**2 * float(count.sum()) / rows.pooled
    rho = min(1.0, max(0.0, (effect - 1) / (size - 1)))
    return 1 + (labelled - 1) * rho
