"""A comparison as text for a terminal: what got worse first."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from itertools import zip_longest
from typing import TYPE_CHECKING

from judgekit.analysis.comparison.words import (
    cases_line,
    family_line,
    flips_line,
    interval_text,
    little_known,
    notes,
    number,
    p_text,
    verdict_line,
)
from judgekit.core.canonical import printable
from judgekit.report.text import Paint

if TYPE_CHECKING:
    from judgekit.analysis.comparison.comparison import (
        CaseMove,
        Comparison,
        MeanDifference,
        MetricComparison,
    )

_NAME = 22
_REASON_LINES = 5
_DIFF_LINES = 24


def comparison_text(
    found: Comparison, *, width: int = 80, colour: bool = False, cases: int = 5
) -> str:
    """Return a comparison for a terminal.

    Args:
        found: the comparison.
        width: columns to fit.
        colour: whether to use ANSI colours.
        cases: cases to show of each metric.
    """
    paint = Paint(colour=colour)
    lines = [
        _cut(f"base  {_line(found.base)}", width),
        _cut(f"new   {_line(found.new)}", width),
    ]
    style = "bad" if found.regressions else "bold"
    lines.append(paint(_cut(f"{cases_line(found)}; {verdict_line(found)}", width), style))
    for warning in found.warnings:
        lines += _wrapped(f"! {warning}", width, paint, "bad", indent="  ")
    lines += ["", *_table(found, paint)]
    for metric in found.metrics:
        lines += _moves(metric, "worse", metric.worst[:cases], width, paint)
    for metric in found.metrics:
        lines += _moves(metric, "better", metric.best[: min(cases, 2)], width, paint)
    lines += ["", *_notes(found, width, paint), *_changes(found, width, paint)]
    return "\n".join(lines) + "\n"


def _table(found: Comparison, paint: Paint) -> Iterator[str]:
    head = f"{'metric':<{_NAME}}   base    new  change  {'95 % interval':<16}  {'p':>6}"
    yield paint(head, "dim")
    for metric in found.metrics:
        if metric.refused is not None:
            name = _cut(_line(metric.metric), _NAME)
            yield from _wrapped(
                f"{name:<{_NAME}}  not compared: {metric.refused}", 80, paint, "bad", indent="    "
            )
            continue
        style = {"worse": "bad", "better": "good"}.get(metric.difference.verdict)
        line = _row(metric.difference, _line(metric.metric))
        yield paint(line, style) if style else line
        if metric.flips is not None:
            flips = metric.flips
            text = f"  {flips_line(flips, metric.difference.pairs)}"
            line = f"{text:<{_NAME + 42}}"
            if (flips.to_fail or flips.to_pass) and not metric.pass_fail:
                line += f"  p {p_text(flips.adjusted)}"
                line += f" {flips.verdict}" if flips.verdict in ("worse", "better") else ""
            yield line.rstrip()
        for part in metric.criteria:
            if part.worse or part.better:
                yield _row(part, f"  {_line(part.name)}")


def _row(found: MeanDifference, name: str) -> str:
    change = "-" if found.mean is None else f"{found.mean:+.3f}"
    word = found.verdict if found.verdict in ("worse", "better") else ""
    return (
        f"{_cut(name, _NAME):<{_NAME}} {number(found.base):>6} {number(found.new):>6} {change:>7}  "
        f"{interval_text(found):<16}  {p_text(found.adjusted):>6} {word}"
    ).rstrip()


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
        yield f"  {_cut(_line(move.case), width - 2 - len(tail))}{tail}"
        base, new, head = move.base_reason, move.new_reason, ""
        if move.part is not None:
            base, new = move.part.base_reason, move.part.new_reason
            head = f"{move.part.id} {move.part.base:.2f} -> {move.part.new:.2f}"
        if head:
            yield paint(f"    {_cut(_line(head), width - 4)}", "dim")
        yield from side_by_side(base, new, width=width)


def side_by_side(left: str, right: str, *, width: int, indent: int = 4) -> Iterator[str]:
    """Yield two texts in two columns, each cut after a few lines."""
    column = (width - indent - 3) // 2
    sides = [_column(text, column) for text in (left, right)]
    for one, other in zip_longest(*sides, fillvalue=""):
        yield f"{' ' * indent}{one:<{column}} | {other}".rstrip()


def _column(text: str, width: int) -> list[str]:
    lines = textwrap.wrap(_line(text), width) or ["-"]
    if len(lines) > _REASON_LINES:
        lines = lines[:_REASON_LINES]
        lines[-1] = _cut(lines[-1] + " …", width)
    return lines


def _notes(found: Comparison, width: int, paint: Paint) -> Iterator[str]:
    if found.tests:
        yield from _wrapped(family_line(found), width, paint, "dim")
    for metric in found.metrics:
        for note in notes(metric):
            yield from _wrapped(note, width, paint, "dim")
    if (line := little_known(found)) is not None:
        yield from _wrapped(line, width, paint, "dim")
    if 0 < found.same_answers < found.pairs:
        yield from _wrapped(
            f"{found.same_answers} of {found.pairs} answers are the same in both runs.",
            width, paint, "dim",
        )  # fmt: skip


def _changes(found: Comparison, width: int, paint: Paint) -> Iterator[str]:
    yield ""
    if not found.changes:
        yield "changed between the runs: nothing the manifests know of"
        return
    yield "changed between the runs"
    for change in found.changes:
        both = f"{change.base} -> {change.new}" if change.base else change.new
        yield from _wrapped(f"  {change.what}: {both}", width, paint, None, indent="    ")
    for prompt in found.prompts:
        yield ""
        yield _cut(_line(f"what the judge of {prompt.metric} was asked ({prompt.case})"), width)
        lines = prompt.diff.splitlines()
        for line in lines[:_DIFF_LINES]:
            yield _cut(f"  {printable(line)}", width)
        if len(lines) > _DIFF_LINES:
            yield f"  … {len(lines) - _DIFF_LINES} more lines; --json has them"


def _wrapped(
    text: str, width: int, paint: Paint, style: str | None, *, indent: str = "  "
) -> Iterator[str]:
    for line in textwrap.wrap(printable(text), width, subsequent_indent=indent):
        yield paint(line, style) if style else line


def _line(text: str) -> str:
    return " ".join(printable(text).split())


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: max(0, width - 1)] + "…"
