"""A comparison as it is shown by itself: what got worse first, both reasons side by side."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import TYPE_CHECKING

from judgekit.analysis.comparison.words import (
    cases_line,
    family_line,
    figure_rows,
    little_known,
    verdict_line,
)
from judgekit.core.display.parts import MOST_NAME, DisplayLine, DisplayPart, DisplayTable, cut, more

if TYPE_CHECKING:
    from judgekit.analysis.comparison.comparison import Comparison, MetricComparison

MOST_METRICS = 20
MOST_CRITERIA = 12
MOST_MOVES = 5
MOST_NOTES = 6


def comparison_parts(comparison: Comparison) -> Iterator[DisplayPart]:
    """Yield the parts of a comparison."""
    yield DisplayLine(
        f"{cut(comparison.sides[0], MOST_NAME)} → {cut(comparison.sides[1], MOST_NAME)}", "title"
    )
    words = f"{cases_line(comparison)}; {cut(verdict_line(comparison))}"
    yield DisplayLine(words, "bad" if comparison.regressions else "plain")
    for warning in comparison.warnings[:MOST_NOTES]:
        yield DisplayLine(cut(warning), "bad")
    if left := more(len(comparison.warnings) - MOST_NOTES, "warning", ".warnings"):
        yield DisplayLine(left, "note")
    yield _figures(comparison)
    for metric in comparison.metrics[:MOST_METRICS]:
        yield from _moves(metric)
    yield from _notes(comparison)


def _figures(comparison: Comparison) -> DisplayTable:
    rows: list[tuple[str, ...]] = []
    shown = comparison.metrics[:MOST_METRICS]
    parts = 0
    for row in chain.from_iterable(map(figure_rows, shown)):
        if row.kind == "flips":  # beside the verdict on the mean
            *before, verdict = rows.pop()
            rows.append((*before, "; ".join(filter(None, (verdict, row.interval)))))
            continue
        if row.kind == "refused":
            rows.append((cut(row.name, MOST_NAME), "", "", "", "", "", cut(row.interval)))
            continue
        parts += row.kind == "criterion"
        if parts <= MOST_CRITERIA or row.kind == "metric":
            name = f"{'  ' * (row.kind == 'criterion')}{cut(row.name, MOST_NAME)}"
            figures = (row.base, row.new, row.change, row.interval, row.p)
            rows.append((name, *figures, row.verdict))
    left = [
        more(len(comparison.metrics) - len(shown), "metric", "to_pandas()"),
        more(parts - MOST_CRITERIA, "moved criterion", "to_pandas(per='criterion')"),
    ]
    return DisplayTable(
        ("metric", "base", "new", "change", "95 % interval", "p", "verdict"),
        rows,
        numbers=(1, 2, 3, 4, 5),
        left="; ".join(line for line in left if line).replace("criterions", "criteria"),
    )


def _moves(metric: MetricComparison) -> Iterator[DisplayPart]:
    if not metric.worst:
        return
    shown = metric.worst[:MOST_MOVES]
    rows = []
    for move in shown:
        what = f"{move.part.id}: " if move.part is not None else ""
        base, new = move.reasons
        flip = f"\n{move.flip}" if move.flip else ""
        rows.append(
            (
                cut(move.case, MOST_NAME),
                f"{move.base:.2f} → {move.new:.2f}{flip}",
                f"{cut(what, MOST_NAME)} {cut(base, 200)}".strip(),
                cut(new, 200),
            )
        )
    worse = metric.difference.worse
    yield DisplayTable(
        ("case", "change", "base", "new"),
        rows,
        numbers=(1,),
        title=f"{cut(metric.metric, MOST_NAME)}: {worse} of {metric.difference.pairs} cases got "
        "worse",
        left=more(worse - len(shown), "case", "to_pandas(per='case') has those that moved most"),
    )


def _notes(comparison: Comparison) -> Iterator[DisplayPart]:
    if comparison.tests:
        yield DisplayLine(family_line(comparison), "note")
    if (line := little_known(comparison)) is not None:
        yield DisplayLine(cut(line), "note")
    for change in comparison.changes[:MOST_NOTES]:
        both = f"{change.base} → {change.new}" if change.base else change.new
        yield DisplayLine(f"changed: {cut(change.what, MOST_NAME)}: {cut(both)}", "note")
    if left := more(len(comparison.changes) - MOST_NOTES, "change", ".changes"):
        yield DisplayLine(left, "note")
