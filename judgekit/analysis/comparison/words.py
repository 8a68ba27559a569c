"""The sentences of a comparison, the same in a terminal and in Markdown."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from judgekit.analysis.comparison.comparison import (
        Comparison,
        Flips,
        MeanDifference,
        MetricComparison,
    )


FEW = 30
"""Pairs below which an interval says little, and the comparison says so."""


def verdict_line(found: Comparison) -> str:
    """Return the outcome in one line."""
    compared = [m for m in found.metrics if m.refused is None]
    worse = [m.metric for m in compared if m.verdict == "worse"]
    better = [m.metric for m in compared if m.verdict == "better"]
    said = [f"worse: {', '.join(worse)}"] if worse else []
    said += [f"better: {', '.join(better)}"] if better else []
    if said:
        return "; ".join(said)
    if all(m.verdict == "same" for m in compared):
        return "no difference"
    if any(m.verdict == "unclear" for m in compared):
        return "no difference beyond chance"
    return "differences cannot be tested"


def cases_line(found: Comparison) -> str:
    """Return how many cases were compared."""
    return f"{found.pairs} case{'s' if found.pairs != 1 else ''} in both"


def family_line(found: Comparison) -> str:
    """Return the family of tests that p values are adjusted for."""
    tests = f"{found.tests} test{'s' if found.tests != 1 else ''}"
    by = f", by clusters of {found.cluster}" if found.cluster else ""
    return (
        f"p is adjusted (Holm) for {tests} of metrics{by}; criteria are adjusted among themselves."
    )


def notes(metric: MetricComparison) -> Iterator[str]:
    """Yield notes on the figures of a metric."""
    for line in (reach_line(metric), untested_line(metric)):
        if line is not None:
            yield line
    for why, count in metric.unpaired.items():
        yield f"{metric.metric}: {count} case{'s' if count != 1 else ''} left out: {why}"


def reach_line(metric: MetricComparison) -> str | None:
    """Return the detectable difference, and the cases that a smaller one needs."""
    found = metric.difference
    if found.detectable is None:
        return None
    by = "cases" if found.clusters is None else f"cases in {found.clusters} clusters"
    line = (
        f"{metric.metric}: {found.pairs} {by} see a true difference of {found.detectable:.3f} "
        "four times out of five"
    )
    if found.more_high == 0:
        return f"{line}, enough for one of {found.wanted:g}."
    if found.more is None:
        return f"{line}."
    what = "cases" if found.clusters is None else "clusters"
    most = "or many more" if found.more_high is None else f"to {found.more_high:,}"
    return (
        f"{line}; {found.more:,} {most} more {what} see one of {found.wanted:g}, if differences "
        "spread as they do here. Fix the number before you run them."
    )


def untested_line(metric: MetricComparison) -> str | None:
    """Return why the difference of a metric has no test, where it differs and has none."""
    found = metric.difference
    if metric.refused is not None or found.p is not None or not found.mean:
        return None
    if found.too_few is not None:
        return f"{metric.metric}: not tested: {found.too_few}."
    return (
        f"{metric.metric}: not tested: all {found.pairs} pairs differ by {found.mean:+.3f}, so "
        "nothing shows how far other cases would differ."
    )


def little_known(found: Comparison) -> str | None:
    """Return a note if there are few pairs."""
    few = [m for m in found.metrics if m.refused is None and 0 < m.difference.pairs < FEW]
    if not few:
        return None
    pairs = sorted({m.difference.pairs for m in few})
    count = str(pairs[0]) if len(pairs) == 1 else f"{pairs[0]} to {pairs[-1]}"
    said = f"{count} pair{'s' if pairs[-1] != 1 else ''} of {', '.join(m.metric for m in few)}"
    return (
        f"{said}: too few to say much. Below {FEW}, an interval of a mean rests on the differences "
        "being spread evenly."
    )


def flips_line(flips: Flips, pairs: int) -> str:
    """Return how many verdicts changed."""
    return (
        f"{flips.base_passed}/{pairs} passed, then {flips.new_passed}/{pairs}: "
        f"{flips.to_fail} pass -> fail, {flips.to_pass} fail -> pass"
    )


def interval_text(found: MeanDifference) -> str:
    """Return the interval, or that there are too few pairs for one.

    >>> from judgekit.analysis.comparison.comparison import MeanDifference
    >>> interval_text(MeanDifference(name="m", pairs=1, base=1, new=1, mean=0, low=None,
    ...                              high=None, worse=0, better=0))
    'too few'
    """
    if found.mean is None:
        return "-"
    if found.low is None or found.high is None:
        return "too few"
    return f"[{found.low:+.3f}, {found.high:+.3f}]"


def p_text(p: float | None) -> str:
    """Return a p value in few characters.

    >>> p_text(0.0412), p_text(0.00001), p_text(None)
    ('0.041', '<0.001', '-')
    """
    return "-" if p is None else "<0.001" if p < 0.001 else f"{p:.3f}"


def number(value: float | None) -> str:
    """Return a mean in few characters."""
    return "-" if value is None else f"{value:.3f}" if abs(value) < 1000 else f"{value:.4g}"
