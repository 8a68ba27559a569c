"""The display of a suite: metrics, thresholds, gates, judges, cases."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from judgekit.core.canonical import canonical_json
from judgekit.core.display.parts import MOST_NAME, DisplayLine, DisplayPart, DisplayTable, cut, more

if TYPE_CHECKING:
    from judgekit.suite.suite import Suite

MOST_METRICS = 30


def suite_parts(suite: Suite) -> Iterator[DisplayPart]:
    """Yield the parts of a suite, without opening files or calling judges."""
    file = suite.file
    yield DisplayLine(f"suite {cut(file.name or str(suite.base), MOST_NAME)}", "title")
    for text in (file.description, file.notice):
        if text:
            yield DisplayLine(cut(text), "note")
    shown = suite.metrics[:MOST_METRICS]
    yield DisplayTable(
        ("metric", "what", "threshold", "gate"),
        [
            (
                cut(metric.name, MOST_NAME),
                type(metric).__name__,
                f"{suite.thresholds[metric.name]:g}" if metric.name in suite.thresholds else "",
                _gate(suite.gates.get(metric.name)),
            )
            for metric in shown
        ],
        numbers=(2,),
        left=more(len(suite.metrics) - len(shown), "metric", ".metrics"),
    )
    for role, judge in suite.roles.items():
        yield DisplayLine(f"{cut(role, MOST_NAME)}: {cut(judge.model, MOST_NAME)}", "note")
    if suite.no_judge:
        yield DisplayLine("nobody judges", "note")
    cases = file.cases_file.path if file.cases_file is not None else "none"
    if file.rows is not None:
        cases = f"{len(file.rows)} in the suite"
    tape = f", cassette {cut(file.cassette)}" if file.cassette else ""
    yield DisplayLine(f"cases {cut(str(cases))}{tape}, record {suite.record.value}", "note")


def _gate(gates: Any) -> str:
    entries = [gates] if isinstance(gates, Mapping) else gates or ()
    return "\n".join(
        ", ".join(f"{name} {_bound(bound)}" for name, bound in entry.items()) for entry in entries
    )


def _bound(bound: Any) -> str:
    if isinstance(bound, bool) or not isinstance(bound, (int, float)):
        return cut(bound if isinstance(bound, str) else canonical_json(bound))
    return f"{bound:g}"
