"""The results of a run as a table, with a row for each result, criterion or case."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, get_args

from judgekit.core.canonical import canonical_json
from judgekit.core.case import Case
from judgekit.core.case_field import CASE_FIELDS, MESSAGE_LISTS, OBJECTS, TEXT_LISTS
from judgekit.core.errors import ConfigError
from judgekit.core.score import Failure, Result, Row, Score, own_parts, own_value
from judgekit.core.suggest import suggest
from judgekit.core.value import Json
from judgekit.datasets.dataframes.table import Kind, Table, kind_of, spelled
from judgekit.report.report import Per

if TYPE_CHECKING:
    from judgekit.report.report import Report
    from judgekit.report.summary import MetricSummary


RESULT: Mapping[str, Kind] = {
    **dict.fromkeys(("case", "metric", "status"), "text"),
    "value": "number",
    "passed": "yes_no",
    "threshold": "number",
    **dict.fromkeys(("reason", "source", "method"), "text"),
    "confidence": "number",
    "fallback": "text",
    "fallback_value": "number",
    **dict.fromkeys(("failure", "message", "rubric", "model", "key"), "text"),
}
EXPORTED: Mapping[str, Kind] = {**RESULT, "metadata": "text"}
"""Columns of CSV and Parquet, with the metadata of the case as one JSON text."""
_CRITERION: Mapping[str, Kind] = {
    **dict.fromkeys(("case", "metric", "criterion", "status"), "text"),
    **dict.fromkeys(("value", "weight"), "number"),
    **dict.fromkeys(("answer", "reason"), "text"),
    "quotes": "texts",
    "unverified_quotes": "whole",
    "distribution": "text",
}
_OPINION: Mapping[str, Kind] = {
    **dict.fromkeys(("case", "metric", "of", "member"), "text"),
    "sample": "whole",
    "order": "text",
    "value": "number",
    **dict.fromkeys(("answers", "failure", "message"), "text"),
}
_RUN: Mapping[str, Kind] = {
    "metric": "text",
    **dict.fromkeys(("mean", "low", "high", "sd", "minimum", "maximum", "threshold"), "number"),
    **dict.fromkeys(("pass_rate", "pass_low", "pass_high", "mean_with_fallback"), "number"),
    **dict.fromkeys(("rows", "judged", "computed", "fallback", "abstained"), "whole"),
    **dict.fromkeys(("not_applicable", "failed", "not_run", "clusters"), "whole"),
    **dict.fromkeys(("standard_error", "df"), "number"),
    "too_few": "text",
    "higher_is_better": "yes_no",
}
_CORRECTED: Mapping[str, Kind] = {
    **dict.fromkeys(("corrected", "corrected_low", "corrected_high", "labels"), "number"),
    "corrected_too_few": "text",
}
"""Additional columns for a run with labels."""


def result_table(
    report: Report, *, per: Per = "metric", wide: bool = False, include: str | Sequence[str] = ()
) -> Table:
    """Return the results of a run as columns, read one case at a time.

    Args:
        report: the run.
        per: the unit of a row.
        wide: whether a row is a whole case, with a column for each metric or criterion.
        include: fields of the case to add: `input`, `metadata.topic`, or `metadata` for all
            metadata.

    Raises:
        ConfigError: an option is unknown, or two columns have the same name.
    """
    if per not in get_args(Per):
        raise ConfigError(f"per: {per!r} is not known{suggest(str(per), list(get_args(Per)))}")
    if per == "run":
        if wide or include:
            raise ConfigError("a row of per='run' is a metric: it takes neither wide nor include")
        return run_table(report.figures.metrics)
    fields = _Included(include)
    if wide:
        return _wide(report, fields, criteria=per == "criterion")
    summaries = report.metrics

    def result_entries(row: Row) -> Iterator[dict[str, Any]]:
        yield result_entry(row, summaries.get(row.metric))

    columns, entries_of = {
        "metric": (RESULT, result_entries),
        "criterion": (_CRITERION, _criterion_entries),
        "opinion": (_OPINION, _opinion_entries),
    }[per]
    table = Table(columns)
    beside: list[dict[str, Any]] = []
    for scored in report.results:
        values = fields.of(scored.case)
        for row in scored.rows:
            for entry in entries_of(row):
                table.add(entry)
                beside.append(values)
    return fields.put(table, beside)


def run_table(summaries: Iterable[MetricSummary]) -> Table:
    """Return the figures of metrics over a run, one row per metric."""
    several = list(summaries)
    labelled = any(summary.corrected is not None for summary in several)
    table = Table({**_RUN, **(_CORRECTED if labelled else {})})
    for summary in several:
        entry = {name: getattr(summary, name) for name in _RUN}
        if (one := summary.corrected) is not None:
            figure = one.corrected
            entry |= {"labels": one.labels.n, "corrected": figure.value}
            entry |= {"corrected_low": figure.low, "corrected_high": figure.high}
            entry["corrected_too_few"] = figure.too_few
        table.add(entry)
    return table


def exported_rows(report: Report) -> Iterator[dict[str, Any]]:
    """Yield every result with the keys of `EXPORTED`, in the order of the cases."""
    summaries = report.metrics
    for scored in report.results:
        metadata = canonical_json(scored.case.metadata) if scored.case.metadata else None
        for row in scored.rows:
            yield {**result_entry(row, summaries.get(row.metric)), "metadata": metadata}


def status_of(result: Result) -> str:
    """Return the status of a row: scored, fallback, abstained, not_applicable or failed."""
    if isinstance(result, Failure):
        return "failed"
    return "fallback" if result.fallback is not None else result.status


def result_entry(row: Row, summary: MetricSummary | None) -> dict[str, Any]:
    """Return one result with the keys of `RESULT`, without missing values."""
    result = row.result
    judgments = result.judgments
    entry: dict[str, Any] = {
        "case": row.case,
        "metric": row.metric,
        "status": status_of(result),
        "threshold": summary.threshold if summary is not None else None,
        "key": judgments[0].request_key if judgments else None,
        "model": ", ".join(dict.fromkeys(j.model for j in judgments if j.model)) or None,
    }
    if isinstance(result, Failure):
        entry |= {"failure": result.kind, "message": result.message}
        entry["key"] = result.key or entry["key"]
    else:
        own = own_value(result)
        rubric = result.meta.get("rubric")
        entry |= {
            "value": own,
            "passed": summary.passes(own) if summary is not None else None,
            "reason": result.reason or None,
            "source": result.source,
            "method": result.method or None,
            "confidence": result.confidence,
            "rubric": rubric if isinstance(rubric, str) else None,
        }
        if (fallback := result.fallback) is not None:
            entry |= {"fallback": fallback.substitute, "fallback_value": result.value}
            entry["message"] = fallback.cause
    return entry


def _criterion_entries(row: Row) -> Iterator[dict[str, Any]]:
    """Yield the criteria of one result, or the reason why it has none."""
    result = row.result
    status = status_of(result)
    about = {"case": row.case, "metric": row.metric}
    if isinstance(result, Failure) or status == "fallback" or not result.parts:
        if status != "scored":  # a scored metric may have no criteria
            message = result.message if isinstance(result, Failure) else result.reason
            yield {**about, "status": status, "reason": message}
        return
    for part in result.parts:
        shown = part.distribution
        yield {
            **about,
            "criterion": part.id,
            "status": part.status,
            "value": part.value,
            "weight": part.weight,
            "answer": _text(part.answer),
            "reason": part.reason or None,
            "quotes": [quote.text for quote in part.quotes] or None,
            "unverified_quotes": sum(not quote.field for quote in part.quotes),
            "distribution": _text(shown.model_dump(mode="json") if shown is not None else None),
        }


def _opinion_entries(row: Row) -> Iterator[dict[str, Any]]:
    """Yield the opinions behind one result; a result with a single answer has none."""
    for opinion in row.result.opinions if isinstance(row.result, Score) else ():
        yield {
            "case": row.case,
            "metric": row.metric,
            "of": opinion.of or None,
            "member": opinion.member or None,
            "sample": opinion.sample,
            "order": opinion.order,
            "value": opinion.value,
            "answers": _text(opinion.answers or None),
            "failure": opinion.failure,
            "message": opinion.message or None,
        }


def _text(value: Json) -> str | None:
    return value if value is None or isinstance(value, str) else canonical_json(value)


def _wide(report: Report, fields: _Included, *, criteria: bool) -> Table:
    summaries = report.metrics
    table = Table({"case": "text"})
    for metric, summary in summaries.items():
        columns: dict[str, Kind] = {metric: "number", f"{metric}.status": "text"}
        if summary.threshold is not None:
            columns[f"{metric}.passed"] = "yes_no"
        if not criteria:
            columns[f"{metric}.reason"] = "text"
        for name, kind in columns.items():
            if name in table.names:
                raise _twice(name)
            table.column(name, kind)
    beside = []
    for scored in report.results:
        entry: dict[str, Any] = {"case": scored.case.id}
        for row in scored.rows:
            result, name, own = row.result, row.metric, own_value(row.result)
            text = result.message if isinstance(result, Failure) else result.reason
            entry |= {
                name: own,
                f"{name}.status": status_of(result),
                f"{name}.passed": summaries[name].passes(own) if name in summaries else None,
                f"{name}.reason": text or None,
            }
            for part in own_parts(result) if criteria else ():
                table.column(f"{name}.{part.id}", "number")
                entry[f"{name}.{part.id}"] = part.value
        table.add(entry)
        beside.append(fields.of(scored.case))
    return fields.put(table, beside)


def _twice(name: str) -> ConfigError:
    return ConfigError(
        f"two columns would be named {name!r}; leave wide out, or give the metric another name"
    )


class _Included:
    """The fields of cases that become columns."""

    def __init__(self, names: Sequence[str]) -> None:
        if isinstance(names, str):
            names = (names,)
        for name in names:
            field, _, inside = name.partition(".")
            # Every table has the id of the case.
            known = [one.name for one in CASE_FIELDS if one.name != "id"]
            if field not in known or (inside and field not in OBJECTS):
                message = f"include: {name!r} is no field of a case{suggest(field, known)}"
                raise ConfigError(message)
        self.names = tuple(names)

    def of(self, case: Case) -> dict[str, Any]:
        """Return the chosen fields of a case by column name."""
        columns: dict[str, Any] = {}
        for name in self.names:
            field, _, inside = name.partition(".")
            value = getattr(case, field)
            if inside:
                columns[name] = value.get(inside)
            elif field in OBJECTS:
                columns |= {f"{field}.{key}": item for key, item in value.items()}
            elif field in MESSAGE_LISTS:
                columns[name] = [m.model_dump(mode="json", exclude_defaults=True) for m in value]
            else:
                columns[name] = list(value) if field in TEXT_LISTS else value
        return columns

    def put(self, table: Table, beside: Sequence[Mapping[str, Any]]) -> Table:
        """Add the columns to a table; `beside` has one entry for each row."""
        names = dict.fromkeys(n for n in self.names if n not in OBJECTS)
        names |= dict.fromkeys(name for values in beside for name in values)
        for name in names:
            values = [entry.get(name) for entry in beside]
            kind = kind_of(values)
            if name in table.names:
                raise _twice(name)
            table.fill(name, kind, spelled(values) if kind == "text" else values)
        return table
