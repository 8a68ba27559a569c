"""Rates of yes and no: errors of a judge, a corrected share, ROC-AUC, F1 and thresholds.

The share of Rogan and Gladen (1978) has the interval of Lee et al. (2025), arXiv 2511.21140.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import accumulate, pairwise
from statistics import StatisticsError, correlation
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
    """Return the number of independent values that give a share the same standard error."""
    spread = share.value * (1 - share.value)
    if share.error * spread > 0:
        # A standard error is that of n - 1: of a share of n independent values it gives n again.
        return max(1.0, min(share.n, spread / share.error**2 + 1))
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

    The method is that of Lee et al. (2025), after Lang and Reiczigel (2014): it adds successes and
    failures to each of the three shares, which shifts the middle of the interval.

    Args:
        share: share of yes among the judge's verdicts.
        specificity: share of verdicts no among the labels no.
        sensitivity: share of verdicts yes among the labels yes.
        n: number of judged rows.
        negatives: number of labels no.
        positives: number of labels yes.

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


def roc_auc(scores: Sequence[float], labels: Sequence[int]) -> float:
    """Return the share of pairs of a positive and a negative in the right order; a tie is half.

    Args:
        scores: a score for each case.
        labels: 1 or 0 for each case.

    Raises:
        ValueError: one of the two classes is missing.

    >>> roc_auc([0.9, 0.4, 0.4, 0.1], [1, 1, 0, 0])
    0.875
    """
    positives, negatives = (
        sorted(score for score, label in zip(scores, labels, strict=True) if label == side)
        for side in (1, 0)
    )
    if not positives or not negatives:
        raise ValueError("a ROC-AUC needs positives and negatives")
    # Twice the negatives below each positive plus half of the ties: whole numbers.
    twice = sum(bisect_left(negatives, at) + bisect_right(negatives, at) for at in positives)
    return twice / (2 * len(positives) * len(negatives))


def auc_interval(auc: float, positives: int, negatives: int) -> tuple[float, float]:
    """Return the 95 % interval of a ROC-AUC; it stays inside 0..1 and has a width even at 1.

    This is the score-like method 5 of Newcombe (2006, Statistics in Medicine 25:559). The ends are
    the values that are z standard errors away from the figure; the standard error is that of Hanley
    and McNeil's formula with equal exponential variances.

    >>> [round(end, 3) for end in auc_interval(1.0, 10, 10)]
    [0.8, 1.0]
    """
    pairs = positives * negatives
    half = (positives + negatives) / 2 - 1

    def is_inside(value: float) -> bool:
        spread = (1 - value) / (2 - value) + value / (1 + value)
        error = math.sqrt(value * (1 - value) * (1 + half * spread) / pairs)
        return abs(auc - value) <= Z * error

    def end(far: float) -> float:
        near = auc
        for _ in range(60):  # bisection: more steps change no digit
            middle = (near + far) / 2
            near, far = (middle, far) if is_inside(middle) else (near, middle)
        return near

    return end(0.0), end(1.0)


def f1_at(scores: Sequence[float], labels: Sequence[int], threshold: float) -> float:
    """Return F1 of class 1; a score of at least `threshold` predicts it. It is 0 without a hit."""
    taken = [label for score, label in zip(scores, labels, strict=True) if score >= threshold]
    return 2 * sum(taken) / (len(taken) + sum(labels)) if any(taken) else 0.0


def best_threshold(
    scores: Sequence[float], labels: Sequence[int], candidates: Sequence[float] | None = None
) -> tuple[float, float]:
    """Return the threshold with the best F1, and that F1.

    Args:
        scores: a score for each case, 0..1.
        labels: 1 or 0 for each case.
        candidates: thresholds. The first of equally good ones wins, and one that predicts all
            cases or none counts 0. By default they are the middles between neighbouring scores,
            and the one closest to .5 wins.

    >>> best_threshold([0.9, 0.75, 0.25], [1, 1, 0])
    (0.5, 1.0)
    """
    ordered = sorted(zip(scores, labels, strict=True))
    values = [score for score, _ in ordered]
    below = [0, *accumulate(label for _, label in ordered)]
    if candidates is None:
        known = sorted({0.0, *values})
        middles = [(a + b) / 2 for a, b in pairwise(known)]
        candidates = sorted(middles or known, key=lambda value: (abs(value - 0.5), value))

    def figure(threshold: float) -> float:
        at = bisect_left(values, threshold)
        taken, hits = len(values) - at, below[-1] - below[at]
        return 2 * hits / (taken + below[-1]) if 0 < taken < len(values) else 0.0

    best = max(candidates, key=figure)  # the first of equals
    return best, figure(best)


def pearson(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Return Pearson's correlation; `None` if a side is constant."""
    try:
        return max(-1.0, min(1.0, correlation(first, second)))
    except StatisticsError:
        return None
