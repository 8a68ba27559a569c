"""A comparison as it is shown by itself: what got worse first, both reasons side by side."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from judgekit.analysis.comparison.words import (
    cases_line,
    family_line,
    flips_line,
    interval_text,
    little_known,
    number,
    p_text,
    verdict_line,
)
from judgekit.core.display.parts import MOST_NAME, DisplayLine, DisplayPart, DisplayTable, cut, more

if TYPE_CHECKING:
    from judgekit.analysis.comparison.comparison import Comparison, MeanDifference, MetricComparison

MOST_METRICS = 20
MOST_CRITERIA = 12
MOST_MOVES = 5
MOST_NOTES = 6


def comparison_parts(found: Comparison) -> Iterator[DisplayPart]:
    """Yield the parts of a comparison."""
    yield DisplayLine(f"{cut(found.base, MOST_NAME)} → {cut(found.new, MOST_NAME)}", "title")
    words = f"{cases_line(found)}; {cut(verdict_line(found))}"
    yield DisplayLine(words, "bad" if found.regressions else "plain")
    for warning in found.warnings[:MOST_NOTES]:
        yield DisplayLine(cut(warning), "bad")
    if left := more(len(found.warnings) - MOST_NOTES, "warning", ".warnings"):
        yield DisplayLine(left, "note")
    yield _figures(found)
    for metric in found.metrics[:MOST_METRICS]:
        yield from _moves(metric)
    yield from _notes(found)


def _figures(found: Comparison) -> DisplayTable:
    rows: list[tuple[str, ...]] = []
    shown = found.metrics[:MOST_METRICS]
    parts = 0
    for metric in shown:
        name = cut(metric.metric, MOST_NAME)
        if metric.refused is not None:
            rows.append((name, "", "", "", "", "", f"not compared: {cut(metric.refused)}"))
            continue
        word = _word(metric.difference)
        if metric.flips is not None:
            word = "; ".join([*([word] if word else []),
                              flips_line(metric.flips, metric.difference.pairs)])  # fmt: skip
        rows.append(_row(metric.difference, name, word))
        for part in metric.criteria:
            if part.worse or part.better:
                parts += 1
                if parts <= MOST_CRITERIA:
                    rows.append(_row(part, f"  {cut(part.name, MOST_NAME)}", _word(part)))
    left = [
        more(len(found.metrics) - len(shown), "metric", "to_pandas()"),
        more(parts - MOST_CRITERIA, "moved criterion", "to_pandas(per='criterion')"),
    ]
    return DisplayTable(
        ("metric", "base", "new", "change", "95 % interval", "p", "verdict"),
        rows,
        numbers=(1, 2, 3, 4, 5),
        left="; ".join(line for line in left if line).replace("criterions", "criteria"),
    )


def _row(found: MeanDifference, name: str, word: str) -> tuple[str, ...]:
    change = "-" if found.mean is None else f"{found.mean:+.3f}"
    return (name, number(found.base), number(found.new), change, interval_text(found),
            p_text(found.adjusted), word)  # fmt: skip


def _word(found: MeanDifference) -> str:
    return found.verdict if found.verdict in ("worse", "better") else ""


def _moves(metric: MetricComparison) -> Iterator[DisplayPart]:
    if not metric.worst:
        return
    shown = metric.worst[:MOST_MOVES]
    rows = []
    for move in shown:
        base, new, what = move.base_reason, move.new_reason, ""
        if move.part is not None:
            base, new, what = move.part.base_reason, move.part.new_reason, f"{move.part.id}: "
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


def _notes(found: Comparison) -> Iterator[DisplayPart]:
    if found.tests:
        yield DisplayLine(family_line(found), "note")
    if (line := little_known(found)) is not None:
        yield DisplayLine(cut(line), "note")
    for change in found.changes[:MOST_NOTES]:
        both = f"{change.base} → {change.new}" if change.base else change.new
        yield DisplayLine(f"changed: {cut(change.what, MOST_NAME)}: {cut(both)}", "note")
    if left := more(len(found.changes) - MOST_NOTES, "change", ".changes"):
        yield DisplayLine(left, "note")
