"""The alternative annotator test: may a judge replace the people who label?

Calderon, Reichart and Dror (ACL 2025, arXiv 2501.10970). Each labeller is left out in turn. For
each case, the judge and the labeller are compared with the remaining labellers.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Sequence
from typing import NamedTuple

from judgekit.stats.clusters import FEWEST as FEWEST_CLUSTERS
from judgekit.stats.clusters import cr2
from judgekit.stats.student import student_t_p

FEWEST_ITEMS = 30
"""Cases that a labeller must share with another one to be tested."""
FEWEST_LABELLERS = 3
LEVEL = 0.05
"""False discovery rate."""
ROUNDING = 1e-12
"""By which two agreements may differ and still be equal."""


class ItemComparison(NamedTuple):
    """One case of one labeller: who agrees better with the remaining labellers."""

    judge: float
    """How well the judge agrees; any number, the larger the better."""
    labeller: float
    unit: Hashable
    """The case, or the cluster it is in."""
    weight: float = 1.0


class LeftOut(NamedTuple):
    """The test with one labeller left out."""

    n: int
    difference: float
    """Share of cases in which the labeller is better less that in which the judge is."""
    advantage: float
    """Share of cases in which the judge is as good or better."""
    p: float


def left_out(items: Sequence[ItemComparison], epsilon: float) -> LeftOut:
    """Return the test of one labeller.

    d is 1 where the labeller agrees better with the others, -1 where the judge does, and 0
    otherwise. The test is a one-sided t test that the mean of d is below epsilon, over units (CR2
    standard error, Satterthwaite degrees of freedom). One unit of mean size is added in which the
    labeller is better: without it, people who nearly always agree let a judge pass up to four
    times as often as they should (`benchmarks/alt_test.py`).

    >>> even = [ItemComparison(judge=1, labeller=1, unit=n) for n in range(30)]
    >>> round(left_out(even, 0.2).p, 6)
    7e-06
    """
    scale = len(items) / math.fsum(item.weight for item in items)
    totals: defaultdict[Hashable, float] = defaultdict(float)
    sizes: defaultdict[Hashable, float] = defaultdict(float)
    advantage = 0.0
    for item in items:
        weight = item.weight * scale
        ahead = item.labeller - item.judge
        advantage += weight * (ahead <= ROUNDING)
        totals[item.unit] += weight * ((ahead > ROUNDING) - (ahead < -ROUNDING))
        sizes[item.unit] += weight
    size = len(items) / len(sizes)
    figures = cr2([*totals.values(), size], [*sizes.values(), size])
    assert figures is not None  # noqa: S101 - with the added unit there are two
    t = (figures.mean - epsilon) / figures.error if figures.error else math.inf
    p = student_t_p(t, figures.df) / 2
    mean = math.fsum(totals.values()) / len(items)
    return LeftOut(len(items), mean, advantage / len(items), p if t < 0 else 1 - p)


def rejected(values: Sequence[float], level: float = LEVEL) -> list[bool]:
    """Return which hypotheses the procedure of Benjamini and Yekutieli (2001) rejects.

    The false discovery rate stays below the level, however the tests depend on each other.

    >>> rejected([0.001, 0.2, 0.01])
    [True, False, True]
    """
    count = len(values)
    harmonic = math.fsum(1 / rank for rank in range(1, count + 1))
    ranked = sorted(values)
    below = [p for rank, p in enumerate(ranked, 1) if p <= rank * level / (count * harmonic)]
    most = max(below, default=-1.0)
    return [p <= most for p in values]


def too_few(items: int, labellers: int, clusters: int | None) -> str | None:
    """Return why the test cannot tell; `None` where it can.

    Args:
        items: the cases of the labeller with the most cases shared with others.
        labellers: labellers with at least 30 such cases.
        clusters: clusters of cases; `None` without.
    """
    if items < FEWEST_ITEMS:
        return f"{items} of the {FEWEST_ITEMS} cases with two labellers that the test needs"
    if labellers < FEWEST_LABELLERS:
        enough = f"labellers with {FEWEST_ITEMS} shared cases"
        return f"{labellers} of the {FEWEST_LABELLERS} {enough} that the test needs"
    if clusters is not None and clusters < FEWEST_CLUSTERS:
        return f"{clusters} of the {FEWEST_CLUSTERS} clusters that the test needs"
    return None
