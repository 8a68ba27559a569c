"""The display of a suite, and of the answers of its system under test."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from judgekit.core.canonical import canonical_json
from judgekit.core.display.parts import MOST_NAME, DisplayLine, DisplayPart, DisplayTable, cut, more

if TYPE_CHECKING:
    from judgekit.suite.answering import AnsweredCases
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
                _gate(suite.written_gates.get(metric.name)),
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


MOST_ANSWERS = 10


def answers_parts(answers: AnsweredCases) -> Iterator[DisplayPart]:
    """Yield the parts of answers: counts, failures, the first rows."""
    total = sum(answers.states.values())
    counts = ", ".join(f"{count:,} {state}" for state, count in sorted(answers.states.items()))
    yield DisplayLine(f"{total:,} case{'s' if total != 1 else ''}: {counts or 'none'}", "title")
    if answers.cut_off:
        ended = f"{answers.cut_off:,} answer{'s' if answers.cut_off != 1 else ''}"
        yield DisplayLine(f"max_tokens ended {ended}", "bad")
    if answers.failures:
        shown = list(answers.failures.items())[:MOST_ANSWERS]
        yield DisplayTable(
            ("case without an answer", "why"),
            [(cut(id, MOST_NAME), f"{f.kind}: {cut(f.message)}") for id, f in shown],
            left=more(len(answers.failures) - len(shown), "case", ".failures"),
        )
    if answers.cases:
        first = answers.cases[:MOST_ANSWERS]
        yield DisplayTable(
            ("case", "input", "output"),
            [
                (cut(c.id, MOST_NAME), cut(c.input or "", 160), cut(c.output or "", 240))
                for c in first
            ],
            left=more(
                len(answers.cases) - len(first), "case", "judgekit.datasets.to_pandas(.cases)"
            ),
        )
