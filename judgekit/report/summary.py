"""The figures of one metric over a run, made row by row in constant memory."""

import heapq
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from pydantic import Field

from judgekit.protocols import Aggregate
from judgekit.report.statistics import MeanInterval, wilson
from judgekit.score import Failure, Result, Row, Score
from judgekit.value import Displayed, Value

if TYPE_CHECKING:
    from judgekit.display.parts import Part as Shown

WORST = 20
"""Cases a summary names as the worst."""
BINS = 20
"""Bins of the histogram over the metric's range."""


class CriterionSummary(Value):
    """One criterion over a run."""

    id: str
    scored: int
    mean: float | None
    low: float | None
    high: float | None
    abstained: int
    not_applicable: int
    weight: float
    """Mean effective weight."""


class Worst(Value):
    """A case that did badly."""

    case: str
    value: float
    reason: str


class MetricSummary(Displayed, Value):
    """One metric over a run. Means leave fallbacks out; `mean_with_fallback` has them in."""

    metric: str
    range: tuple[float | None, float | None]
    """`None` stands for no bound."""
    higher_is_better: bool
    threshold: float | None
    scale: float
    rows: int
    judged: int
    computed: int
    fallback: int
    abstained: int
    not_applicable: int
    failed: int
    not_run: int
    failures: dict[str, int]
    """Kind -> rows; `not_run` among them."""
    mean: float | None
    low: float | None
    high: float | None
    """95 % Student-t interval of the mean; by Wilson where every score is the same."""
    sd: float | None
    """Sample standard deviation (n - 1)."""
    minimum: float | None
    maximum: float | None
    mean_with_fallback: float | None
    passed: int | None
    pass_rate: float | None
    pass_low: float | None
    pass_high: float | None
    """95 % Wilson interval of the pass rate."""
    histogram: tuple[int, ...]
    """Counts over equal bins of the range; empty where the range has no bounds."""
    criteria: tuple[CriterionSummary, ...] = ()
    worst: tuple[Worst, ...] = ()
    first_failure: str | None = None
    figures: dict[str, float | None] = Field(default_factory=dict)
    """What the metric's own aggregates make of all rows; `None` where there is nothing."""

    def _parts_shown(self) -> "Iterable[Shown]":
        from judgekit.report.display import summary_parts

        return summary_parts(self)

    @property
    def scored(self) -> int:
        """Rows with a value of the metric's own, fallbacks left out."""
        return self.judged + self.computed

    @property
    def flawed(self) -> tuple[Worst, ...]:
        """The worst cases, without those that are as good as can be."""
        best = self.range[1] if self.higher_is_better else self.range[0]
        return tuple(worst for worst in self.worst if worst.value != best)

    @property
    def interval(self) -> tuple[float, float] | None:
        """The interval of the mean as it is shown: cut off where the range ends."""
        if self.low is None or self.high is None:
            return None
        least, most = self.range
        return (
            self.low if least is None else max(least, self.low),
            self.high if most is None else min(most, self.high),
        )


class _CriterionTally:
    def __init__(self) -> None:
        self.figures = MeanInterval()
        self.states: Counter[str] = Counter()
        """How often it was not scored, and why."""
        self.weight = 0.0

    def finish(self, id: str) -> CriterionSummary:
        interval = self.figures.interval(bounds=(0.0, 1.0))
        return CriterionSummary(
            id=id,
            scored=self.figures.n,
            mean=self.figures.mean,
            low=interval[0] if interval else None,
            high=interval[1] if interval else None,
            abstained=self.states["abstained"],
            not_applicable=self.states["not_applicable"],
            weight=self.weight / self.figures.n if self.figures.n else 0.0,
        )


class Tally:
    """Counts the results of one metric."""

    def __init__(
        self,
        metric: str,
        *,
        range: tuple[float, float],
        higher_is_better: bool,
        threshold: float | None,
        aggregates: Sequence[Aggregate] = (),
    ) -> None:
        self.metric = metric
        self._aggregates = tuple(aggregates)
        self.range = range
        self.higher_is_better = higher_is_better
        self.threshold = threshold
        self._counts: Counter[str] = Counter()
        self._failures: Counter[str] = Counter()
        self._own = MeanInterval()
        self._all = MeanInterval()
        self._minimum: float | None = None
        self._maximum: float | None = None
        self._passed = 0
        self._scale = 1.0
        self._criteria: dict[str, _CriterionTally] = {}
        self._worst: list[tuple[float, int, Worst]] = []
        self._first_failure: str | None = None
        span = range[1] - range[0]
        self._bins = [0] * BINS if span < float("inf") else []

    def add(self, case: str, result: Result) -> None:
        """Count one result."""
        self._counts["rows"] += 1
        for aggregate in self._aggregates:
            aggregate.add(Row.model_construct(case=case, metric=self.metric, result=result))
        if isinstance(result, Failure):
            self._failures[result.kind] += 1
            self._first_failure = self._first_failure or f"{case}: {result.message}"
            return
        self._scale = result.scale
        for part in result.parts:
            criterion = self._criteria.get(part.id)
            if criterion is None:
                criterion = self._criteria[part.id] = _CriterionTally()
            value = part.value
            if value is None:
                criterion.states[part.status] += 1
            else:
                criterion.figures.add(value)
                criterion.weight += part.weight
        if result.value is None:
            self._counts[result.status] += 1
            return
        self._all.add(result.value)
        if result.fallback is not None:
            self._counts["fallback"] += 1
            return
        self._counts["judged" if result.source == "judge" else "computed"] += 1
        self._add_own(case, result, result.value)

    def _add_own(self, case: str, score: Score, value: float) -> None:
        self._own.add(value)
        self._minimum = value if self._minimum is None else min(self._minimum, value)
        self._maximum = value if self._maximum is None else max(self._maximum, value)
        self._passed += bool(passes(value, self.threshold, self.higher_is_better))
        if self._bins:
            share = (value - self.range[0]) / (self.range[1] - self.range[0])
            self._bins[min(BINS - 1, max(0, int(share * BINS)))] += 1
        badness = -value if self.higher_is_better else value
        place = (badness, -self._counts["rows"])
        if len(self._worst) == WORST and place < self._worst[0][:2]:
            return
        entry = (*place, Worst(case=case, value=value, reason=score.reason[:500]))
        if len(self._worst) < WORST:
            heapq.heappush(self._worst, entry)
        else:
            heapq.heapreplace(self._worst, entry)

    def finish(self) -> MetricSummary:
        """Return the figures."""
        own = self._own
        bounds = _bound(self.range[0]), _bound(self.range[1])
        interval = own.interval(bounds=bounds)
        rated = self.threshold is not None and own.n > 0
        rate = wilson(self._passed, own.n) if rated else None
        return MetricSummary(
            metric=self.metric,
            range=bounds,
            higher_is_better=self.higher_is_better,
            threshold=self.threshold,
            scale=self._scale,
            rows=self._counts["rows"],
            judged=self._counts["judged"],
            computed=self._counts["computed"],
            fallback=self._counts["fallback"],
            abstained=self._counts["abstained"],
            not_applicable=self._counts["not_applicable"],
            failed=sum(n for kind, n in self._failures.items() if kind != "not_run"),
            not_run=self._failures["not_run"],
            failures=dict(sorted(self._failures.items())),
            mean=own.mean,
            low=interval[0] if interval else None,
            high=interval[1] if interval else None,
            sd=own.sd,
            minimum=self._minimum,
            maximum=self._maximum,
            mean_with_fallback=self._all.mean if self._counts["fallback"] else None,
            passed=self._passed if rated else None,
            pass_rate=self._passed / own.n if rated else None,
            pass_low=rate[0] if rate else None,
            pass_high=rate[1] if rate else None,
            histogram=tuple(self._bins),
            criteria=tuple(t.finish(id) for id, t in self._criteria.items()),
            worst=tuple(w for _, _, w in sorted(self._worst, key=lambda e: e[:2], reverse=True)),
            first_failure=self._first_failure,
            figures={
                name: figure
                for aggregate in self._aggregates
                for name, figure in aggregate.finish().items()
            },
        )


def _bound(value: float) -> float | None:
    return value if abs(value) < float("inf") else None


def passes(value: float, threshold: float | None, higher_is_better: bool) -> bool | None:
    """Return whether a value passes its threshold; `None` without one."""
    if threshold is None:
        return None
    return value >= threshold if higher_is_better else value <= threshold
