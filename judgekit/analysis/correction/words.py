"""Corrected means in words: for a terminal, a notebook, Markdown, and as columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from judgekit.core.canonical import printable
from judgekit.core.display.parts import MOST_NAME, DisplayLine, DisplayPart, DisplayTable, cut
from judgekit.datasets.dataframes.table import Kind, Table
from judgekit.report.cells import wrap
from judgekit.report.corrected import METHODS, CorrectedMean, LabelFigure
from judgekit.report.markdown import escaped

if TYPE_CHECKING:
    from judgekit.analysis.correction.correct import CorrectedRun

_FIGURES = ("judge", "labels", "corrected", "rho", "sensitivity", "specificity", "youden")
_COLUMNS: Mapping[str, Kind] = {
    **dict.fromkeys(("metric", "criterion", "by"), "text"),
    "rows": "whole",
    **dict.fromkeys(
        (f"{name}{end}" for name in _FIGURES for end in ("", "_low", "_high", "_n")), "number"
    ),
    "too_few": "text",
    **dict.fromkeys(("standard_error", "df", "lam", "factor"), "number"),
    "saved": "whole",
    "planned": "yes_no",
    "assumes": "text",
}
HEAD = ("", "judge", "rows", "labels alone", "labels", "corrected")


def correction_parts(run: CorrectedRun) -> Iterator[DisplayPart]:
    """Yield the parts of the corrected means of a run."""
    yield DisplayLine(f"means corrected by people, {METHODS[run.means[0].by]}", "title")
    yield DisplayTable(HEAD, [_row(one) for one in run.means], numbers=(2, 4))
    for one in run.means:
        for line in detail_lines(one):
            yield DisplayLine(cut(f"{cut(one.name, MOST_NAME)}: {line}", 400))
    for line in notes(run):
        yield DisplayLine(cut(line, 400), "note")


def correction_text(run: CorrectedRun, *, width: int = 80) -> str:
    """Return the corrected means as text for a terminal."""
    lines: list[str] = []
    for one in run.means:
        by = f" by {', '.join(one.labellers)}" if one.labellers else ""
        n = f"{one.labels.n:g}"
        head = f"{one.name}: {one.rows} rows with a score of the judge, {n} with labels{by}"
        lines += wrap(printable(head), width, then="  ")
        lines.append(f"  judge         {one.judge.text()}")
        lines.append(f"  labels alone  {_cell(one.labels)}")
        lines.append(f"  {METHODS[one.by]:<12}  {_cell(one.corrected)}")
        for line in detail_lines(one):
            lines += wrap(printable(line), width, first="  ", then="    ")
        lines.append("")
    for line in notes(run):
        lines += wrap(printable(line), width, then="  ")
    return "\n".join(lines) + "\n"


def _row(one: CorrectedMean) -> tuple[str, ...]:
    figures = [_cell(figure) for figure in (one.judge, one.labels, one.corrected)]
    rows, labels = f"{one.rows}", f"{one.labels.n:g}"
    return (cut(one.name, MOST_NAME), figures[0], rows, figures[1], labels, figures[2])


def _cell(figure: LabelFigure) -> str:
    return "none" if figure.value is None else figure.text().partition(" (")[0]


def detail_lines(one: CorrectedMean) -> Iterator[str]:
    """Yield how good the judge is, what the correction saved, and what was left out."""
    if one.corrected.too_few is not None:
        known = one.corrected.value is not None
        yield f"{'too few' if known else 'not corrected'}: {one.corrected.too_few}"
    if one.rho is not None:
        times = "" if one.factor is None else f", 1/(1 - rho^2) {one.factor:.1f}"
        lam = "" if one.lam is None else f", lambda {one.lam:.2f}"
        yield f"correlation with people rho {one.rho.text()}{times}{lam}"
    elif one.labels.n:
        yield "correlation with people: undefined, the judge or the labels do not vary"
    if one.by == "ppi" and one.labels.n:
        yield (
            f"the judge saved about {one.saved} labels: labels alone would need "
            f"{one.labels.n + one.saved:g} for this standard error"
        )
    if one.sensitivity is not None and one.specificity is not None and one.youden is not None:
        yield (
            f"sensitivity {one.sensitivity.text()} ({one.sensitivity.n:g} yes), specificity "
            f"{one.specificity.text()} ({one.specificity.n:g} no), Youden's J {one.youden.text()}"
        )
    if one.unscored:
        counts = ", ".join(f"{count} {why}" for why, count in one.unscored.items())
        yield f"rows without a value of the judge, in none of these means: {counts}"
    for why, count in one.left_out.items():
        yield f"labels of {count} case{'s' if count != 1 else ''} left out: {why}"
    if one.without_digest:
        yield f"labels of {one.without_digest} cases name no output: matched by case id alone"


def notes(run: CorrectedRun) -> Iterator[str]:
    """Yield what the means assume, and the kind of their intervals."""
    yield from dict.fromkeys(one.assumes for one in run.means if one.corrected.value is not None)
    kind = "t" if run.means[0].by == "ppi" else "Lee et al. (2025)"
    by = f", by clusters of {run.cluster}" if run.cluster else ""
    several = f" Several people about a case: their {run.several}."
    yield f"Intervals: 95 %, {kind}{by}.{several}"


def correction_markdown(run: CorrectedRun) -> str:
    """Return the corrected means as Markdown."""
    lines = [f"| {' | '.join(HEAD)} |", "| --- | --- | --: | --- | --: | --- |"]
    lines += [f"| {' | '.join(escaped(cell) for cell in _row(one))} |" for one in run.means]
    lines.append("")
    lines += [f"- {escaped(f'{one.name}: {line}')}" for one in run.means
              for line in detail_lines(one)]  # fmt: skip
    lines += [f"- {escaped(line)}" for line in notes(run)]
    return "\n".join(lines) + "\n"


def correction_table(run: CorrectedRun) -> Table:
    """Return the corrected means as columns, a row for each."""
    table = Table(_COLUMNS)
    for one in run.means:
        entry: dict[str, Any] = {**one.model_dump(), "assumes": one.assumes, "factor": one.factor}
        for name in _FIGURES:
            figure = entry.pop(name) or {}
            entry |= {name: figure.get("value")}
            entry |= {f"{name}_{end}": figure.get(end) for end in ("low", "high", "n")}
        entry["too_few"] = one.corrected.too_few
        table.add({name: entry.get(name) for name in _COLUMNS})
    return table
