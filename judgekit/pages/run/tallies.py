"""Figures that a page computes case by case: worst cases, histograms, and slices."""

from __future__ import annotations

import math
import re
from collections.abc import Hashable, Mapping, Sequence
from copy import deepcopy
from typing import Any, NamedTuple

from judgekit.core.score import Failure, Row, own_parts, own_value
from judgekit.pages.run.unscored import lacked
from judgekit.report.clusters import cluster_of
from judgekit.report.folder import Scored
from judgekit.report.summary import BINS, Largest, MetricSummary, mean_figures
from judgekit.stats.clusters import FigureValues
from judgekit.stats.intervals import Bounds
from judgekit.stats.slices import SliceMean, mean_over_slices

FIELDS = 12
"""Maximum number of metadata fields to show, in the order of the data."""
VALUES = 24
"""Maximum number of values of a field with few values."""
LONGEST = 1000
"""Maximum length of a value, in characters; a field with longer ones contains texts."""
_LOOKED_AT = 100
"""Maximum number of fields to check; a data set may have as many as cases."""

_NUMBERS = re.compile(r"([0-9]+)")
EDGE = 0.95
"""Minimum share of values at one end of the range of a saturated metric or criterion."""
ENOUGH = 10
"""Minimum number of values for this conclusion."""
SHOWN = 3
"""Number of cases to show in full, before the table."""


class SliceCell(NamedTuple):
    """One metric over one slice, without fallbacks."""

    n: int
    mean: float | None
    low: float | None
    high: float | None
    too_few: str | None = None
    """Why there is no interval."""
    clusters: int | None = None


class Slice(NamedTuple):
    """The cases with one value."""

    value: str | None
    """`None` for cases without the field."""
    cases: int
    cells: tuple[SliceCell, ...]
    """Figures of all metrics, in order."""


class Field(NamedTuple):
    """A field of the metadata with few values."""

    name: str
    slices: tuple[Slice, ...]
    over: tuple[SliceCell, ...] = ()
    """The mean over the slices with a value of the field, of all metrics, in order."""


class Slices:
    """Collects the fields with few values from the cases of a run, one by one.

    Args:
        metrics: name -> the smallest and the largest possible value.
        cluster: the field that clusters cases; intervals are then clustered.
    """

    def __init__(self, metrics: Mapping[str, Bounds], *, cluster: str | None = None) -> None:
        self._cluster = cluster
        self._bounds = metrics
        self._all = self._tally()
        self._fields: dict[str, dict[str | None, _Tally] | None] = {}
        """`None` for a field with too many values."""

    def add(self, scored: Scored) -> None:
        """Take one case with its rows."""
        values = {row.metric: own_value(row.result) for row in scored.rows}
        metadata = scored.case.metadata
        cluster = cluster_of(scored.case.id, metadata, self._cluster)
        for name in metadata:
            if name not in self._fields and len(self._fields) < _LOOKED_AT:
                # Earlier cases lacked the field.
                self._fields[name] = {None: deepcopy(self._all)} if self._all.cases else {}
        for name, tallies in self._fields.items():
            if tallies is None:
                continue
            value = value_text(metadata.get(name))
            if value not in tallies:
                if value is not None and (len(tallies) > VALUES or len(value) > LONGEST):
                    self._fields[name] = None
                    continue
                tallies[value] = self._tally()
            tallies[value].add(values, cluster)
        self._all.add(values, cluster)

    def _tally(self) -> _Tally:
        return _Tally(self._bounds, clustered=self._cluster is not None)

    def finish(self) -> tuple[Field, ...]:
        """Return the fields with few values, each with its slices in order."""
        most = min(VALUES, max(2, self._all.cases // 2))
        fields = []
        for name, tallies in self._fields.items():
            if tallies is None or len(tallies) < 2:
                continue
            values = sorted((value for value in tallies if value is not None), key=_in_order)
            if len(values) <= most:
                order = [*values, *([None] if None in tallies else [])]
                slices = (tallies[value].finish(value, self._bounds) for value in order)
                over = _over([tallies[value] for value in values], self._bounds)
                fields.append(Field(name, tuple(slices), over))
        return tuple(fields[:FIELDS])


class _Tally:
    def __init__(self, bounds: Mapping[str, Bounds], *, clustered: bool) -> None:
        self.cases = 0
        self.figures = {metric: FigureValues(clustered=clustered) for metric in bounds}

    def add(self, values: Mapping[str, float | None], cluster: Hashable) -> None:
        self.cases += 1
        for metric, figures in self.figures.items():
            if (value := values.get(metric)) is not None:
                figures.add(value, cluster)

    def finish(self, value: str | None, bounds: Mapping[str, Bounds]) -> Slice:
        cells = (
            SliceCell(figures.rows.n, **mean_figures(figures, bounds[metric]))
            for metric, figures in self.figures.items()
        )
        return Slice(value, self.cases, tuple(cells))


def _over(tallies: Sequence[_Tally], bounds: Mapping[str, Bounds]) -> tuple[SliceCell, ...]:
    """Return the mean over slices of each metric; slices without a score have no mean."""
    cells = []
    for metric, own in bounds.items():
        known = [tally.figures[metric] for tally in tallies if tally.figures[metric].rows.n]
        found = mean_over_slices([SliceMean.of(one.spread, own) for one in known])
        few = next((one.too_few(own) for one in known if one.too_few(own)), None)
        n = sum(one.rows.n for one in known)
        cells.append(SliceCell(n, found.mean, found.low, found.high, few))
    return tuple(cells)


def value_text(value: Any) -> str | None:
    """Return the text of a metadata value, as in the page's script; `None` if missing.

    >>> value_text(True), value_text(3.0), value_text("a"), value_text(["a"])
    ('yes', '3', 'a', None)
    """
    if value is None or isinstance(value, (dict, list)):
        return None
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return str(value)


def _in_order(value: str) -> tuple[list[tuple[bool, int, str]], str]:
    """Return a sort key that orders `2` before `10` and ignores case."""
    pieces = _NUMBERS.split(value.casefold())
    return [(not p.isdecimal(), int(p) if p.isdecimal() else 0, p) for p in pieces], value


class Histograms:
    """Counts the values of every criterion, each on 0..1."""

    def __init__(self) -> None:
        self._bins: dict[tuple[str, str], list[int]] = {}

    def add(self, scored: Scored) -> None:
        """Take one case with its rows."""
        for row in scored.rows:
            for part in own_parts(row.result):
                if part.value is not None:
                    bins = self._bins.setdefault((row.metric, part.id), [0] * BINS)
                    bins[min(BINS - 1, max(0, int(part.value * BINS)))] += 1

    def of(self, metric: str, criterion: str) -> Sequence[int]:
        """Return the counts over equal bins of 0..1; empty without values."""
        return self._bins.get((metric, criterion), ())


def saturation(bins: Sequence[int]) -> str | None:
    """Return the end of the range with nearly all values, `top` or `bottom`, or `None`.

    >>> saturation([0, 0, 1, 39]), saturation([5, 0, 0, 5]), saturation([0, 3])
    ('top', None, None)
    """
    total = sum(bins)
    ends = {"top": bins[-1], "bottom": bins[0]} if total >= ENOUGH else {}
    return next((end for end, count in ends.items() if count / total >= EDGE), None)


class Rank(NamedTuple):
    """The rank of a case; the smallest is the worst."""

    misses: int
    """The negative number of metrics that miss their threshold."""
    failures: int
    """The negative number of metrics that failed to score."""
    worst: float
    """The lowest of its values, in standard deviations from the mean of the metric."""


class Ranking:
    """Ranks cases one by one, and counts those that fail.

    A case fails if one of its metrics misses its threshold or failed to score. A metric does not
    fail on a case that lacks a field: it does not apply.
    """

    def __init__(self, metrics: Mapping[str, MetricSummary]) -> None:
        self._metrics = metrics
        self._cases = 0
        self.failing = 0
        self.worst = Largest[Scored](SHOWN)
        """The worst cases, the very worst first."""

    def add(self, scored: Scored) -> Rank:
        """Take one case with its rows, and return its rank."""
        rank = self.rank(scored)
        self._cases += 1
        self.failing += bool(rank.misses or rank.failures)
        if rank.worst < math.inf or rank.failures:
            key = (-rank.misses, -rank.failures, -rank.worst, -self._cases)
            self.worst.add(key, scored)
        return rank

    def rank(self, scored: Scored) -> Rank:
        """Return the rank of a case."""
        misses = sum(self.misses(row) for row in scored.rows)
        failures = sum(map(self.failed, scored.rows))
        worst = min((self.distance(row) for row in scored.rows), default=math.inf)
        return Rank(-misses, -failures, worst)

    def misses(self, row: Row) -> bool:
        """Return whether a row misses the threshold of its metric."""
        summary = self._metrics.get(row.metric)
        return summary is not None and summary.passes(own_value(row.result)) is False

    @staticmethod
    def failed(row: Row) -> bool:
        """Return whether a metric failed on a case that has what the metric needs."""
        return isinstance(row.result, Failure) and lacked(row.result) is None

    def distance(self, row: Row) -> float:
        """Return the distance of a value above the mean in standard deviations; inf if missing."""
        summary, value = self._metrics.get(row.metric), own_value(row.result)
        if summary is None or value is None or summary.mean is None:
            return math.inf
        away = (value - summary.mean) / (summary.sd or 1.0)
        return away if summary.higher_is_better else -away
