"""Explain a result in plain sentences: the value, how it was computed, and the evidence."""

from __future__ import annotations

import math
from collections.abc import Iterator
from operator import attrgetter
from typing import TYPE_CHECKING

from judgekit.core.canonical import printable

if TYPE_CHECKING:
    from judgekit.core.protocols import Metric
    from judgekit.core.score import Failure, Score

PARTS = 4
"""Number of parts to name; those that lower the value most come first."""
_KINDS = {
    "refused": "the judge declined",
    "truncated": "the reply was cut off",
    "empty": "the reply was empty",
    "only_thought": "the judge thought and gave no answer",
    "invalid_reply": "the reply could not be used",
    "unavailable": "nobody could be reached",
    "cassette_miss": "nothing is recorded and asking is not allowed",
    "invalid_case": "the case lacks something",
    "not_run": "it was not run",
    "pending": "a batch job has not answered yet",
    "metric_error": "the metric made a mistake",
}


def explain_score(score: Score, metric: Metric | None = None) -> str:
    """Return a score in a few sentences.

    Args:
        score: what to explain.
        metric: the metric that made it, for its name, its range, its direction and the meaning of
            its confidence.
    """
    return _joined(_sentences(score, metric))


def explain_failure(failure: Failure, metric: Metric | None = None) -> str:
    """Return why there is no score."""
    head = f"{metric.name}: no score" if metric is not None else "No score"
    return _joined(iter((f"{head}, because {_KINDS[failure.kind]}: {failure.message}",)))


def _joined(sentences: Iterator[str]) -> str:
    ended = (s if s.endswith((".", "!", "?", "…")) else f"{s}." for s in sentences)
    return printable(" ".join(" ".join(ended).split()))


def _sentences(score: Score, metric: Metric | None) -> Iterator[str]:
    head = f"{metric.name}: " if metric is not None else ""
    yield head + (_value(score, metric) if score.value is not None else _no_value(score))
    if score.fallback is not None:
        substitute = score.fallback.substitute
        yield f"{substitute} stood in, which is no judge ({score.fallback.cause})"
    by = "Judged" if score.source == "judge" else "Computed"
    yield f"{by}: {score.method}" if score.method else by
    if score.reason:
        yield score.reason
    if len(score.parts) > 1 and score.value is not None:
        yield from _parts(score, higher=metric is None or metric.higher_is_better)
    if score.confidence is not None:
        meaning = "" if metric is None else metric.confidence
        yield f"Confidence {score.confidence:.2f}{f', which {meaning}' if meaning else ''}"


def _value(score: Score, metric: Metric | None) -> str:
    shown = f"{score.shown:g}"
    if metric is None:
        return shown
    low, high = (bound * score.scale for bound in metric.range)
    span = f"{low:g} to {high:g}"
    if math.isinf(low) or math.isinf(high):
        span = f"{low:g} upwards" if math.isinf(high) else f"{high:g} downwards"
    return f"{shown} on {span}, {'higher' if metric.higher_is_better else 'lower'} is better"


def _no_value(score: Score) -> str:
    why = {"abstained": "the judge abstained", "not_applicable": "not applicable"}
    if score.source == "computed" and score.status == "abstained":
        return "no score: undecided"
    return f"no score: {why[score.status]}"


def _parts(score: Score, *, higher: bool) -> Iterator[str]:
    counted = [part for part in score.parts if part.value is not None and part.weight]
    # sorted() is stable, so the sentence is the same on every machine.
    named = sorted(counted, key=attrgetter("cost"), reverse=higher)[:PARTS]
    if named:
        told = ", ".join(f"{p.id} {p.value:.2f} (weight {p.weight:.0%})" for p in named)
        more = f" and {len(counted) - len(named)} more" if len(counted) > len(named) else ""
        yield f"Made of {told}{more}"
    left = [part.id for part in score.parts if part.value is None]
    if left:
        yield f"Left out: {', '.join(left[:PARTS])}{' and others' if len(left) > PARTS else ''}"
