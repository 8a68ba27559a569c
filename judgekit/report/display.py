"""A report in a notebook: figures, gates, the worst cases; never every row."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from judgekit.core.display.parts import (
    MOST_NAME,
    DisplayBar,
    DisplayLine,
    DisplayPart,
    DisplayTable,
    cut,
    more,
)
from judgekit.report.corrected import corrected_lines
from judgekit.report.spread import shown_figures
from judgekit.report.text import counts_of, few_lines, interval_of, number_of, title_of

if TYPE_CHECKING:
    from judgekit.report.report import Report
    from judgekit.report.summary import CriterionSummary, MetricSummary

MOST_METRICS = 20
MOST_GATES = 15
MOST_WORST = 5
MOST_CRITERIA = 20


def report_parts(report: Report) -> Iterator[DisplayPart]:
    """Yield the parts of a report; results are not read."""
    figures = report.figures
    yield DisplayLine(cut(title_of(report)), "title")
    if report.figures.manifest.get("notice"):
        yield DisplayLine(cut(str(report.figures.manifest["notice"])), "note")
    yield from _verdict(report)
    shown = figures.metrics[:MOST_METRICS]
    yield metric_grid(shown, left=len(figures.metrics) - len(shown))
    for summary in shown:
        for line in corrected_lines(summary):
            yield DisplayLine(f"{cut(summary.metric, MOST_NAME)}: {cut(line)}", "note")
        if own_figures := shown_figures(summary):
            text = ", ".join(f"{name} {figure}" for name, figure in own_figures.items())
            yield DisplayLine(f"{cut(summary.metric, MOST_NAME)}: {cut(text)}", "note")
    for summary in shown:
        for line in summary.opinions.lines[:MOST_GATES] if summary.opinions is not None else ():
            yield DisplayLine(f"{cut(summary.metric, MOST_NAME)}: {cut(line)}", "note")
        if summary.first_failure is not None:
            first = f"first failure: {cut(summary.first_failure)}"
            yield DisplayLine(f"{cut(summary.metric, MOST_NAME)}: {first}", "bad")
    yield from _worst(shown, figures.cases, report.label)
    yield from _notes(report)


def _verdict(report: Report) -> Iterator[DisplayPart]:
    gates = report.figures.gates
    for reason in report.figures.incomplete[:MOST_GATES]:
        yield DisplayLine(f"incomplete: {cut(reason)}", "bad")
    # Missed gates first.
    for gate in sorted(gates, key=lambda gate: gate.passed)[:MOST_GATES]:
        word = "pass" if gate.passed else "MISS"
        yield DisplayLine(f"{word}: {cut(gate.sentence)}", "good" if gate.passed else "bad")
    if left := more(len(gates) - MOST_GATES, "gate", "report.figures.gates"):
        yield DisplayLine(left, "note")


def metric_grid(summaries: Sequence[MetricSummary], *, left: int = 0) -> DisplayTable:
    """Return the figures of metrics as a table."""
    return DisplayTable(
        ("metric", "mean", "95 % interval", "", "pass", "scores"),
        [
            (
                cut(s.metric, MOST_NAME) + ("" if s.higher_is_better else " (lower is better)"),
                number_of(s.mean, s),
                interval_of(s),
                _bar(s),
                f"{s.pass_rate:.0%}" if s.pass_rate is not None else "-",
                counts_of(s),
            )
            for s in summaries
        ],
        numbers=(1, 2, 4),
        left=more(left, "metric", "report.to_pandas(per='run')"),
    )


def _bar(s: MetricSummary) -> DisplayBar | None:
    low, high = s.range
    if s.mean is None or low is None or high is None or high <= low:
        return None
    span = high - low
    ends = [(end - low) / span for end in s.interval] if s.interval else [None, None]
    return DisplayBar((s.mean - low) / span, *ends)


def _worst(
    summaries: Sequence[MetricSummary], cases: int, label: Callable[[str], str] = str
) -> Iterator[DisplayPart]:
    rows = [
        (
            cut(label(w.case), MOST_NAME),
            cut(s.metric, MOST_NAME),
            number_of(w.value, s),
            cut(w.reason),
        )
        for s in summaries
        for w in s.flawed[:MOST_WORST]
    ]
    if not rows:
        return
    shown = rows[: 4 * MOST_WORST]
    yield DisplayTable(
        ("case", "metric", "value", "reason"),
        shown,
        title="worst cases",
        numbers=(2,),
        left=f"{_count(len(shown), 'worst result')}, of {_count(cases, 'case')}; all results: "
        "report.to_pandas(), one case: report.case(ID)",
    )


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'s' if number != 1 else ''}"


def _notes(report: Report) -> Iterator[DisplayPart]:
    for line in few_lines(s for s in report.figures.metrics if s.judged):
        yield DisplayLine(cut(line), "note")
    for line in report.calibration:
        yield DisplayLine(cut(line), "note")
    if report.folder is not None:
        yield DisplayLine(f"run folder: {cut(str(report.folder))}", "note")


# -- one metric -----------------------------------------------------------------------


def summary_parts(summary: MetricSummary) -> Iterator[DisplayPart]:
    """Yield the parts of one metric over a run."""
    yield metric_grid([summary])
    if summary.criteria:
        shown = summary.criteria[:MOST_CRITERIA]
        yield DisplayTable(
            ("criterion", "mean", "", "weight", "scores"),
            [
                (
                    cut(c.id, MOST_NAME),
                    "-" if c.mean is None else f"{c.mean:.2f}",
                    None if c.mean is None else DisplayBar(c.mean, c.low, c.high),
                    "-" if c.weight is None else f"{c.weight:.2f}",
                    _criterion_counts(c),
                )
                for c in shown
            ],
            numbers=(1, 3),
            left=more(len(summary.criteria) - len(shown), "row", ".criteria"),
        )
    yield from _worst([summary], summary.rows)


def _criterion_counts(criterion: CriterionSummary) -> str:
    counts = {name: getattr(criterion, name) for name in ("scored", "abstained", "not_applicable")}
    return ", ".join(f"{n} {name.replace('_', ' ')}" for name, n in counts.items() if n)
