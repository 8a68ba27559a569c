"""The results of a run with a row per case, as people read them in a spreadsheet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from judgekit.core.canonical import canonical_json
from judgekit.core.case import Case
from judgekit.core.score import Failure, Part, Result, Row, Score, own_value
from judgekit.datasets.dataframes.table import Kind
from judgekit.metrics.criteria.texts import own_texts, parts_by_text
from judgekit.report.table import status_of

if TYPE_CHECKING:
    from judgekit.report.report import Report
    from judgekit.report.summary import MetricSummary

_FIELDS = ("input", "output", "baseline", "reference")
"""Fields of a case with a column, where a case of the run has them."""
DECIMALS = 6
"""Decimals of numbers: sums of weights have more by the way computers count."""
MOST_KEYS = 100
"""Maximum number of keys of the metadata with a column each; the others share a column."""


class WideTable(NamedTuple):
    """Columns and rows of a run; the rows are read when they are iterated."""

    columns: Mapping[str, Kind]
    """Name of a column -> what it holds."""
    report: Report
    plan: _Plan

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield a row for each case, without the missing values."""
        for scored in self.report.results:
            entry = self.plan.case_cells(scored.case, self.report.places)
            for row in scored.rows:
                if row.metric in self.plan.metrics:
                    entry |= self.plan.metrics[row.metric].cells(row)
            yield {name: value for name, value in entry.items() if value is not None}


def wide_table(report: Report) -> WideTable:
    """Return a run with a row per case, in constant memory: the results are read twice.

    The columns are the id of the case and its place in the file, its texts, and for each metric its
    value, whether it passes, its status, its reason and its criteria; then the metadata.
    """
    fields: dict[str, None] = {}
    keys: dict[str, None] = {}
    criteria: dict[str, dict[str, None]] = {name: {} for name in report.metrics}
    tags: dict[str, dict[str, None]] = {name: {} for name in report.metrics}
    judged = dict.fromkeys(report.metrics, False)
    for scored in report.results:
        fields |= dict.fromkeys(name for name in _FIELDS if _text(scored.case, name) is not None)
        keys |= dict.fromkeys(scored.case.metadata)
        for row in scored.rows:
            if row.metric in criteria:
                criteria[row.metric] |= dict.fromkeys(_parts(row.result))
                tags[row.metric] |= dict.fromkeys(_tags(row.result))
                judged[row.metric] |= _passed(row.result) is not None
    names = _Names()
    columns: dict[str, Kind] = {names.free("case"): "text"}
    place = names.free("place") if report.places else None
    shown = {name: names.free(name) for name in _FIELDS if name in fields}
    columns |= dict.fromkeys([*([place] if place else []), *shown.values()], "text")
    metrics = {}
    for metric, summary in report.metrics.items():
        further = (sorted(tags[metric]), judged[metric])
        own = _MetricColumns(metric, summary, criteria[metric], names, further)
        metrics[metric] = own
        columns |= own.columns
    several = list(keys)
    apart = {key: names.free(f"metadata.{key}") for key in several[:MOST_KEYS]}
    rest = names.free("metadata") if len(several) > MOST_KEYS else None
    columns |= dict.fromkeys([*apart.values(), *([rest] if rest else [])], "text")
    return WideTable(columns, report, _Plan(place, shown, metrics, apart, rest))


class _Plan(NamedTuple):
    place: str | None
    fields: Mapping[str, str]
    """Field of the case -> column."""
    metrics: Mapping[str, _MetricColumns]
    keys: Mapping[str, str]
    """Key of the metadata -> column."""
    rest: str | None
    """The column of further metadata, as JSON."""

    def case_cells(self, case: Case, places: Mapping[str, str]) -> dict[str, Any]:
        """Return the cells of a case, besides those of its metrics."""
        cells: dict[str, Any] = {"case": case.id}
        if self.place is not None:
            cells[self.place] = _place(places.get(case.id))
        cells |= {column: _text(case, name) for name, column in self.fields.items()}
        cells |= {column: _cell(case.metadata.get(key)) for key, column in self.keys.items()}
        if self.rest is not None:
            rest = {key: value for key, value in case.metadata.items() if key not in self.keys}
            cells[self.rest] = canonical_json(rest) if rest else None
        return cells


class _MetricColumns:
    """The columns of a metric and their cells."""

    def __init__(
        self,
        metric: str,
        summary: MetricSummary,
        seen: Mapping[str, None],
        names: _Names,
        further: tuple[Sequence[str], bool],
    ) -> None:
        self._summary = summary
        self._value = names.free(metric)
        self._passed = names.free(f"{metric}.passed") if summary.threshold is not None else None
        self._status = names.free(f"{metric}.status")
        self._reason = names.free(f"{metric}.reason")
        # Criteria of a rubric, and those of cases that recur, by their text. The rest are other
        # questions in every row: `to_pandas(per="criterion")` and the JSON have them.
        tags, judged = further
        self._pass = names.free(f"{metric}.pass") if judged else None
        self._tags = {tag: names.free(f"{metric}.{tag}") for tag in tags[:MOST_KEYS]}
        ids = [one.id for one in summary.criteria if one.id in seen]
        self._criteria = {id: names.free(f"{metric}.{id}") for id in ids}
        self.columns: dict[str, Kind] = {self._value: "number"}
        if self._passed is not None:
            self.columns[self._passed] = "yes_no"
        self.columns |= {self._status: "text", self._reason: "text"}
        if self._pass is not None:
            self.columns[self._pass] = "yes_no"
        self.columns |= dict.fromkeys([*self._tags.values(), *self._criteria.values()], "number")

    def cells(self, row: Row) -> dict[str, Any]:
        """Return the cells of a result."""
        value = own_value(row.result)
        cells = {
            self._value: rounded(value),
            self._status: status_of(row.result),
            self._reason: _reason(row.result) or None,
        }
        if self._passed is not None:
            cells[self._passed] = self._summary.passes(value)
        if self._pass is not None:
            cells[self._pass] = _passed(row.result)
        for tag, share in _tags(row.result).items():
            if tag in self._tags:
                cells[self._tags[tag]] = rounded(share)
        for id, part in _parts(row.result).items():
            if id in self._criteria:
                cells[self._criteria[id]] = rounded(part.value)
        return cells


def _parts(result: Result) -> Mapping[str, Part]:
    if not isinstance(result, Score) or result.fallback is not None:
        return {}
    return parts_by_text(result)


def _tags(result: Result) -> Mapping[str, float | None]:
    """Return tag -> the share of the criteria of a case with it."""
    if not isinstance(result, Score) or own_texts(result) is None:
        return {}
    tags = result.details.get("tags")
    known = tags.items() if isinstance(tags, dict) else ()
    return {t: v for t, v in known if isinstance(v, int | float) and not isinstance(v, bool)}


def _passed(result: Result) -> bool | None:
    """Return whether the criteria of a case make it pass; `None` if nothing says so."""
    if not isinstance(result, Score) or own_texts(result) is None:
        return None
    passed = result.details.get("pass")
    return passed if isinstance(passed, bool) else None


class _Names:
    """Names of columns, each used once."""

    def __init__(self) -> None:
        self._used: set[str] = set()

    def free(self, name: str) -> str:
        """Return the name, with a number if it is used: a metric may be called `input`."""
        number = 1
        free = name
        while free in self._used:
            number += 1
            free = f"{name} ({number})"
        self._used.add(free)
        return free


def _place(place: str | None) -> str | None:
    """Return `line 2 of cases.csv` as `cases.csv:2`."""
    line, of, file = (place or "").removeprefix("line ").partition(" of ")
    return f"{file}:{line}" if of and line.isdigit() else place


def _text(case: Case, field: str) -> str | None:
    value = getattr(case, field)
    return "\n".join(value) or None if isinstance(value, tuple) else value


def _cell(value: Any) -> Any:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return rounded(value)
    return value if value is None or isinstance(value, str | bool) else canonical_json(value)


def _reason(result: Result) -> str:
    if isinstance(result, Failure):
        return f"{result.kind}: {result.message}"
    if (fallback := result.fallback) is not None:
        return f"{fallback.substitute} gave {rounded(result.value)}: {fallback.cause}"
    return result.reason


def rounded(value: float | None) -> float | None:
    """Return a number for people: 0.593, not 0.5930500000000001.

    >>> rounded(0.1 + 0.2)
    0.3
    """
    return value if value is None else round(value, DECIMALS)
