"""The criteria of cases that recur: a place in a list means something else in every case."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

from judgekit.core.score import Part, Result, Score, own_parts
from judgekit.metrics.criteria.texts import own_texts
from judgekit.report.own_criteria import RECURS
from judgekit.report.report import Report


def recurring_texts(report: Report, metrics: Collection[str]) -> dict[str, frozenset[str]]:
    """Return metric -> the texts of the criteria that at least `RECURS` cases have."""
    counts: dict[str, Counter[str]] = {name: Counter() for name in metrics}
    for _, rows in report.results:
        for row in rows:
            if row.metric in counts and isinstance(row.result, Score):
                counts[row.metric].update(set(own_texts(row.result) or ()))
    return {
        name: frozenset(text for text, cases in of.items() if cases >= RECURS)
        for name, of in counts.items()
    }


def recurring_parts(result: Result, texts: Collection[str]) -> tuple[Part, ...]:
    """Return the parts of criteria that recur, by their text; the first part of each text."""
    parts = own_parts(result)
    own = own_texts(result) if isinstance(result, Score) and parts else None
    if own is None:
        return ()
    chosen: dict[str, Part] = {}
    for text, part in zip(own, parts, strict=True):
        if text in texts and text not in chosen:
            chosen[text] = part.model_copy(update={"id": text})
    return tuple(chosen.values())
