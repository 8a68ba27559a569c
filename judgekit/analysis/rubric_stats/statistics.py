"""Compute statistics of criteria from the values of the cases."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import asdict
from typing import Any, Self

from judgekit.core.display.parts import MOST_NAME, DisplayLine, DisplayPart, DisplayTable, cut
from judgekit.core.document import Document
from judgekit.core.score import Part
from judgekit.core.value import Value
from judgekit.stats.clusters import FEWEST as FEWEST_CLUSTERS
from judgekit.stats.clusters import cr2
from judgekit.stats.intervals import FEWEST as FEWEST_VALUES
from judgekit.stats.intervals import Coefficient, MeanError, mean_interval

FEWEST = 20
"""Minimum number of cases for a conclusion."""
WEAK = 0.35
"""A correlation whose interval is within this distance of 0 counts as no relation."""
SAME = 0.98
"""Share of equal verdicts, or correlation, above which two criteria are duplicates."""
VARIED = 0.05
"""Share of other values that a criterion needs besides its most frequent one, for agreement to
have a meaning."""
COMPARED = 100
"""Maximum number of criteria to compare with each one; the number of pairs is quadratic."""
_FULL = 1 - 1e-6


class RubricFigure(Value):
    """A figure with its number of cases and its 95 % interval."""

    n: int
    value: float | None = None
    """`None` if it is undefined, such as a correlation with a constant."""
    low: float | None = None
    high: float | None = None
    too_few: str | None = None
    """Why there is no interval."""

    @classmethod
    def of(cls, figure: Coefficient, n: int) -> RubricFigure:
        """Return a coefficient over n cases."""
        return cls(n=n, **asdict(figure))

    @property
    def text(self) -> str:
        """The figure as text.

        >>> RubricFigure(n=40, value=0.5, low=0.25, high=0.75).text
        '0.50 [0.25, 0.75], n 40'
        """
        if self.value is None and not self.n:
            return "none"
        figure = Coefficient(self.value, self.low, self.high).text
        return f"{figure}, n {self.n:,}".replace("-0.00", "0.00")

    @property
    def unrelated(self) -> bool:
        """Whether the interval contains 0 and is close to it."""
        if self.low is None or self.high is None:
            return False
        return -WEAK <= self.low <= 0 <= self.high <= WEAK


class CriterionStatistics(Value):
    """The statistics of one criterion in a run."""

    metric: str
    criterion: str
    n: int
    """Cases with a value; values are on 0..1."""
    constant: float | None = None
    """The value of all cases, if it is constant."""
    others: int
    """Number of other criteria that vary."""
    penalty: bool = False
    """Whether its weight is a penalty."""
    mean: RubricFigure
    full: RubricFigure
    """Share of cases with the full value."""
    discrimination: RubricFigure
    """Pearson's correlation with the score of the other criteria; point-biserial for yes/no."""
    redundancy: RubricFigure
    """Pearson's correlation with the closest criterion; phi for two of yes/no."""
    closest: str | None = None
    """The criterion with the strongest correlation."""
    duplicate: bool = False
    mean_change: RubricFigure
    """Change of the mean score, on 0..1, if the criterion is removed."""
    rank_correlation: RubricFigure
    """Spearman's correlation of the scores with and without the criterion."""
    coefficient: str | None = None
    """The coefficient of agreement with people, `kappa` or `Spearman`; `None` without labels."""
    people: RubricFigure | None = None
    agreement: RubricFigure | None = None
    """Pearson's correlation of the score with the human score."""
    agreement_without: RubricFigure | None = None
    """The same for the score without the criterion."""

    @property
    def findings(self) -> dict[str, str]:
        """Conclusions by kind: `constant`, `duplicate`, `noise`, `against` or `few`."""
        if self.n < FEWEST:
            return {"few": f"has {self.n} of the {FEWEST} cases that a conclusion needs"}
        if self.constant is not None:
            return {"constant": f"is constant: {self.constant:g} in all {self.n:,} cases"}
        findings = {}
        if self.duplicate:
            findings["duplicate"] = f"duplicates {self.closest}"
        people = self.people
        if self.discrimination.unrelated and people is not None and (people.low or 0.0) > 0:
            findings["apart"] = "has no relation to the other criteria, and people agree with it"
        elif self.discrimination.unrelated and (self.others > 1 or people is not None):
            measured = people is not None and people.low is not None
            nor = " nor to people" if measured else ""
            findings["noise"] = f"is noise: no relation to the other criteria{nor}"
        if (self.discrimination.high or 0.0) < 0 and not self.penalty:
            findings["against"] = "works against the other criteria"
        return findings

    def figures(self) -> Iterator[tuple[str, str]]:
        """Yield the name and the text of each figure."""
        yield "mean", self.mean.text
        yield "full value", self.full.text
        yield "with the rest", self.discrimination.text
        yield "closest", f"{self.closest or ''} {self.redundancy.text}".strip()
        if self.people is not None:
            yield "people", f"{self.coefficient or ''} {self.people.text}".strip()
        yield "without it", f"mean {self.mean_change.text}"
        yield "ranks without it", self.rank_correlation.text
        if self.agreement is not None and self.agreement_without is not None:
            yield "score and people", self.agreement.text
            yield "the same without it", self.agreement_without.text


class RubricStatistics(Document, Value):
    """The statistics of the criteria of a run."""

    cluster: str | None = None
    """Metadata field that clusters cases; intervals are clustered by it."""
    unweighted: tuple[str, ...] = ()
    """Metrics whose score is not a weighted mean; all criteria have equal weight here."""
    random: bool = False
    """Whether the labels have no probabilities and are treated as a random sample."""
    criteria: tuple[CriterionStatistics, ...]

    @property
    def notes(self) -> list[str]:
        """Notes on the figures."""
        by = f"clusters of {self.cluster}" if self.cluster else "case"
        notes = [f"Intervals: 95 %, by {by}. Values and scores are on 0..1."]
        for metric in self.unweighted:
            notes.append(f"The score of {metric} is no weighted mean; all criteria count the same.")
        if any(one.agreement is not None and not one.agreement.n for one in self.criteria):
            notes.append("No score of people where they did not answer all criteria of a metric.")
        if self.random:
            notes.append("Assumes that the labelled cases are a random sample.")
        return notes

    def to_json(self) -> dict[str, Any]:
        """Return the statistics as JSON values, with the conclusions for each criterion."""
        data: dict[str, Any] = self.model_dump(mode="json")
        for one, entry in zip(self.criteria, data["criteria"], strict=True):
            entry["findings"] = one.findings
        return data

    def _parts_shown(self) -> Iterator[DisplayPart]:
        for one in self.criteria:
            yield DisplayLine(cut(f"{one.metric}, {one.criterion}", 2 * MOST_NAME), "title")
            for finding in one.findings.values():
                yield DisplayLine(f"! {cut(finding)}", "bad")
            rows = [(name, cut(text)) for name, text in one.figures() if not text.endswith("none")]
            yield DisplayTable(("figure", "value with 95 % interval"), rows)
            yield DisplayLine("")
        yield from (DisplayLine(cut(note), "note") for note in self.notes)


class CriterionValues:
    """Values and weights of criteria, one column each; NaN if a case has no value.

    Args:
        clustered: whether cases come with clusters.
    """

    ids: list[str]
    values: Any
    """An array of criteria by cases."""
    weighted: bool
    """Whether the score is the weighted sum of the criteria; otherwise weights are equal here."""

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
        """Convert the columns to arrays; no cases can be added afterwards."""
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
        """Return the weighted mean of criteria for each case, on 0..1; NaN if there is none.

        Args:
            values: an array like `values`; NaN if a criterion with a weight has no value.
            without: a criterion to exclude.
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

        # They load numpy, and the linter of rubrics needs no statistics before it reads a run.
        from judgekit.stats.agreement import PairColumns, rank_figure
        from judgekit.stats.coefficients import pearson_figure

        both = np.flatnonzero(~np.isnan(first + second))
        if not len(both):
            return RubricFigure(n=0)
        numbers = np.concatenate([first[both], second[both]]).round(12)
        values, places = np.unique(numbers, return_inverse=True)
        chances = np.ones(len(both)) if weights is None else weights[both]
        sides = places[: len(both)], places[len(both) :]
        pairs = PairColumns(self._unit[both], *sides, chances, clustered=self._clustered)
        if ranks:
            return RubricFigure.of(rank_figure(pairs), len(both))
        return RubricFigure.of(pearson_figure(pairs, values.tolist()), len(both))

    def _mean(self, column: Any, bounds: tuple[float, float]) -> RubricFigure:
        """Return the mean of a column with its interval."""
        import numpy as np

        known = np.flatnonzero(~np.isnan(column))
        numbers, n = column[known], len(known)
        _, units = np.unique(self._unit[known], return_inverse=True)
        totals = np.bincount(units, numbers) if self._clustered else numbers
        least, unit = (
            (FEWEST_CLUSTERS, "clusters") if self._clustered else (FEWEST_VALUES, "values")
        )
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
