"""A comparison as text for a terminal: what got worse first."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, zip_longest
from typing import TYPE_CHECKING

from judgekit.analysis.comparison.words import all_notes, cases_line, figure_rows, verdict_line
from judgekit.core.canonical import printable
from judgekit.core.cells import cells, cut, pad, wrap
from judgekit.report.text import Paint, wrapped

if TYPE_CHECKING:
    from judgekit.analysis.comparison.comparison import CaseMove, Comparison, MetricComparison

_NAME = 22
_REASON_LINES = 5
_DIFF_LINES = 24


def comparison_text(
    comparison: Comparison, *, width: int = 80, colour: bool = False, cases: int = 5
) -> str:
    """Return a comparison for a terminal.

    Args:
        comparison: the comparison.
        width: columns to fit.
        colour: whether to use ANSI colours.
        cases: cases to show of each metric.
    """
    paint = Paint(colour=colour)
    lines = [
        cut(f"base  {_line(comparison.sides[0])}", width),
        cut(f"new   {_line(comparison.sides[1])}", width),
    ]
    style = "bad" if comparison.regressions else "bold"
    lines.append(paint(cut(f"{cases_line(comparison)}; {verdict_line(comparison)}", width), style))
    for warning in comparison.warnings:
        lines += wrapped(f"! {warning}", width, paint, "bad")
    lines += ["", *_table(comparison, paint)]
    for metric in comparison.metrics:
        lines += _moves(metric, "worse", metric.worst[:cases], width, paint)
    for metric in comparison.metrics:
        lines += _moves(metric, "better", metric.best[: min(cases, 2)], width, paint)
    lines += ["", *_notes(comparison, width, paint), *_changes(comparison, width, paint)]
    return "\n".join(lines) + "\n"


def _table(comparison: Comparison, paint: Paint) -> Iterator[str]:
    head = f"{'metric':<{_NAME}}   base    new  change  {'95 % interval':<16}  {'p':>6}"
    yield paint(head, "dim")
    for row in chain.from_iterable(map(figure_rows, comparison.metrics)):
        name = pad(cut(f"{'  ' * (row.kind == 'criterion')}{_line(row.name)}", _NAME), _NAME)
        if row.kind == "refused":
            text = f"{name}  {row.interval}"
            yield from wrapped(text, 80, paint, "bad", then="    ")
        elif row.kind == "flips":
            p = row.p and f"  p {row.p} {row.verdict}"
            yield f"{'  ' + row.interval:<{_NAME + 42}}{p}".rstrip()
        else:
            line = (
                f"{name} {row.base:>6} {row.new:>6} {row.change:>7}  "
                f"{row.interval:<16}  {row.p:>6} {row.verdict}"
            ).rstrip()
            style = {"worse": "bad", "better": "good"}.get(row.verdict, "")
            yield paint(line, style if row.kind == "metric" else "")


def _moves(
    metric: MetricComparison, word: str, moves: tuple[CaseMove, ...], width: int, paint: Paint
) -> Iterator[str]:
    if not moves:
        return
    of = metric.difference.worse if word == "worse" else metric.difference.better
    yield ""
    yield paint(
        _line(f"{metric.metric}: {of} of {metric.difference.pairs} cases got {word}"), "bold"
    )
    for move in moves:
        same = "  same answer" if move.same_answer else ""
        flip = f"  {move.flip}" if move.flip else ""
        tail = f"  {move.base:.2f} -> {move.new:.2f}{flip}{same}"
        yield f"  {cut(_line(move.case), width - 2 - cells(tail))}{tail}"
        if (part := move.part) is not None:
            head = f"{part.id} {part.base:.2f} -> {part.new:.2f}"
            yield paint(f"    {cut(_line(head), width - 4)}", "dim")
        yield from side_by_side(*move.reasons, width=width)


def side_by_side(left: str, right: str, *, width: int, indent: int = 4) -> Iterator[str]:
    """Yield two texts in two columns, each cut after a few lines."""
    column = (width - indent - 3) // 2
    sides = [_column(text, column) for text in (left, right)]
    for one, other in zip_longest(*sides, fillvalue=""):
        yield f"{' ' * indent}{pad(one, column)} | {other}".rstrip()


def _column(text: str, width: int) -> list[str]:
    lines = wrap(_line(text), width) or ["-"]
    if len(lines) > _REASON_LINES:
        lines = lines[:_REASON_LINES]
        lines[-1] = cut(lines[-1] + " …", width)
    return lines


def _notes(comparison: Comparison, width: int, paint: Paint) -> Iterator[str]:
    for line in all_notes(comparison):
        yield from wrapped(line, width, paint, "dim")
    if 0 < comparison.same_answers < comparison.pairs:
        same = f"{comparison.same_answers} of {comparison.pairs} answers are the same in both runs."
        yield from wrapped(same, width, paint, "dim")


def _changes(comparison: Comparison, width: int, paint: Paint) -> Iterator[str]:
    yield ""
    if not comparison.changes:
        yield "changed between the runs: nothing the manifests know of"
        return
    yield "changed between the runs"
    for change in comparison.changes:
        both = f"{change.base} -> {change.new}" if change.base else change.new
        yield from wrapped(f"  {change.what}: {both}", width, paint, "", then="    ")
    for prompt in comparison.prompts:
        yield ""
        yield cut(_line(f"what the judge of {prompt.metric} was asked ({prompt.case})"), width)
        lines = prompt.diff.splitlines()
        for line in lines[:_DIFF_LINES]:
            yield cut(f"  {printable(line)}", width)
        if len(lines) > _DIFF_LINES:
            yield f"  … {len(lines) - _DIFF_LINES} more lines; --json has them"


def _line(text: str) -> str:
    return " ".join(printable(text).split())
