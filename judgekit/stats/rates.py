"""The error rates of a judge of yes and no, and a share corrected for them.

The share of Rogan and Gladen (1978) comes with the interval of Lee et al. (2025), arXiv 2511.21140.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from judgekit.stats.intervals import Z


class MeanFigure(NamedTuple):
    """A mean with its interval, or the reason why it has none."""

    value: float
    n: float
    """The number of values."""
    error: float = 0.0
    """Standard error."""
    df: float = 1.0
    low: float | None = None
    high: float | None = None
    too_few: str | None = None


def independent_size(share: MeanFigure) -> float:
    """Return the number of independent values that a share is as exact as."""
    spread = share.value * (1 - share.value)
    if share.error * spread > 0:
        return max(1.0, min(share.n, spread / share.error**2))
    return min(share.n, share.df + 1) if share.df > 1 else share.n


def youden_figure(sensitivity: MeanFigure, specificity: MeanFigure) -> MeanFigure:
    """Return Youden's J, sensitivity + specificity - 1, with Newcombe's interval (1998)."""
    value = sensitivity.value + specificity.value - 1
    figure = MeanFigure(value, sensitivity.n + specificity.n)
    below = above = 0.0
    for one in (sensitivity, specificity):
        if one.low is None or one.high is None:
            return figure._replace(too_few=sensitivity.too_few or specificity.too_few)
        below = math.hypot(below, one.value - one.low)
        above = math.hypot(above, one.high - one.value)
    return figure._replace(low=max(-1.0, value - below), high=min(1.0, value + above))


def rogan_gladen(share: float, specificity: float, sensitivity: float) -> float:
    """Return the share of yes, corrected for the errors of a judge, on 0..1.

    Raises:
        ValueError: sensitivity + specificity is not above 1.

    >>> round(rogan_gladen(0.4, 0.7, 0.9), 4)
    0.1667
    """
    youden = sensitivity + specificity - 1
    if youden <= 0:
        raise ValueError("the judge is no better than chance: sensitivity + specificity <= 1")
    return min(1.0, max(0.0, (share + specificity - 1) / youden))


def lee_interval(
    share: float, specificity: float, sensitivity: float, n: float, negatives: float,
    positives: float,
) -> tuple[float, float]:  # fmt: skip
    """Return the 95 % interval of a share that `rogan_gladen` corrects, inside 0..1.

    As Lee et al. (2025), after Lang and Reiczigel (2014): successes and failures are added to each
    of the three shares, which moves the middle of the interval.

    Args:
        share: share of yes by the judge.
        specificity: share of no among the labels no.
        sensitivity: share of yes among the labels yes.
        n: judged rows.
        negatives: labels no.
        positives: labels yes.

    >>> [round(end, 4) for end in lee_interval(0.4, 0.7, 0.9, 1000, 200, 200)]
    [0.0564, 0.2627]
    """
    share, n = (n * share + Z**2 / 2) / (n + Z**2), n + Z**2
    specificity, negatives = (negatives * specificity + 1) / (negatives + 2), negatives + 2
    sensitivity, positives = (positives * sensitivity + 1) / (positives + 2), positives + 2
    youden = specificity + sensitivity - 1
    if youden <= 0:
        return 0.0, 1.0
    middle = (share + specificity - 1) / youden
    no = specificity * (1 - specificity) / negatives
    yes = sensitivity * (1 - sensitivity) / positives
    spread = share * (1 - share) / n + (1 - middle) ** 2 * no + middle**2 * yes
    middle += 2 * Z**2 * (middle * yes - (1 - middle) * no)
    half = Z * math.sqrt(spread) / youden
    return min(1.0, max(0.0, middle - half)), min(1.0, max(0.0, middle + half))
