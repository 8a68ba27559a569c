"""Show a report in a notebook or terminal: figures, gates and the worst cases."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from judgekit.core.display.parts import (
    MOST_NAME,
    DisplayBar,
    DisplayLine,
    DisplayPart,
    DisplayTable,
    Style,
    counted,
    cut,
    more,
)
from judgekit.core.display.text import to_text
from judgekit.report.corrected import WARNING, corrected_lines
from judgekit.report.text import (
    counts_of,
    doubt_lines,
    interval_of,
    note_lines,
    number_of,
    outcome_counts,
    shown_figures,
    telling_figures,
    title_of,
)

if TYPE_CHECKING:
    from judgekit.report.report import Report
    from judgekit.report.summary import CriterionSummary, MetricSummary, Worst

MOST_METRICS = 20
MOST_GATES = 15
MOST_WORST = 5
MOST_CRITERIA = 20
MOST_TABLES = 2
"""Maximum number of metrics with a table of worst cases each, in a terminal."""
MOST_SHARED = 10
"""Maximum number of rows of a table that metrics share."""
_MOST = 1000
"""Maximum length of a line, in characters."""


def report_parts(report: Report) -> Iterator[DisplayPart]:
    """Yield the parts of a report for a notebook, without reading the results."""
    figures = report.figures
    shown = figures.metrics[:MOST_METRICS]
    yield from _head(report)
    yield from _incomplete(report, most=MOST_GATES)
    yield from _gates(report, most=MOST_GATES)
    yield metric_grid(shown, left=len(figures.metrics) - len(shown))
    for summary in shown:
        yield from _about(summary, shown_figures(summary), most=MOST_GATES, label=report.label)
    yield from _worst(shown, figures.cases, report.label)
    yield from _notes(report)


def summary_text(report: Report, *, width: int = 80, colour: bool = False, worst: int = 3) -> str:
    """Return the summary of a run.

    Args:
        report: the run.
        width: maximum width in columns.
        colour: whether to use ANSI colours.
        worst: number of cases to list per metric with a threshold or a gate.
    """
    return f"{to_text(terminal_parts(report, worst=worst), width=width, colour=colour)}\n"


def terminal_parts(report: Report, *, worst: int) -> Iterator[DisplayPart]:
    """Yield the parts of a report for a terminal, which end with the gates and the replies.

    Args:
        report: the run.
        worst: number of cases to list per metric with a threshold or a gate.
    """
    yield from _head(report)
    metrics = report.figures.metrics
    yield metric_grid(metrics)
    for s in metrics:
        yield from _about(s, telling_figures(s), label=report.label)
    yield from _required_worst(report, worst=worst)
    yield DisplayLine("")
    yield from _gates(report)
    yield from note_lines(report)
    yield from _incomplete(report)


def _required_worst(report: Report, *, worst: int) -> Iterator[DisplayTable]:
    """Yield the worst cases of the metrics with a threshold or a gate.

    One or two metrics have a table each. More of them share one, with a case and a line each, so
    that a run fits on one screen.
    """
    gated = {gate.gate.metric for gate in report.figures.gates}
    metrics = [
        s
        for s in report.figures.metrics
        if worst and s.flawed and (s.threshold is not None or s.metric in gated)
    ]

    def cells(s: MetricSummary, w: Worst) -> tuple[str, str, str]:
        return cut(report.label(w.case), MOST_NAME), number_of(w.value, s), cut(w.reason, 160)

    if len(metrics) <= MOST_TABLES:
        for s in metrics:
            rows = [cells(s, w) for w in s.flawed[:worst]]
            title = f"{'lowest' if s.higher_is_better else 'highest'} {cut(s.metric, MOST_NAME)}"
            yield DisplayTable(("case", "value", "reason"), rows, title=title, numbers=(1,))
        return
    shown = metrics[:MOST_SHARED]
    yield DisplayTable(
        ("metric", "value", "case", "reason"),
        [
            (cut(s.metric, MOST_NAME), value, case, reason)
            for s in shown
            for case, value, reason in [cells(s, s.flawed[0])]
        ],
        title="worst case of each metric",
        numbers=(1,),
        left=more(len(metrics) - len(shown), "metric", "the page"),
        lines=1,
    )


def _head(report: Report) -> Iterator[DisplayLine]:
    yield DisplayLine(cut(title_of(report), _MOST), "title")
    if notice := report.figures.manifest.get("notice"):
        yield DisplayLine(cut(str(notice), _MOST), "note")


def _about(
    summary: MetricSummary,
    figures: Mapping[str, str],
    *,
    label: Callable[[str], str],
    most: int | None = None,
) -> Iterator[DisplayLine]:
    """Yield the notes on the figures of a metric."""
    name = cut(summary.metric, MOST_NAME)
    lines = [*corrected_lines(summary), *(f"{one}." for one in summary.constant_lines[:most])]
    if summary.fallback and summary.mean_with_fallback is not None:
        lines.append(f"mean with fallbacks {number_of(summary.mean_with_fallback, summary)}")
    if figures:
        lines.append(", ".join(f"{name} {figure}" for name, figure in figures.items()))
    lines += list(tag_lines(summary))[:most]
    lines += summary.opinions.lines[:most] if summary.opinions is not None else ()
    for line in lines:
        style: Style = "bad" if line.startswith(WARNING) else "note"
        yield DisplayLine(f"{name}: {cut(line, _MOST)}", style)
    if summary.first_failure is not None:
        case, colon, why = summary.first_failure.partition(": ")
        first = cut(f"{label(case)}{colon}{why}", _MOST)
        yield DisplayLine(f"{name}: first failure: {first}", "bad")


MOST_TAGS = 20
"""Maximum number of tags in a terminal; the report has all."""


def tag_lines(summary: MetricSummary) -> Iterator[str]:
    """Yield the values of tags, such as `axis:tone 0.62 [0.55, 0.70] over 310 cases`."""
    for one in summary.tags[:MOST_TAGS]:
        ends = "too few" if one.low is None else f"[{one.low:.2f}, {one.high:.2f}]"
        yield f"{cut(one.tag, MOST_NAME)} {one.mean:.2f} {ends} over {one.scored:,} cases"
    if (left := len(summary.tags) - MOST_TAGS) > 0:
        yield f"and {left:,} more tags (report.json)"


def _incomplete(report: Report, *, most: int | None = None) -> Iterator[DisplayLine]:
    for reason in report.figures.incomplete[:most]:
        yield DisplayLine(f"incomplete: {cut(reason, _MOST)}", "bad")


def _gates(report: Report, *, most: int | None = None) -> Iterator[DisplayPart]:
    gates = report.figures.gates
    # Missed gates first.
    shown = sorted(gates, key=lambda gate: gate.passed)[:most]
    for gate in shown:
        word = "pass" if gate.passed else "MISS"
        yield DisplayLine(f"{word}  {cut(gate.sentence, _MOST)}", "good" if gate.passed else "bad")
    if left := more(len(gates) - len(shown), "gate", "report.figures.gates"):
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
    rows = []
    for s in summaries:
        name = cut(s.metric, MOST_NAME)
        for w in s.flawed[:MOST_WORST]:
            rows.append((cut(label(w.case), MOST_NAME), name, number_of(w.value, s), cut(w.reason)))
    if not rows:
        return
    shown = rows[: 4 * MOST_WORST]
    yield DisplayTable(
        ("case", "metric", "value", "reason"),
        shown,
        title="worst cases",
        numbers=(2,),
        left=f"{counted(len(shown), 'worst result')}, of {counted(cases, 'case')}; all results: "
        "report.to_pandas(), one case: report.case(ID)",
    )


def _notes(report: Report) -> Iterator[DisplayPart]:
    for line in doubt_lines(report):
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
    counts = outcome_counts(criterion, ("scored", "abstained", "not applicable"))
    return ", ".join(f"{count} {word}" for word, count in counts if count)
