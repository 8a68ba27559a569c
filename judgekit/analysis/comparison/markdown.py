"""A comparison as Markdown, such as for a pull request. Whatever runs say is escaped."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import TYPE_CHECKING

from judgekit.analysis.comparison.words import all_notes, figure_rows, verdict_line
from judgekit.core.display.markdown import escaped

if TYPE_CHECKING:
    from judgekit.analysis.comparison.comparison import CaseMove, Comparison, MetricComparison

_REASON = 300


def comparison_markdown(comparison: Comparison, *, cases: int = 5) -> str:
    """Return a comparison as Markdown."""
    lines = [
        f"### judgekit: {escaped(verdict_line(comparison))}",
        "",
        f"{comparison.pairs} cases, {' against '.join(map(escaped, comparison.sides))}",
        "",
    ]
    lines += [f"> **{escaped(warning)}**\n" for warning in comparison.warnings]
    lines += [*_table(comparison), ""]
    for metric in comparison.metrics:
        lines += _moves(metric, metric.worst[:cases])
    lines += [f"- {escaped(line)}" for line in all_notes(comparison)]
    if comparison.changes:
        lines += ["", "| changed | base | new |", "| --- | --- | --- |"]
        lines += [
            f"| {escaped(c.what)} | {escaped(c.base)} | {escaped(c.new)} |"
            for c in comparison.changes
        ]
    return "\n".join(lines).rstrip() + "\n"


def _table(comparison: Comparison) -> Iterator[str]:
    yield "| metric | base | new | change | 95 % interval | p (Holm) | |"
    yield "| --- | --: | --: | --: | --- | --: | --- |"
    for row in chain.from_iterable(map(figure_rows, comparison.metrics)):
        name, verdict = escaped(row.name), row.verdict
        if row.kind == "metric":
            name = f"**{name}**"
        if row.kind != "flips" and verdict:
            verdict = f"**{verdict}**"
        cells = (name, row.base, row.new, escaped(row.change), escaped(row.interval),
                 escaped(row.p), verdict)  # fmt: skip
        yield f"| {' | '.join(cells)} |"


def _moves(metric: MetricComparison, moves: tuple[CaseMove, ...]) -> Iterator[str]:
    if not moves:
        return
    yield f"**{escaped(metric.metric)}**: {metric.difference.worse} cases got worse"
    yield ""
    yield "| case | score | base said | new run said |"
    yield "| --- | --- | --- | --- |"
    for move in moves:
        what = f"{move.part.id}: " if move.part is not None else ""
        base, new = (f"{what}{reason}" for reason in move.reasons)
        score = f"{move.base:.2f} → {move.new:.2f}{', ' + move.flip if move.flip else ''}"
        yield (
            f"| {escaped(move.case)} | {escaped(score)} | {escaped(base, most=_REASON)} | "
            f"{escaped(new, most=_REASON)} |"
        )
    yield ""
