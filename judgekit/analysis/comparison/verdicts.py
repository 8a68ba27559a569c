"""What the tests of comparisons conclude, all of them corrected together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeVar

from judgekit.analysis.comparison.comparison import (
    Comparison,
    Flips,
    MeanDifference,
    MetricComparison,
    Verdict,
)
from judgekit.stats.tests import holm

Figure = TypeVar("Figure", MeanDifference, Flips)
ALPHA = 0.05
"""The chance of even one false alarm, over all tests of metrics."""


def judged(comparisons: Sequence[Comparison]) -> tuple[Comparison, ...]:
    """Return comparisons with the verdicts of their tests, each family corrected as one.

    Means and verdicts of all metrics are one family, criteria another. The mean of a pass/fail
    metric is its share of passes, so both share one test.
    """
    compared = [m for c in comparisons for m in c.metrics if m.refused is None]
    flipped = [m for m in compared if m.flips is not None and not m.pass_fail]
    tests: list[float | None] = [m.difference.p for m in compared]
    tests += [m.flips.p for m in flipped if m.flips is not None]
    adjusted = iter(holm(tests))
    means = {id(m): next(adjusted) for m in compared}
    flips = means | {id(m): next(adjusted) for m in flipped}
    parts = iter(holm([part.p for m in compared for part in m.criteria]))
    count = sum(p is not None for p in tests)
    with_verdicts = []
    for comparison in comparisons:
        metrics = [
            metric
            if metric.refused is not None
            else _judged(metric, means[id(metric)], flips[id(metric)], parts)
            for metric in comparison.metrics
        ]
        metrics.sort(key=lambda m: (_ORDER[m.verdict], m.refused is not None))
        update = {"metrics": tuple(metrics), "tests": count}
        with_verdicts.append(comparison.model_copy(update=update))
    return tuple(with_verdicts)


def _judged(
    metric: MetricComparison, mean: float | None, flips: float | None, parts: Iterator[float | None]
) -> MetricComparison:
    """Return a metric with its adjusted p values, and the verdicts of its tests."""
    criteria = [_tested(part, next(parts), part.mean or 0.0) for part in metric.criteria]
    gain = (metric.difference.mean or 0.0) * (1 if metric.higher_is_better else -1)
    update: dict[str, Any] = {
        "difference": _tested(metric.difference, mean, gain),
        "criteria": tuple(
            sorted(criteria, key=lambda part: (_ORDER[part.verdict], part.mean or 0.0))
        ),
    }
    if (one := metric.flips) is not None:
        update["flips"] = _tested(one, flips, one.to_pass - one.to_fail)
    return metric.model_copy(update=update)


_ORDER: Mapping[Verdict, int] = {"worse": 0, "unclear": 1, "better": 2, "same": 3, "unknown": 4}


def _tested(figure: Figure, adjusted: float | None, gain: float) -> Figure:
    """Return a figure with its adjusted p, and its verdict by what was gained."""
    verdict = figure.verdict
    if adjusted is not None and adjusted < ALPHA and gain:
        verdict = "better" if gain > 0 else "worse"
    return figure.model_copy(update={"adjusted": adjusted, "verdict": verdict})
