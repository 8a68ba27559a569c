"""The difference of one figure between two runs, with its test, its interval and its verdict."""

from __future__ import annotations

import math
from array import array
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeVar

from judgekit.analysis.comparison.comparison import (
    Comparison,
    Flips,
    MeanDifference,
    MetricComparison,
    Verdict,
)
from judgekit.stats.clusters import FigureValues
from judgekit.stats.intervals import CHANGED, TAIL, MeanInterval, MeanSpread, mean_interval
from judgekit.stats.power import detectable, needed_range
from judgekit.stats.student import student_t_p, student_t_quantile
from judgekit.stats.tests import holm, mcnemar_p, paired_shares_interval

EPSILON = 1e-9
"""Values closer than this count as equal: sums in different orders differ by rounding."""
IntervalKind = Literal["t", "bootstrap"]
Range = tuple[float | None, float | None]
Figure = TypeVar("Figure", MeanDifference, Flips)
ALPHA = 0.05
"""Family-wise error rate: the probability of at least one false alarm over all metric tests."""


class ComparisonSettings(NamedTuple):
    """The settings of a comparison; `compare` describes them."""

    cluster: str | None = None
    interval: IntervalKind = "t"
    detect: float | None = None
    across_rubrics: bool = False
    allow_same: bool = False
    by: str | None = None


class Differences:
    """The differences of one figure over pairs of cases.

    For a pass/fail figure, whose values are all at the ends of the range, the test is the exact
    McNemar test; for other figures, it is the paired t test. With clusters, it is a t test on
    clusters.

    Args:
        name: the metric or the criterion.
        range: the bounds of a value; `None` for no bound.
        higher_is_better: the direction of the figure.
        clustered: whether cases come in clusters.
        interval: the method of the interval of a mean difference.
    """

    def __init__(
        self,
        name: str,
        *,
        range: Range,
        higher_is_better: bool = True,
        clustered: bool = False,
        interval: IntervalKind = "t",
    ) -> None:
        self._name = name
        self._range = range
        self._sign = 1 if higher_is_better else -1
        self._base, self._new = MeanInterval(), MeanInterval()
        self._all = FigureValues(clustered=clustered)
        self.spread = self._all.spread
        """Mean and standard error of the differences; clustered if cases come in clusters."""
        self._steps = array("d") if interval == "bootstrap" else None
        self._least, self._most = math.inf, -math.inf
        self._at_ends = None not in range
        self.worse = self.better = 0

    def add(self, base: float, new: float, cluster: Hashable) -> None:
        """Add one pair."""
        step = new - base
        if abs(step) < EPSILON:
            step = 0.0
        self._at_ends = self._at_ends and self._at_end(base) and self._at_end(new)
        self._base.add(base)
        self._new.add(new)
        self._least, self._most = min(self._least, step), max(self._most, step)
        self._all.add(step, cluster)
        if self._steps is not None:
            self._steps.append(step)
        self.worse += step * self._sign < 0
        self.better += step * self._sign > 0

    def _at_end(self, value: float) -> bool:
        return any(end is not None and abs(value - end) < EPSILON for end in self._range)

    @property
    def pairs(self) -> int:
        """The number of pairs."""
        return self._all.rows.n

    @property
    def pass_fail(self) -> bool:
        """Whether all values are at the ends of the range."""
        return self._at_ends and self.pairs > 0

    @property
    def width(self) -> float | None:
        """The largest possible difference; `None` without bounds."""
        low, high = self._range
        return None if low is None or high is None else high - low

    def finish(self, *, detect: float | None = None) -> MeanDifference:
        """Return the figures.

        Args:
            detect: the difference for which to compute the number of cases.
        """
        figures = self.spread
        mean, error = figures.mean, figures.standard_error
        # Rounding must not give equal differences a standard deviation.
        equal = self._most - self._least < EPSILON
        p, test = self._test(figures, equal=equal)
        verdict: Verdict = "unknown" if p is None else "unclear"
        if equal and mean == 0:
            verdict = "same"
        low, high = self._interval(figures, equal=equal) or (None, None)
        # The independent units are cases or clusters; `sd` is their standard deviation.
        size = self.pairs if figures.clusters is None else figures.clusters
        sd = None
        if error and not equal and low is not None and high is not None:
            # The interval may be wider than its standard error alone: few differences, or flips.
            # An end at the bound of the range is cut off, so the larger side counts.
            half = (high - low) / 2 if mean is None else max(mean - low, high - mean)
            sd = max(error, half / student_t_quantile(TAIL, size - 1)) * math.sqrt(size)
        least = None if sd is None else detectable(sd, size)
        if least is not None and self.width is not None and least > self.width:
            least = None
        count = needed_range(sd, size, detect) if sd is not None and detect is not None else None
        return MeanDifference(
            name=self._name,
            pairs=self.pairs,
            base=self._base.mean,
            new=self._new.mean,
            mean=mean,
            low=low,
            high=high,
            worse=self.worse,
            better=self.better,
            clusters=figures.clusters,
            standard_error=0.0 if equal and error is not None else error,
            df=None if error is None else figures.df,
            p=p,
            test=test,
            verdict=verdict,
            too_few=None if low is not None else figures.too_few or self._too_few_draws(),
            detectable=least,
            wanted=detect if count is not None else None,
            more=None if count is None else max(0, count.low - size),
            more_high=None if count is None or count.high is None else max(0, count.high - size),
        )

    def _interval(self, figures: MeanSpread, *, equal: bool) -> tuple[float, float] | None:
        width, changed = self.width, self.worse + self.better
        if figures.too_few:
            return None
        if figures.clusters is None and self.pass_fail and width and self._steps is None:
            ways = (self.better, self.worse)
            up, down = ways if self._sign > 0 else reversed(ways)
            low, high = paired_shares_interval(up, down, self.pairs)
            return low * width, high * width
        bounds = (None, None) if width is None else (-width, width)
        if equal and figures.mean is not None:
            return mean_interval(figures.mean, 0.0, figures.df, bounds=bounds, changed=changed)
        if self._steps is not None:
            from judgekit.stats.bootstrap import bootstrap_interval

            interval = bootstrap_interval(self._steps) if self._too_few_draws() is None else None
            return (interval.low, interval.high) if interval else None
        return figures.interval(bounds=bounds, changed=changed)

    def _too_few_draws(self) -> str | None:
        """Return why there are too few pairs for the bootstrap."""
        if self._steps is None:
            return None
        from judgekit.stats.bootstrap import too_few

        if self.worse + self.better < CHANGED:
            return f"fewer than {CHANGED} pairs differ"
        width = math.inf if self.width is None else self.width
        return too_few(self._steps, bounds=(-width, width))

    def _test(self, figures: MeanSpread, *, equal: bool) -> tuple[float | None, str]:
        """Return p and the name of the test; `None` if there is nothing to test."""
        mean, error = figures.mean, figures.standard_error
        if figures.clusters is None and self.pass_fail:
            flips = self.worse + self.better
            return mcnemar_p(self.worse, self.better) if flips else None, "exact McNemar"
        # Equal differences have no variance, so their mean cannot be tested.
        if mean is None or not error or equal or figures.too_few:
            return None, ""
        kind = "paired t" if figures.clusters is None else "paired t by cluster"
        return student_t_p(mean / error, figures.df), kind


def judged(comparisons: Sequence[Comparison]) -> tuple[Comparison, ...]:
    """Return comparisons with the verdicts of their tests, corrected per family.

    Means and verdicts of all metrics form one family; criteria form another. The mean of a
    pass/fail metric is its pass rate, so both share one test.
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
        same = comparison.same_answers == comparison.pairs
        metrics = [
            _judged(m, means[id(m)], flips[id(m)], parts, same) if m.refused is None else m
            for m in comparison.metrics
        ]
        metrics.sort(key=lambda m: (_ORDER[m.verdict], m.refused is not None))
        update = {"metrics": tuple(metrics), "tests": count}
        with_verdicts.append(comparison.model_copy(update=update))
    return tuple(with_verdicts)


def _judged(
    metric: MetricComparison, mean: float | None, flips: float | None,
    parts: Iterator[float | None], same_answers: bool,
) -> MetricComparison:  # fmt: skip
    """Return a metric with its adjusted p values, and the verdicts of its tests.

    The same answers cannot be better or worse: then only the judging differs.
    """
    moved: tuple[Verdict, Verdict] = ("worse", "better")
    if same_answers:
        moved = ("judged lower", "judged higher")
    criteria = [_tested(part, next(parts), part.mean or 0.0, moved) for part in metric.criteria]
    gain = metric.difference.mean or 0.0
    if not same_answers and not metric.higher_is_better:
        gain = -gain
    criteria.sort(key=lambda part: (_ORDER[part.verdict], part.mean or 0.0))
    update: dict[str, Any] = {"criteria": tuple(criteria)}
    update["difference"] = _tested(metric.difference, mean, gain, moved)
    if (one := metric.flips) is not None:
        update["flips"] = _tested(one, flips, one.to_pass - one.to_fail, moved)
    return metric.model_copy(update=update)


_ORDER: Mapping[Verdict, int] = {
    "worse": 0, "judged lower": 0, "unclear": 1, "better": 2, "judged higher": 2, "same": 3,
    "unknown": 4,
}  # fmt: skip


def _tested(
    figure: Figure, adjusted: float | None, gain: float, moved: tuple[Verdict, Verdict]
) -> Figure:
    """Return a figure with its adjusted p value, and a verdict by the sign of its change."""
    verdict = figure.verdict
    if adjusted is not None and adjusted < ALPHA and gain:
        verdict = moved[gain > 0]
    return figure.model_copy(update={"adjusted": adjusted, "verdict": verdict})
