"""The values of criteria by case, and what follows from them."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from typing import Any, Self

from judgekit.analysis.rubric_stats.statistics import CriterionStatistics, RubricFigure
from judgekit.core.score import Part
from judgekit.stats.agreement import PairColumns, rank_figure
from judgekit.stats.clusters import FEWEST as FEWEST_CLUSTERS
from judgekit.stats.clusters import cr2
from judgekit.stats.correlations import pearson_figure
from judgekit.stats.intervals import FEWEST, MeanError, mean_interval

SAME = 0.98
"""Share of equal verdicts above which two criteria are one; also a correlation that high."""
VARIED = 0.05
"""Share of other values that a criterion needs besides its most frequent one, for agreement to
have a meaning."""
COMPARED = 100
"""Criteria that each is compared with; the number of pairs is quadratic."""
_FULL = 1 - 1e-6


class CriterionValues:
    """Values and weights of criteria, a column each; NaN where a case has no value.

    Args:
        clustered: whether cases come with clusters.
    """

    ids: list[str]
    values: Any
    """An array of criteria by cases."""
    weighted: bool
    """Whether the criteria add up to the score; otherwise all count the same here."""

    def __init__(self, *, clustered: bool = False) -> None:
        self._clustered = clustered
        self._units: list[int] = []
        self._clusters: dict[Hashable, int] = {}
        self._columns: dict[str, list[tuple[float, float]]] = {}

    def add(self, parts: Iterable[Part], cluster: Hashable = None) -> None:
        """Add the criteria of one case."""
        row = len(self._units)
        for part in parts:
            column = self._columns.setdefault(part.id, [])
            column += [(math.nan, 0.0)] * (row - len(column))
            column.append((math.nan if part.value is None else part.value, part.weight))
        unit = self._clusters.setdefault(cluster, len(self._clusters)) if self._clustered else row
        self._units.append(unit)

    def finish(self) -> Self:
        """Turn the columns into arrays; nothing is added after that."""
        import numpy as np

        size = len(self._units)
        padded = [c + [(math.nan, 0.0)] * (size - len(c)) for c in self._columns.values()]
        rows = np.array(padded, float).reshape(len(padded), size, 2)
        self.values, weights = np.moveaxis(rows, 2, 0)
        self.ids, self._unit = list(self._columns), np.array(self._units, int)
        known = ~np.isnan(self.values)
        self.weighted = bool((weights[known] != 0).any())
        self._weights = np.where(known, weights if self.weighted else 1.0, 0.0)
        return self

    def score(self, values: Any, without: int | None = None) -> Any:
        """Return by case the weighted mean of criteria, on 0..1; NaN where there is none.

        Args:
            values: an array like `values`; NaN where a criterion that counts has no value.
            without: a criterion to leave out.
        """
        import numpy as np

        kept = [place for place in range(len(self.ids)) if place != without]
        weights = self._weights[kept]
        worth = np.where(weights == 0, 0.0, weights * values[kept]).sum(axis=0)
        with np.errstate(divide="ignore", invalid="ignore"):
            score = worth / np.maximum(weights, 0.0).sum(axis=0)
        return np.where(np.isfinite(score), np.clip(score, 0.0, 1.0), math.nan)

    def statistics(self, place: int, metric: str = "") -> CriterionStatistics:
        """Return the statistics of one criterion without labels."""
        import numpy as np

        own = self.values[place]
        rest, whole = self.score(self.values, without=place), self.score(self.values)
        known = own[~np.isnan(own)]
        numbers, counts = np.unique(known.round(6), return_counts=True)
        others, closest, copy = self._closest(place)
        varied = len(known) > 0 and 1 - counts.max() / len(known) >= VARIED
        return CriterionStatistics(
            metric=metric,
            criterion=self.ids[place],
            n=len(known),
            others=others,
            constant=float(numbers[0]) if len(numbers) == 1 else None,
            penalty=bool((self._weights[place] < 0).any()),
            mean=self._mean(own, (0.0, 1.0)),
            full=self._mean(np.where(np.isnan(own), own, own >= _FULL), (0.0, 1.0)),
            discrimination=self.relation(own, rest),
            redundancy=RubricFigure(n=0)
            if closest is None
            else self.relation(own, self.values[closest]),
            closest=None if closest is None else self.ids[closest],
            duplicate=bool(copy and varied),
            mean_change=self._mean(rest - whole + 0 * own, (-1.0, 1.0)),
            rank_correlation=self.relation(whole + 0 * own, rest, ranks=True),
        )

    def _closest(self, place: int) -> tuple[int, int | None, bool]:
        """Return the number of criteria to compare with, the closest, and whether it is a copy."""
        import numpy as np

        found: tuple[float, int, bool] = (-1.0, 0, False)
        others = 0
        for other, values in enumerate(self.values[:COMPARED]):
            both = ~np.isnan(self.values[place] + values)
            one, two = self.values[place][both], values[both]
            if other != place and len(one) and np.ptp(one) and np.ptp(two):
                r = round(abs(float(np.corrcoef(one, two)[0, 1])), 9)
                copy = max(r, float((np.abs(one - two) < 1e-6).mean())) >= SAME
                found = max(found, (r, -other, copy))
                others += 1
        return others, -found[1] if others else None, found[2]

    def relation(
        self, first: Any, second: Any, *, ranks: bool = False, weights: Any = None
    ) -> RubricFigure:
        """Return Pearson's correlation of two columns, or Spearman's."""
        import numpy as np

        both = np.flatnonzero(~np.isnan(first + second))
        if not len(both):
            return RubricFigure(n=0)
        numbers = np.concatenate([first[both], second[both]]).round(12)
        values, places = np.unique(numbers, return_inverse=True)
        chances = np.ones(len(both)) if weights is None else weights[both]
        sides = places[: len(both)], places[len(both) :]
        pairs = PairColumns(self._unit[both], *sides, chances, clustered=self._clustered)
        if ranks:
            return RubricFigure.of(rank_figure(pairs, len(values)), len(both))
        return RubricFigure.of(pearson_figure(pairs, values.tolist()), len(both))

    def _mean(self, column: Any, bounds: tuple[float, float]) -> RubricFigure:
        """Return the mean of a column with its interval."""
        import numpy as np

        known = np.flatnonzero(~np.isnan(column))
        numbers, n = column[known], len(known)
        _, units = np.unique(self._unit[known], return_inverse=True)
        totals = np.bincount(units, numbers) if self._clustered else numbers
        least, unit = (FEWEST_CLUSTERS, "clusters") if self._clustered else (FEWEST, "values")
        mean = float(numbers.mean()) if n else None
        if mean is None or len(totals) < least:
            too_few = f"{len(totals)} of the {least} {unit} that an interval needs"
            return RubricFigure(n=n, value=mean, too_few=too_few)
        figures = MeanError(mean, float(numbers.std(ddof=1)) / n**0.5, n - 1)
        if self._clustered:
            figures = cr2(totals.tolist(), np.bincount(units).tolist()) or figures
        changed = int((totals != 0).sum()) if bounds[0] < 0 else None
        low, high = mean_interval(*figures, bounds=bounds, changed=changed) or (None, None)
        return RubricFigure(n=n, value=mean, low=low, high=high)
