"""Write a run as Markdown: outcome, gates, figures, and the rows to look at."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from judgekit.core.display.markdown import escaped
from judgekit.core.display.parts import counted
from judgekit.report.corrected import corrected_lines
from judgekit.report.export.findings import Findings, findings_of
from judgekit.report.export.target import named, written
from judgekit.report.text import (
    counts_of,
    doubt_lines,
    number_of,
    savings_line,
    shown_figures,
    title_of,
)
from judgekit.report.verdict import run_verdict

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
    """Yield the lines of Markdown; texts of cases, judges and rubrics are escaped."""
    yield from (f"## {_safe(title_of(report))}", "", f"**{verdict_word(report)}**", "")
    if notice := report.figures.manifest.get("notice"):
        yield from (f"> {_safe(str(notice))}", "")
    yield from _gates(report)
    yield from _figures(report.figures.metrics)
    for metric in findings:
        yield from _rows(metric)
    for line in doubt_lines(report):
        yield f"- {_safe(line)}"
    if (savings := savings_line(report.run)) is not None:
        yield f"- {_safe(savings)}"


def verdict_word(report: Report) -> str:
    """Return the outcome of a run in a few words."""
    verdict = run_verdict(report)
    if verdict.word == "DONE":
        return "Complete; there is no gate to pass"
    if verdict.word == "FAIL":
        return f"{counted(verdict.missed, 'gate')} missed"
    return {"PASS": "Passed"}.get(verdict.word, verdict.phrase.capitalize())


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
        for line in s.constant_lines:
            yield f"- {_safe(s.metric)}: {_safe(line)}."
        if own_figures := shown_figures(s):
            text = ", ".join(f"{name} {figure}" for name, figure in own_figures.items())
            yield f"- {_safe(s.metric)}: {_safe(text)}"
        for tag in s.tags:
            between = tag.too_few or "no interval"
            if tag.low is not None and tag.high is not None:
                between = f"{number_of(tag.low, s)} to {number_of(tag.high, s)}"
            mean = f"{number_of(tag.mean, s)} ({between}) in {counted(tag.scored, 'case')}"
            yield f"- {_safe(s.metric)}, {_safe(tag.tag)}: {_safe(mean)}"
    yield ""


def _rows(findings: Findings) -> Iterator[str]:
    summary = findings.summary
    name = _safe(summary.metric)
    if findings.errors:
        rows = [
            (_safe(case), _safe(verdict.kind), _safe(verdict.line, _REASON))
            for case, verdict in findings.first_errors
        ]
        yield f"### {name}: {findings.errors} without a score"
        yield from _table("| kind | why |", "| --- | --- |", rows, count=findings.errors)
    if findings.failed:
        rows = []
        for case, value, verdict in findings.worst:
            lines = [verdict.line, *(line.strip() for line in verdict.details[:_DETAILS])]
            why = "<br>".join(_safe(line, _REASON) for line in lines)
            rows.append((_safe(case), number_of(value, summary), why))
        side = "below" if summary.higher_is_better else "above"
        yield f"### {name}: {findings.failed} {side} the threshold"
        yield from _table("| score | why |", "| --: | --- |", rows, count=findings.failed)


def _table(head: str, rule: str, rows: Sequence[tuple[str, ...]], *, count: int) -> Iterator[str]:
    """Yield a table of cases, and the number of cases that are not in it."""
    yield from ("", f"| case {head}", f"| --- {rule}")
    for cells in rows:
        yield f"| {' | '.join(cells)} |"
    yield ""
    if count > len(rows):
        yield from (f"and {count - len(rows):,} more.", "")
