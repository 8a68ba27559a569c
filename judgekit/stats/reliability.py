"""Reliability of repeated answers: how often they agree, and how many are sufficient."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from itertools import combinations, pairwise, repeat
from operator import and_, eq, mul, sub
from typing import Any

RELIABLE = 0.9
"""The target reliability of `samples_needed`."""
_NONE = 1e-9
"""A reliability below this value is a rounding error."""


class RepeatTally:
    """How well repeated answers to the same question agree, case by case, in constant memory.

    >>> tally = RepeatTally()
    >>> tally.add(["aba", "abb"], [[1.0, 0.0, 1.0], [1.0, 0.0, 0.0]])
    >>> round(tally.exact, 3), round(tally.kappa, 3), round(tally.icc, 3)
    (0.667, 0.333, 0.5)
    """

    def __init__(self) -> None:
        self.cases = 0
        """Number of cases with at least two answers."""
        self._answers = self._same = 0
        self._agreeing = 0.0
        """Sum over cases of the share of pairs of answers that agree."""
        self._labels: Counter[Hashable] = Counter()
        self._groups = 0
        """Number of cases with at least two values."""
        self._sizes: list[float] = [0.0, 0.0]
        """Sums over cases of the number of values, and of its square."""
        self._means = [0.0, 0.0]
        """Sums over cases of size * mean and of size * mean ** 2."""
        self._within = 0.0

    def add(
        self, answers: Sequence[Sequence[Hashable]], values: Sequence[Sequence[float | None]]
    ) -> None:
        """Add the answers to some cases, and their values on 0..1; a single answer does not count.

        Args:
            answers: the first answers to each case, then the second ones, ..., as words or numbers.
            values: their values; `None` for an answer without a value.
        """
        if (size := len(answers)) < 2:
            return
        cases = len(answers[0])
        self.cases += cases
        self._answers += size * cases
        same: Iterable[bool] = repeat(True, cases)
        for pair in pairwise(answers):
            same = map(and_, same, map(eq, *pair))
        self._same += sum(same)
        for column in answers:
            self._labels.update(column)
        equal = sum([sum(map(eq, *pair)) for pair in combinations(answers, 2)])
        self._agreeing += equal / math.comb(size, 2)
        if any(None in column for column in values):
            for row in zip(*values, strict=True):
                self._add_values([[value] for value in row if value is not None])
        else:
            self._add_values(values)

    def _add_values(self, columns: Sequence[Sequence[Any]]) -> None:
        if (size := len(columns)) < 2:
            return
        means = [math.fsum(row) / size for row in zip(*columns, strict=True)]
        self._groups += len(means)
        self._sizes[0] += len(means) * size
        self._sizes[1] += len(means) * size * size
        self._means[0] += size * math.fsum(means)
        self._means[1] += size * math.fsum(map(mul, means, means))
        for column in columns:
            distances = list(map(sub, column, means))
            self._within += math.fsum(map(mul, distances, distances))

    @property
    def exact(self) -> float | None:
        """Share of cases in which all answers are the same."""
        return self._same / self.cases if self.cases else None

    @property
    def kappa(self) -> float | None:
        """Fleiss' kappa (1971) of the answers as words; `None` if it is not defined."""
        if not self.cases:
            return None
        chance = math.fsum((count / self._answers) ** 2 for count in self._labels.values())
        return (self._agreeing / self.cases - chance) / (1 - chance) if chance < 1 else None

    @property
    def spread(self) -> float | None:
        """Standard deviation of the values within a case, on 0..1."""
        free = self._sizes[0] - self._groups
        return math.sqrt(self._within / free) if free else None

    @property
    def icc(self) -> float | None:
        """ICC(1,1) (Shrout and Fleiss 1979) of the values; `None` if it is not defined."""
        count, n = self._groups, self._sizes[0]
        if count < 2:
            return None
        between = max(0.0, self._means[1] - self._means[0] ** 2 / n) / (count - 1)
        within = self._within / (n - count)
        size = (n - self._sizes[1] / n) / (count - 1)
        total = between + (size - 1) * within
        return (between - within) / total if total > 1e-15 else None


def samples_needed(reliability: float | None) -> int | None:
    """Return how many answers together are reliable, by Spearman and Brown (1910).

    k = goal * (1 - r) / (r * (1 - goal)), rounded up, with the goal `RELIABLE`; `None` if a single
    answer has no reliability.

    >>> samples_needed(0.6), samples_needed(0.95), samples_needed(0.0)
    (6, 1, None)
    """
    if reliability is None or reliability <= _NONE:
        return None
    return max(1, math.ceil(RELIABLE * (1 - reliability) / (reliability * (1 - RELIABLE)) - 1e-9))


def _total(numbers: Iterable[float]) -> float:
    """Return the exact sum; infinity beyond the range of a float."""
    try:
        return math.fsum(numbers)
    except (OverflowError, ValueError):
        return math.inf


class PairSums:
    """Sums over pairs of numbers that give their correlation, in constant memory.

    >>> PairSums([1, 2, 3], [2, 4, 6]).correlation, PairSums([1, 1], [0, 1]).correlation
    (1.0, None)
    """

    def __init__(self, firsts: Sequence[float] = (), seconds: Sequence[float] = ()) -> None:
        self.n = 0
        self._mean = [0.0, 0.0]
        self._squares = [0.0, 0.0, 0.0]
        self.add(firsts, seconds)

    def add(self, firsts: Sequence[float], seconds: Sequence[float]) -> None:
        """Add pairs: compute their sums, then merge them (Chan, Golub and LeVeque, 1979)."""
        if not (n := len(firsts)):
            return
        means = _total(firsts) / n, _total(seconds) / n
        first = list(map(sub, firsts, repeat(means[0])))
        second = list(map(sub, seconds, repeat(means[1])))
        step, other = means[0] - self._mean[0], means[1] - self._mean[1]
        shared = self.n * n / (self.n + n)
        self.n += n
        self._mean[0] += step * n / self.n
        self._mean[1] += other * n / self.n
        self._squares[0] += _total(map(mul, first, first)) + shared * step * step
        self._squares[1] += _total(map(mul, second, second)) + shared * other * other
        self._squares[2] += _total(map(mul, first, second)) + shared * step * other

    @property
    def correlation(self) -> float | None:
        """Pearson's correlation; `None` if a side is constant, or the numbers are too large."""
        one, other, both = self._squares
        if one <= 1e-15 or other <= 1e-15 or not math.isfinite(one * other):
            return None
        # The addition turns -0.0 into 0.0.
        return max(-1.0, min(1.0, round(both / math.sqrt(one * other), 12))) + 0.0

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % interval of the correlation (Fisher, 1915); `None` for fewer than 10 pairs."""
        r = self.correlation
        if r is None or self.n < 10:
            return None
        if abs(r) >= 1:
            return r, r
        middle, half = math.atanh(r), 1.959963984540054 / math.sqrt(self.n - 3)
        return math.tanh(middle - half), math.tanh(middle + half)
