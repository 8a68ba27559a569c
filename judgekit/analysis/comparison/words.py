"""The sentences of a comparison, in its text and on its page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from judgekit.analysis.comparison.comparison import Comparison, MetricComparison


FEW = 30
"""Pairs below which an interval says little, and the comparison says so."""


def verdict_line(comparison: Comparison) -> str:
    """Return the outcome in one line."""
    compared = [m for m in comparison.metrics if m.refused is None]
    worse = [m.metric for m in compared if m.verdict == "worse"]
    better = [m.metric for m in compared if m.verdict == "better"]
    parts = [f"worse: {', '.join(worse)}"] if worse else []
    parts += [f"better: {', '.join(better)}"] if better else []
    if parts:
        return "; ".join(parts)
    if all(m.verdict == "same" for m in compared):
        return "no difference"
    if any(m.verdict == "unclear" for m in compared):
        return "no difference beyond chance"
    return "differences cannot be tested"


def cases_line(comparison: Comparison) -> str:
    """Return how many cases were compared."""
    return f"{comparison.pairs} case{'s' if comparison.pairs != 1 else ''} in both"


def family_line(comparison: Comparison) -> str:
    """Return the family of tests that p values are adjusted for."""
    tests = f"{comparison.tests} test{'s' if comparison.tests != 1 else ''}"
    by = f", by clusters of {comparison.cluster}" if comparison.cluster else ""
    return (
        f"p is adjusted (Holm) for {tests} of metrics{by}; criteria are adjusted among themselves."
    )


def all_notes(comparison: Comparison) -> Iterator[str]:
    """Yield what a reader must know about the tests and intervals of a comparison."""
    if comparison.tests:
        yield family_line(comparison)
    for metric in comparison.metrics:
        yield from notes(metric)
    if (line := little_known(comparison)) is not None:
        yield line
    if 0 < comparison.same_answers < comparison.pairs:
        yield f"{comparison.same_answers} of {comparison.pairs} answers are the same in both runs."


def notes(metric: MetricComparison) -> Iterator[str]:
    """Yield notes on the figures of a metric."""
    for line in (reach_line(metric), untested_line(metric)):
        if line is not None:
            yield line
    for change in metric.distributions:
        yield f"{metric.metric}, {change.line}"
    if metric.corrected is not None:
        yield f"{metric.metric}: {metric.corrected.line}"
    for why, count in metric.unpaired.items():
        yield f"{metric.metric}: {count} case{'s' if count != 1 else ''} left out: {why}"


def reach_line(metric: MetricComparison) -> str | None:
    """Return the detectable difference, and the cases that a smaller one needs."""
    reach = metric.difference
    if reach.detectable is None:
        return None
    by = "cases" if reach.clusters is None else f"cases in {reach.clusters} clusters"
    line = (
        f"{metric.metric}: {reach.pairs} {by} detect a true difference of {reach.detectable:.3f} "
        "with 80 % power"
    )
    if reach.more_high == 0:
        return f"{line}; a difference of {reach.wanted:g} needs no more."
    if reach.more is None:
        return f"{line}."
    what = "cases" if reach.clusters is None else "clusters"
    most = "or many more" if reach.more_high is None else f"to {reach.more_high:,}"
    return (
        f"{line}; a difference of {reach.wanted:g} needs {reach.more:,} {most} more {what}, if "
        "differences spread as they do here. Fix the number before you run them."
    )


def untested_line(metric: MetricComparison) -> str | None:
    """Return why the difference of a metric has no test, where it differs and has none."""
    difference = metric.difference
    if metric.refused is not None or difference.p is not None or not difference.mean:
        return None
    if difference.too_few is not None:
        return f"{metric.metric}: not tested: {difference.too_few}."
    return (
        f"{metric.metric}: not tested: all {difference.pairs} pairs differ by "
        f"{difference.mean:+.3f}, so nothing shows how far other cases would differ."
    )


def little_known(comparison: Comparison) -> str | None:
    """Return a note if there are few pairs."""
    few = [m for m in comparison.metrics if m.refused is None and 0 < m.difference.pairs < FEW]
    if not few:
        return None
    pairs = sorted({m.difference.pairs for m in few})
    count = str(pairs[0]) if len(pairs) == 1 else f"{pairs[0]} to {pairs[-1]}"
    plural = "s" if pairs[-1] != 1 else ""
    return (
        f"{count} pair{plural} of {', '.join(m.metric for m in few)}: too few to say much. Below "
        f"{FEW}, an interval of a mean assumes that the differences spread evenly."
    )
