"""Slices of a run: its figures for every value of a field that has few."""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping
from copy import deepcopy
from typing import Any, NamedTuple

from judgekit.core.score import own_value
from judgekit.report.clusters import cluster_of
from judgekit.report.folder import Scored
from judgekit.report.summary import mean_figures
from judgekit.stats.clusters import FigureValues
from judgekit.stats.intervals import Bounds

FIELDS = 12
"""Fields of the metadata that are shown: those that come first in the data."""
VALUES = 24
"""Values up to which a field has few."""
LONGEST = 60
"""Characters of a value; a field with a longer one holds texts, not values."""
_LOOKED_AT = 100
"""Fields that are looked at; a data set may name as many as it has cases."""

_NUMBERS = re.compile(r"([0-9]+)")


class SliceCell(NamedTuple):
    """One metric over one slice; fallbacks left out, as everywhere."""

    n: int
    mean: float | None
    low: float | None
    high: float | None
    too_few: str | None = None
    """Why there is no interval."""


class Slice(NamedTuple):
    """The cases with one value."""

    value: str | None
    """`None` for cases without the field."""
    cases: int
    cells: tuple[SliceCell, ...]
    """One for every metric, in order."""


class Field(NamedTuple):
    """A field of the metadata with few values."""

    name: str
    slices: tuple[Slice, ...]


class Slices:
    """Takes the cases of a run one by one, and knows which fields have few values.

    Args:
        metrics: their names, and the least and the most each says.
        cluster: the field that clusters cases; intervals are then clustered.
    """

    def __init__(self, metrics: Mapping[str, Bounds], *, cluster: str | None = None) -> None:
        self._cluster = cluster
        self._bounds = metrics
        self._all = self._tally()
        self._fields: dict[str, dict[str | None, _Tally] | None] = {}
        """Of a field with too many values, `None`."""

    def add(self, scored: Scored) -> None:
        """Take one case with its rows."""
        values = {row.metric: own_value(row.result) for row in scored.rows}
        metadata = scored.case.metadata
        cluster = cluster_of(scored.case.id, metadata, self._cluster)
        for name in metadata:
            if name not in self._fields and len(self._fields) < _LOOKED_AT:
                # What came before lacked the field.
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
                fields.append(Field(name, tuple(slices)))
        return tuple(fields[:FIELDS])


class _Tally:
    def __init__(self, bounds: Mapping[str, Bounds], *, clustered: bool) -> None:
        self.cases = 0
        self._figures = {metric: FigureValues(clustered=clustered) for metric in bounds}

    def add(self, values: Mapping[str, float | None], cluster: Hashable) -> None:
        self.cases += 1
        for metric, figures in self._figures.items():
            if (value := values.get(metric)) is not None:
                figures.add(value, cluster)

    def finish(self, value: str | None, bounds: Mapping[str, Bounds]) -> Slice:
        cells = (_cell(figures, bounds[metric]) for metric, figures in self._figures.items())
        return Slice(value, self.cases, tuple(cells))


def _cell(values: FigureValues, bounds: Bounds) -> SliceCell:
    figures = mean_figures(values, bounds)
    del figures["clusters"]
    return SliceCell(values.rows.n, **figures)


def value_text(value: Any) -> str | None:
    """Return a value of the metadata as the script of the page says it; `None` of none.

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
    """Return what sorts `2` before `10`, and letters without regard to case."""
    pieces = _NUMBERS.split(value.casefold())
    return [(not p.isdecimal(), int(p) if p.isdecimal() else 0, p) for p in pieces], value
