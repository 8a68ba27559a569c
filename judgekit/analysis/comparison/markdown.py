"""A comparison as Markdown, such as for a pull request. Whatever runs say is escaped."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from judgekit.analysis.comparison.words import (
    family_line,
    flips_line,
    interval_text,
    little_known,
    notes,
    number,
    p_text,
    verdict_line,
)
from judgekit.report.markdown import escaped

if TYPE_CHECKING:
    from judgekit.analysis.comparison.comparison import (
        CaseMove,
        Comparison,
        MeanDifference,
        MetricComparison,
    )

_REASON = 300


def comparison_markdown(found: Comparison, *, cases: int = 5) -> str:
    """Return a comparison as Markdown."""
    lines = [
        f"### judgekit: {escaped(verdict_line(found))}",
        "",
        f"{found.pairs} cases, {escaped(found.base)} against {escaped(found.new)}",
        "",
    ]
    lines += [f"> **{escaped(warning)}**\n" for warning in found.warnings]
    lines += [*_table(found), ""]
    for metric in found.metrics:
        lines += _moves(metric, metric.worst[:cases])
    said = [family_line(found)] if found.tests else []
    said += [line for metric in found.metrics for line in notes(metric)]
    said += [line] if (line := little_known(found)) else []
    lines += [f"- {escaped(line)}" for line in said]
    if found.changes:
        lines += ["", "| changed | base | new |", "| --- | --- | --- |"]
        lines += [
            f"| {escaped(c.what)} | {escaped(c.base)} | {escaped(c.new)} |" for c in found.changes
        ]
    return "\n".join(lines).rstrip() + "\n"


def _table(found: Comparison) -> Iterator[str]:
    yield "| metric | base | new | change | 95 % interval | p (Holm) | |"
    yield "| --- | --: | --: | --: | --- | --: | --- |"
    for metric in found.metrics:
        if metric.refused is not None:
            why = f"not compared: {escaped(metric.refused)}"
            yield f"| {escaped(metric.metric)} | | | {why} | | | |"
            continue
        yield _row(metric.difference, f"**{escaped(metric.metric)}**")
        if metric.flips is not None:
            flips = metric.flips
            said = escaped(flips_line(flips, metric.difference.pairs))
            p = word = ""
            if not metric.pass_fail:
                p = escaped(p_text(flips.adjusted))
                word = flips.verdict if flips.verdict in ("worse", "better") else ""
            yield f"| verdicts | | | {said} | | {p} | {word} |"
        for part in metric.criteria:
            if part.worse or part.better:
                yield _row(part, escaped(part.name))


def _row(found: MeanDifference, name: str) -> str:
    change = "" if found.mean is None else escaped(f"{found.mean:+.3f}")
    word = f"**{found.verdict}**" if found.verdict in ("worse", "better") else ""
    return (
        f"| {name} | {number(found.base)} | {number(found.new)} | {change} | "
        f"{escaped(interval_text(found))} | {escaped(p_text(found.adjusted))} | {word} |"
    )


def _moves(metric: MetricComparison, moves: tuple[CaseMove, ...]) -> Iterator[str]:
    if not moves:
        return
    yield f"**{escaped(metric.metric)}**: {metric.difference.worse} cases got worse"
    yield ""
    yield "| case | score | base said | new run said |"
    yield "| --- | --- | --- | --- |"
    for move in moves:
        base, new = move.base_reason, move.new_reason
        if move.part is not None:
            base = f"{move.part.id}: {move.part.base_reason}"
            new = f"{move.part.id}: {move.part.new_reason}"
        score = f"{move.base:.2f} → {move.new:.2f}{', ' + move.flip if move.flip else ''}"
        yield (
            f"| {escaped(move.case)} | {escaped(score)} | {escaped(base, most=_REASON)} | "
            f"{escaped(new, most=_REASON)} |"
        )
    yield ""
