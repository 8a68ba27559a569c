"""A comparison as a table, with a row for each metric, criterion or changed case."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, get_args

from judgekit.core.errors import ConfigError
from judgekit.core.suggest import suggest
from judgekit.datasets.dataframes.table import Kind, Table

if TYPE_CHECKING:
    from judgekit.analysis.comparison import comparison as results

Per = Literal["metric", "criterion", "slice", "case"]
"""The unit of a row."""

_MOVED: Mapping[str, Kind] = {
    "verdict": "text",
    **dict.fromkeys(("base", "new", "change", "low", "high"), "number"),
    **dict.fromkeys(("standard_error", "df", "p", "adjusted"), "number"),
    "test": "text",
    **dict.fromkeys(("pairs", "worse", "better", "clusters"), "whole"),
    "detectable": "number",
}
_METRIC: Mapping[str, Kind] = {
    "metric": "text",
    **_MOVED,
    "higher_is_better": "yes_no",
    "threshold": "number",
    **dict.fromkeys(("base_passed", "new_passed", "to_fail", "to_pass"), "whole"),
    **dict.fromkeys(("flips_p", "flips_adjusted"), "number"),
    "refused": "text",
}
_CRITERION: Mapping[str, Kind] = {"metric": "text", "criterion": "text", **_MOVED}
_SLICE: Mapping[str, Kind] = {"metric": "text", "slice": "text", **_MOVED}
_CASE: Mapping[str, Kind] = {
    **dict.fromkeys(("metric", "case", "verdict"), "text"),
    **dict.fromkeys(("base", "new", "change"), "number"),
    "flip": "text",
    "same_answer": "yes_no",
    **dict.fromkeys(("base_reason", "new_reason", "criterion"), "text"),
    **dict.fromkeys(("criterion_base", "criterion_new"), "number"),
    **dict.fromkeys(("criterion_base_reason", "criterion_new_reason"), "text"),
}


def comparison_table(comparison: results.Comparison, *, per: Per = "metric") -> Table:
    """Return a comparison as columns.

    Raises:
        ConfigError: the option is unknown.
    """
    if per not in get_args(Per):
        raise ConfigError(f"per: {per!r} is not known{suggest(str(per), list(get_args(Per)))}")
    columns = {"metric": _METRIC, "criterion": _CRITERION, "slice": _SLICE, "case": _CASE}
    table = Table(columns[per])
    for metric in comparison.metrics:
        if per == "metric":
            entry = _metric(metric)
            if (one := metric.corrected) is not None:
                entry |= {"corrected_base": one.base.value, "corrected_new": one.new.value}
                entry |= {f"corrected_{end}": vars(one)[end] for end in ("mean", "low", "high")}
            for name in sorted(entry.keys() - set(table.names)):
                table.column(name, "number")
            table.add(entry)
        elif per == "criterion":
            for part in metric.criteria:
                table.add({"metric": metric.metric, "criterion": part.name, **_moved(part)})
        elif per == "slice":
            for own in metric.slices:
                table.add({"metric": metric.metric, "slice": own.name, **_moved(own)})
        else:
            for word, moves in (("worse", metric.worst), ("better", metric.best)):
                for move in moves:
                    table.add({"metric": metric.metric, "verdict": word, **_case(move)})
    return table


def _moved(part: results.MeanDifference) -> dict[str, Any]:
    return {**{name: getattr(part, name, None) for name in _MOVED}, "change": part.mean}


def _metric(metric: results.MetricComparison) -> dict[str, Any]:
    entry = {
        "metric": metric.metric,
        **_moved(metric.difference),
        "verdict": "refused" if metric.refused else metric.verdict,
        "higher_is_better": metric.higher_is_better,
        "refused": metric.refused,
    }
    if (flips := metric.flips) is not None:
        entry |= flips.model_dump(exclude={"p", "adjusted", "test", "verdict"})
        entry |= {"flips_p": flips.p, "flips_adjusted": flips.adjusted}
    return entry


def _case(move: results.CaseMove) -> dict[str, Any]:
    entry = {**move.model_dump(exclude={"part"}), "change": move.new - move.base}
    if move.part is not None:
        part = move.part.model_dump()
        entry["criterion"] = part.pop("id")
        entry |= {f"criterion_{name}": value for name, value in part.items()}
    return {name: None if value == "" else value for name, value in entry.items()}
