"""Tests of pairs and of labellers, and corrections for multiple tests.

The alternative annotator test (Calderon, Reichart and Dror, ACL 2025, arXiv 2501.10970) decides
whether a judge may replace human labellers. Each labeller is left out in turn. For each case, the
judge and this labeller are compared with the remaining labellers.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Sequence
from typing import NamedTuple

from judgekit.stats.clusters import FEWEST as FEWEST_CLUSTERS
from judgekit.stats.clusters import cr2
from judgekit.stats.intervals import Z
from judgekit.stats.student import student_t_p


def mcnemar_p(one_way: int, other_way: int) -> float:
    """Return the exact two-sided p of McNemar's test.

    The counts are the cases with a changed verdict, by direction. If the runs do not differ, both
    directions are equally likely. The test is a sign test: a binomial test with probability 1/2.

    Raises:
        ValueError: a count is negative.

    >>> mcnemar_p(8, 1)
    0.0390625
    """
    if one_way < 0 or other_way < 0:
        raise ValueError(f"counts cannot be negative: {one_way}, {other_way}")
    n, least = one_way + other_way, min(one_way, other_way)
    if n == 0 or one_way == other_way:
        return 1.0
    if n <= _EXACT:
        return 2 * sum(math.comb(n, k) for k in range(least + 1)) / (1 << n)
    # From the largest term down; each is the previous one times k / (n - k + 1).
    log = math.lgamma(n + 1) - math.lgamma(least + 1) - math.lgamma(n - least + 1)
    term = math.exp(log - n * math.log(2))
    terms = [term]
    for k in range(least, 0, -1):
        term *= k / (n - k + 1)
        terms.append(term)
        if term < terms[0] * 1e-17:
            break
    return min(1.0, 2 * math.fsum(terms))


def paired_shares_interval(up: int, down: int, n: int) -> tuple[float, float]:
    """Return the 95 % interval of the difference of two shares over the same n cases.

    This is the adjusted Wald interval of Bonett and Price (2012). It adds one case to each kind of
    flip, so the interval has a width even with few flips or none. It is clipped to -1..1.

    Args:
        up: cases that fail in the first share and pass in the second.
        down: cases that pass in the first and fail in the second.
        n: number of all cases.

    Raises:
        ValueError: a count is negative, or there are more flips than cases.

    >>> [round(end, 4) for end in paired_shares_interval(0, 5, 60)]
    [-0.1618, 0.0005]
    """
    if min(up, down) < 0 or n < 1 or up + down > n:
        raise ValueError(f"{up} and {down} flips of {n} cases")
    mean = (up - down) / (n + 2)
    variance = ((up + down + 2) / (n + 2) - mean * mean) / (n + 2)
    half = Z * math.sqrt(variance)
    return max(-1.0, mean - half), min(1.0, mean + half)


_EXACT = 1000
"""Number of flips up to which whole numbers are summed."""


def holm(values: Sequence[float | None]) -> list[float | None]:
    """Return p values adjusted for multiple tests (Holm 1979), in the given order.

    Compare them with 0.05: the probability of one or more false alarms is then at most 0.05, even
    for dependent tests. `None` means that a test was not possible; it does not count.

    >>> holm([0.01, None, 0.04, 0.03])
    [0.03, None, 0.06, 0.06]
    """
    known = sorted((p, place) for place, p in enumerate(values) if p is not None)
    adjusted: list[float | None] = [None] * len(values)
    highest = 0.0
    for rank, (p, place) in enumerate(known):
        highest = max(highest, min(1.0, (len(known) - rank) * p))
        adjusted[place] = highest
    return adjusted


FEWEST_ITEMS = 30
"""Minimum number of cases that a labeller must share with others for the test."""
FEWEST_LABELLERS = 3
LEVEL = 0.05
"""False discovery rate."""
ROUNDING = 1e-12
"""Agreements that differ by less are equal."""


class ItemComparison(NamedTuple):
    """One case of one labeller: the agreement with the remaining labellers."""

    judge: float
    """Agreement of the judge; any number, larger is better."""
    labeller: float
    unit: Hashable
    """The case, or its cluster."""
    weight: float = 1.0


class LeftOut(NamedTuple):
    """The test with one labeller left out."""

    n: int
    difference: float
    """Share of cases in which the labeller is better, minus the share in which the judge is."""
    advantage: float
    """Share of cases in which the judge is at least as good."""
    p: float


def left_out(items: Sequence[ItemComparison], epsilon: float) -> LeftOut:
    """Return the test of one labeller.

    d is 1 if the labeller agrees better with the others, -1 if the judge does, and 0 otherwise. The
    test is a one-sided t test that the mean of d is below epsilon, over units (CR2 standard error,
    Satterthwaite degrees of freedom). One unit of mean size is added in which the labeller is
    better. Without it, a judge would pass up to four times too often if the labellers nearly always
    agree (`benchmarks/alt_test.py`).

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

    The false discovery rate stays below the level, whatever the dependence between the tests.

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
    """Return the reason why the test is not possible; `None` if it is.

    Args:
        items: the largest number of cases that a labeller shares with others.
        labellers: number of labellers with at least 30 such cases.
        clusters: number of clusters of cases; `None` without clusters.
    """
    if items < FEWEST_ITEMS:
        return f"{items} of the {FEWEST_ITEMS} cases with two labellers that the test needs"
    if labellers < FEWEST_LABELLERS:
        enough = f"labellers with {FEWEST_ITEMS} shared cases"
        return f"{labellers} of the {FEWEST_LABELLERS} {enough} that the test needs"
    if clusters is not None and clusters < FEWEST_CLUSTERS:
        return f"{clusters} of the {FEWEST_CLUSTERS} clusters that the test needs"
    return None
