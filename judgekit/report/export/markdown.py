"""A run as Markdown: verdict, gates, figures, and the rows to look at."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from judgekit.core.display.markdown import escaped
from judgekit.report.corrected import corrected_lines
from judgekit.report.export.findings import Findings, findings_of
from judgekit.report.export.marks import named
from judgekit.report.export.target import written
from judgekit.report.spread import shown_figures
from judgekit.report.text import counts_of, few_lines, number_of, title_of

if TYPE_CHECKING:
    from judgekit.report.report import Report
    from judgekit.report.summary import MetricSummary

_REASON = 400
_DETAILS = 3


def write(report: Report, path: Path) -> None:
    """Write a run as Markdown.

    Raises:
        ConfigError: the file cannot be written, or the results cannot be read.
    """
    with written(path) as file:
        for line in markdown_lines(report, findings_of(report)):
            file.write(f"{line}\n".encode("utf-8", "replace"))


def markdown_lines(report: Report, findings: Iterable[Findings]) -> Iterator[str]:
    """Yield a run as lines of Markdown; texts of cases, judges and rubrics are escaped."""
    manifest = report.figures.manifest
    yield f"## {_safe(title_of(report))}"
    yield ""
    yield f"**{verdict_word(report)}**"
    yield ""
    if manifest.get("notice"):
        yield f"> {_safe(str(manifest['notice']))}"
        yield ""
    yield from _gates(report)
    yield from _figures(report.figures.metrics)
    for metric in findings:
        yield from _rows(metric)
    yield from _notes(report)


def verdict_word(report: Report) -> str:
    """Return the outcome of a run in a few words."""
    if report.figures.incomplete:
        return "Incomplete"
    missed = sum(not gate.passed for gate in report.figures.gates)
    if missed:
        return f"{missed} gate{'s' if missed != 1 else ''} missed"
    return "Passed" if report.figures.gates else "Complete; there is no gate to pass"


def _safe(text: str, most: int = 1000) -> str:
    return escaped(named(text), most=most)


def _gates(report: Report) -> Iterator[str]:
    figures = report.figures
    for reason in figures.incomplete:
        yield f"- **incomplete**: {_safe(reason)}"
    for gate in figures.gates:
        yield f"- {'pass' if gate.passed else '**MISS**'}: {_safe(gate.sentence)}"
    if figures.incomplete or figures.gates:
        yield ""


def _figures(summaries: Iterable[MetricSummary]) -> Iterator[str]:
    yield "| metric | mean | 95 % interval | pass | scores |"
    yield "| --- | --: | --- | --: | --- |"
    for s in summaries:
        ends = s.interval
        spread = "too few" if s.too_few else ""
        if ends is not None:
            spread = f"{number_of(ends[0], s)} to {number_of(ends[1], s)}"
        rate = "" if s.pass_rate is None else f"{s.pass_rate:.0%}"
        cells = (_safe(s.metric), number_of(s.mean, s), spread, rate, counts_of(s))
        yield f"| {' | '.join(cells)} |"
    yield ""
    for s in summaries:
        for line in corrected_lines(s):
            yield f"- {_safe(s.metric)}: {_safe(line)}"
        if own_figures := shown_figures(s):
            text = ", ".join(f"{name} {figure}" for name, figure in own_figures.items())
            yield f"- {_safe(s.metric)}: {_safe(text)}"
    yield ""


def _rows(findings: Findings) -> Iterator[str]:
    summary = findings.summary
    name = _safe(summary.metric)
    if findings.errors:
        yield f"### {name}: {findings.errors} without a score"
        yield ""
        yield "| case | kind | why |"
        yield "| --- | --- | --- |"
        for case, verdict in findings.first_errors:
            yield f"| {_safe(case)} | {_safe(verdict.kind)} | {_safe(verdict.line, _REASON)} |"
        yield from _more(findings.errors - len(findings.first_errors))
    if findings.failed:
        side = "below" if summary.higher_is_better else "above"
        yield f"### {name}: {findings.failed} {side} the threshold"
        yield ""
        yield "| case | score | why |"
        yield "| --- | --: | --- |"
        for case, value, verdict in findings.worst:
            lines = [verdict.line, *(line.strip() for line in verdict.details[:_DETAILS])]
            why = "<br>".join(_safe(line, _REASON) for line in lines)
            yield f"| {_safe(case)} | {number_of(value, summary)} | {why} |"
        yield from _more(findings.failed - len(findings.worst))


def _more(count: int) -> Iterator[str]:
    yield ""
    if count > 0:
        yield f"and {count:,} more."
        yield ""


def _notes(report: Report) -> Iterator[str]:
    for line in few_lines(s for s in report.figures.metrics if s.judged):
        yield f"- {_safe(line)}"
    for line in report.calibration:
        yield f"- {_safe(line)}"
