"""Tables of slices: the worst value of a field first, each figure shaded by its distance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import urlencode

from judgekit.pages.figures import Axis
from judgekit.pages.run.tallies import Field, Slice, SliceCell
from judgekit.report.summary import MetricSummary

SMALL, MEDIUM = 0.2, 0.5
"""Distances from the mean of all cases in standard deviations, from which a figure is shaded
lightly and strongly: a small and a medium effect (Cohen, Statistical Power Analysis, 1988)."""
LONGEST = 60
"""Maximum length of a value in a table, in characters."""


class TableHead(NamedTuple):
    """The head of a row or a column."""

    text: str
    link: str = ""
    """The address of its cases."""
    whole: str = ""
    """The whole text, if it is shortened."""


class ShownCell(NamedTuple):
    """A figure of a table."""

    text: str
    interval: str = ""
    n: int | None = None
    shade: str = ""
    """`low1`, `low2`, `high1`, `high2`: worse or better than the mean; empty near it."""


class SliceTable(NamedTuple):
    """The figures of one field; the shorter of its values and the metrics are columns."""

    name: str
    size: int
    corner: str
    head: tuple[TableHead, ...]
    rows: tuple[tuple[TableHead, tuple[ShownCell, ...]], ...]


def slice_tables(fields: Sequence[Field], metrics: Sequence[MetricSummary]) -> list[SliceTable]:
    """Return the tables of all fields."""
    return [_table(field, metrics) for field in fields]


def _table(field: Field, metrics: Sequence[MetricSummary]) -> SliceTable:
    head = (TableHead("Cases"), *(TableHead(summary.metric) for summary in metrics))
    rows = []
    for one in sorted(field.slices, key=lambda one: _mean_distance(one, metrics)):
        cells = [ShownCell(f"{one.cases:,}"), *map(_shown, one.cells, metrics)]
        rows.append((_label(field.name, one.value), tuple(cells)))
    if field.over:
        over = [
            _shown(cell, summary, over=True)
            for cell, summary in zip(field.over, metrics, strict=True)
        ]
        rows.append((TableHead(f"mean over {field.name}"), (ShownCell(""), *over)))
    size, corner = len(field.slices), field.name
    if size < len(metrics):
        turned = zip(*(cells for _, cells in rows), strict=True)
        head, rows = tuple(label for label, _ in rows), list(zip(head, turned, strict=True))
        corner = "Metric"
    return SliceTable(field.name, size, corner, head, tuple(rows))


def distance(cell: SliceCell, summary: MetricSummary) -> float | None:
    """Return how much better a slice is than all cases, in standard deviations."""
    if cell.mean is None or summary.mean is None or not summary.sd:
        return None
    away = (cell.mean - summary.mean) / summary.sd
    return away if summary.higher_is_better else -away


def _mean_distance(one: Slice, metrics: Sequence[MetricSummary]) -> float:
    known = [d for d in map(distance, one.cells, metrics) if d is not None]
    return sum(known) / len(known) if known else float("inf")


def _shown(cell: SliceCell, summary: MetricSummary, *, over: bool = False) -> ShownCell:
    axis = Axis(summary)
    interval = "too few" if cell.too_few else ""
    if cell.low is not None and cell.high is not None:
        interval = axis.interval(cell.low, cell.high)
    away = None if over else distance(cell, summary)
    shade = ""
    if away is not None and abs(away) >= SMALL:
        # Too few values for an interval say too little for the strong shade.
        strong = abs(away) >= MEDIUM and not cell.too_few
        shade = f"{'low' if away < 0 else 'high'}{2 if strong else 1}"
    return ShownCell(axis.say(cell.mean), interval, None if over else cell.n, shade)


def _label(field: str, value: str | None) -> TableHead:
    if value is None:
        return TableHead("(none)", f"#{urlencode({'without': field})}")
    text = value if len(value) <= LONGEST else value[: LONGEST - 1] + "…"
    whole = value if text != value else ""
    return TableHead(text or "(empty)", f"#{urlencode({f'meta.{field}': value})}", whole)
