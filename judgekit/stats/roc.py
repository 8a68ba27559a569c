"""How well scores tell two classes apart: ROC-AUC with its interval, F1, and the best threshold."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate, pairwise
from statistics import NormalDist


def roc_auc(scores: Sequence[float], labels: Sequence[int]) -> float:
    """Return the share of pairs of a positive and a negative in the right order; a tie is half.

    Args:
        scores: a score for each case.
        labels: 1 or 0 for each case.

    Raises:
        ValueError: there are not both classes.

    >>> roc_auc([0.9, 0.4, 0.4, 0.1], [1, 1, 0, 0])
    0.875
    """
    positives = sum(labels)
    negatives = len(labels) - positives
    if not positives or not negatives:
        raise ValueError("a ROC-AUC needs positives and negatives")
    ordered = sorted(zip(scores, labels, strict=True))
    twice, below, at = 0, 0, 0
    while at < len(ordered):
        end = at
        while end < len(ordered) and ordered[end][0] == ordered[at][0]:
            end += 1
        here = sum(label for _, label in ordered[at:end])
        others = end - at - here
        twice += here * (2 * below + others)
        below += others
        at = end
    return twice / (2 * positives * negatives)


def auc_interval(
    auc: float, positives: int, negatives: int, *, confidence: float = 0.95
) -> tuple[float, float]:
    """Return an interval of a ROC-AUC that stays inside 0..1 and has a width at 1, too.

    The score-like method 5 of Newcombe (2006, Statistics in Medicine 25:559): the ends are the
    values whose standard error, by Hanley and McNeil's formula with equal exponential variances,
    puts them z errors away from the figure.

    >>> [round(end, 3) for end in auc_interval(1.0, 10, 10)]
    [0.8, 1.0]
    """
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    pairs = positives * negatives
    half = (positives + negatives) / 2 - 1

    def error(value: float) -> float:
        spread = (1 - value) / (2 - value) + value / (1 + value)
        return math.sqrt(value * (1 - value) * (1 + half * spread) / pairs)

    def end(near: float, far: float) -> float:
        for _ in range(60):  # bisection: more steps change no digit
            middle = (near + far) / 2
            if abs(auc - middle) <= z * error(middle):
                near = middle
            else:
                far = middle
        return near

    return (0.0 if auc == 0 else end(auc, 0.0)), (1.0 if auc == 1 else end(auc, 1.0))


def f1_at(scores: Sequence[float], labels: Sequence[int], threshold: float) -> float:
    """Return F1 of the class 1, which is taken from a score of `threshold` on; 0 without a hit."""
    taken = [label for score, label in zip(scores, labels, strict=True) if score >= threshold]
    return 2 * sum(taken) / (len(taken) + sum(labels)) if any(taken) else 0.0


def best_threshold(
    scores: Sequence[float], labels: Sequence[int], candidates: Sequence[float] | None = None
) -> tuple[float, float]:
    """Return the threshold with the best F1, and that F1.

    Args:
        scores: a score for each case, 0..1.
        labels: 1 or 0 for each case.
        candidates: thresholds; the first of equals wins, and one that takes all cases or none
            counts 0. By default the middles between neighbouring scores, and of equals the
            nearest to .5.

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
    best, figure = candidates[0], 0.0
    for threshold in candidates:
        at = bisect_left(values, threshold)
        taken, hits = len(values) - at, below[-1] - below[at]
        if 0 < taken < len(values) and 2 * hits / (taken + below[-1]) > figure:
            best, figure = threshold, 2 * hits / (taken + below[-1])
    return best, figure


def pearson(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Return Pearson's correlation; `None` where a side does not vary."""
    n = len(first)
    x, y = math.fsum(first) / n, math.fsum(second) / n
    xx = math.fsum((a - x) ** 2 for a in first)
    yy = math.fsum((b - y) ** 2 for b in second)
    if xx <= 0 or yy <= 0:
        return None
    xy = math.fsum((a - x) * (b - y) for a, b in zip(first, second, strict=True))
    return max(-1.0, min(1.0, xy / math.sqrt(xx * yy)))
