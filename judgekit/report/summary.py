"""The figures of one metric over a run, computed row by row in constant memory."""

import heapq
import math
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from pydantic import Field

from judgekit.core.case import Case, has_text
from judgekit.core.left_out import is_left_out
from judgekit.core.protocols import Aggregate
from judgekit.core.score import Failure, Part, Result, Row, Score
from judgekit.core.value import Displayed, Value, sparse
from judgekit.metrics.criteria.texts import own_texts
from judgekit.report.constant import AnswerTally, ConstantAnswers
from judgekit.report.corrected import CorrectedMean
from judgekit.report.opinions import OpinionSummary, OpinionTally
from judgekit.report.own_criteria import RecurringTally, TagSummary, TagTally
from judgekit.report.thresholds import FEW, passes
from judgekit.stats.clusters import FigureValues
from judgekit.stats.intervals import Bounds, MeanInterval, wilson

if TYPE_CHECKING:
    from judgekit.core.display.parts import DisplayPart as Shown
    from judgekit.report.corrector import Corrector

T = TypeVar("T")

_NOT_RUN = ("not_run", "pending")
WORST = 20
"""Number of worst cases in a summary."""
BINS = 20
"""Number of histogram bins over the metric's range."""


_COUNTED = (
    *("rows", "judged", "computed", "fallback", "abstained", "not_applicable"),
    *("empty_answers", "left_out"),
)


class CriterionSummary(Value):
    """One criterion over a run, without scores of a fallback, as in the metric's mean."""

    id: str
    scored: int
    mean: float | None
    low: float | None
    high: float | None
    """95 % interval of the mean, within 0..1; `None` for too few values."""
    abstained: int
    not_applicable: int
    weight: float | None
    """Mean share of the metric's value, over all values it has: a criterion that was left open
    counts 0, and all positive shares add up to 1. `None` where criteria have no shares, because
    the lowest or the highest of them decides."""
    clusters: int | None = None
    """Number of clusters; `None` if cases are independent."""
    too_few: str | None = None
    """Why there is no interval."""
    corrected: CorrectedMean | None = sparse(default=None)
    """The mean corrected with labels; `None` without labels."""
    constant: ConstantAnswers | None = sparse(default=None)
    """The judge gives nearly every case the same answer, or probabilities near chance."""


class Worst(Value):
    """A bad case."""

    case: str
    value: float
    reason: str


class MetricSummary(Displayed, Value):
    """One metric over a run. Only `mean_with_fallback` includes fallback values."""

    metric: str
    """Name of the metric."""
    range: tuple[float | None, float | None]
    """Lowest and highest value; `None` for no bound."""
    higher_is_better: bool
    """Whether a higher value is better."""
    threshold: float | None
    """The value that a case must reach to pass; `None` without one."""
    scale: float
    """Number by which tables and pages multiply values to show them; 1 for values as they are."""
    rows: int
    """Number of rows: one for each case."""
    judged: int
    """Rows with a value from a judge."""
    computed: int
    """Rows with a value computed without a judge."""
    fallback: int
    """Rows with a value of the fallback, which is not in the mean."""
    abstained: int
    """Rows without a value because the judge, or a tie of judges, left it open."""
    not_applicable: int
    """Rows to which the metric does not apply."""
    failed: int
    """Rows without a value because something failed; `failures` has the reasons."""
    not_run: int
    """Rows that were not scored, for example because the run was stopped."""
    failures: dict[str, int]
    """Kind of failure -> number of rows; includes `not_run` and `pending`."""
    mean: float | None
    """Mean of the metric's own values; `None` without any."""
    low: float | None
    """Lower end of the interval of the mean."""
    high: float | None
    """95 % interval of the mean, inside the range (see `statistics.mean_interval`); `None` where
    there are too few values."""
    sd: float | None
    """Sample standard deviation (n - 1)."""
    minimum: float | None
    """Lowest value."""
    maximum: float | None
    """Highest value."""
    mean_with_fallback: float | None
    """Mean that includes the values of the fallback."""
    passed: int | None
    """Rows that reach the threshold; `None` without one."""
    pass_rate: float | None
    """Share of scored rows that reach the threshold; `None` without one."""
    pass_low: float | None
    """Lower end of the interval of the pass rate."""
    pass_high: float | None
    """95 % interval of the pass rate: Wilson's, or `statistics.mean_interval` with clusters."""
    histogram: tuple[int, ...]
    """Counts over equal bins of the range; empty if the range is unbounded."""
    criteria: tuple[CriterionSummary, ...] = ()
    """The criteria of the rubric; or those of cases that recur, by their text."""
    tags: tuple[TagSummary, ...] = sparse(default=())
    """The tags of criteria that cases have themselves."""
    worst: tuple[Worst, ...] = ()
    """The cases with the worst values, the worst first."""
    first_failure: str | None = None
    """Message of the first failed row."""
    figures: dict[str, float | None] = Field(default_factory=dict)
    """The metric's own aggregates over all rows; `None` without values."""
    clusters: int | None = None
    """Number of clusters of scored rows; `None` if rows are independent."""
    standard_error: float | None = None
    """Standard error of the mean; CR2 with clusters (see `clustered.cr2`)."""
    pass_standard_error: float | None = None
    """Standard error of the pass rate."""
    df: float | None = None
    """Degrees of freedom of the interval of the mean, by Satterthwaite; only with clusters."""
    too_few: str | None = None
    """Why there is no interval."""
    opinions: OpinionSummary | None = sparse(default=None)
    """Figures of several samples or judges; `None` if each row has one opinion."""
    corrected: CorrectedMean | None = sparse(default=None)
    """The mean corrected with labels; `None` without labels."""
    empty_answers: int = sparse(default=0)
    """Rows with a score of an answer without a word."""
    left_out: int = sparse(default=0)
    """Rows with a score of a judge that was not shown the whole case (`details.shown`)."""

    def _parts_shown(self) -> "Iterable[Shown]":
        from judgekit.report.display import summary_parts

        return summary_parts(self)

    def passes(self, value: float | None) -> bool | None:
        """Return whether a value passes; `None` without a value or a threshold."""
        return passes(value, self.threshold, self.higher_is_better)

    @property
    def constant_lines(self) -> list[str]:
        """The criteria whose answers hardly depend on the case, as sentences."""
        return [f"{one.id}: {one.constant.sentence}" for one in self.criteria if one.constant]

    @property
    def scored(self) -> int:
        """Number of rows with a value of the metric itself, not of a fallback."""
        return self.judged + self.computed

    @property
    def pending(self) -> int:
        """Number of rows that wait for a batch job; they count as `not_run`, too."""
        return self.failures.get("pending", 0)

    @property
    def independent(self) -> int:
        """Number of independent values: clusters, or scored rows without clusters."""
        return self.scored if self.clusters is None else self.clusters

    @property
    def few(self) -> bool:
        """Whether intervals are unreliable, because there are fewer than 30 independent values."""
        return 0 < self.independent < FEW

    @property
    def flawed(self) -> tuple[Worst, ...]:
        """The worst cases, without perfect ones."""
        best = self.range[1] if self.higher_is_better else self.range[0]
        return tuple(worst for worst in self.worst if worst.value != best)

    @property
    def interval(self) -> tuple[float, float] | None:
        """The interval of the mean; for runs of earlier versions, clipped to the range."""
        if self.low is None or self.high is None:
            return None
        least, most = self.range
        low = self.low if least is None else max(least, self.low)
        return low, self.high if most is None else min(most, self.high)


class Largest(Generic[T]):
    """Keeps the entries with the largest keys, in constant memory.

    Args:
        most: maximum number of entries.

    >>> largest = Largest[str](2)
    >>> for key, word in (((1.0,), "one"), ((3.0,), "three"), ((2.0,), "two")):
    ...     largest.add(key, word)
    >>> list(largest)
    ['three', 'two']
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._heap: list[tuple[tuple[float, ...], T]] = []

    def add(self, key: tuple[float, ...], entry: T) -> None:
        """Add an entry; keys must be unique."""
        if len(self._heap) < self._most:
            heapq.heappush(self._heap, (key, entry))
        elif key > self._heap[0][0]:
            heapq.heapreplace(self._heap, (key, entry))

    def __len__(self) -> int:
        return len(self._heap)

    def __iter__(self) -> Iterator[T]:
        for _, entry in sorted(self._heap, key=lambda pair: pair[0], reverse=True):
            yield entry


class _CriterionTally:
    def __init__(self, *, clustered: bool) -> None:
        self.figures = FigureValues(clustered=clustered)
        self.states: Counter[str] = Counter()
        """Return the numbers of rows without a score, by reason."""
        self.weight = 0.0
        self.answers = AnswerTally()

    def add_part(self, part: Part, cluster: Hashable, *, weighs: bool, judged: bool = True) -> None:
        if part.value is None:
            self.states[part.status] += 1
            return
        self.figures.add(part.value, cluster)
        if judged:
            self.answers.add(part)
        if weighs:
            self.weight += part.weight

    def finish(self, id: str, *, values: int, weighs: bool) -> CriterionSummary:
        return CriterionSummary(
            id=id,
            scored=self.figures.rows.n,
            abstained=self.states["abstained"],
            not_applicable=self.states["not_applicable"],
            weight=self.weight / values if weighs else None,
            constant=self.answers.finish(),
            **mean_figures(self.figures, (0.0, 1.0)),
        )


def mean_figures(values: FigureValues, bounds: Bounds) -> dict[str, Any]:
    """Return the mean of values with its 95 % interval, or the reason why it has none."""
    spread = values.spread
    low, high = spread.interval(bounds=bounds) or (None, None)
    figures = {"mean": spread.mean, "low": low, "high": high, "clusters": spread.clusters}
    return {**figures, "too_few": values.too_few(bounds)}


@dataclass(eq=False, repr=False)
class Tally:
    """Counts the results of one metric.

    Args:
        metric: its name.
        range: the smallest and the largest possible value.
        higher_is_better: its direction.
        threshold: the value that a case must reach to pass.
        aggregates: its aggregates over all rows, in addition to the mean.
        clustered: whether results have clusters; intervals are clustered then.
        corrector: corrects its means with labels.
    """

    metric: str
    _: KW_ONLY
    range: tuple[float, float]
    higher_is_better: bool
    threshold: float | None
    aggregates: Sequence[Aggregate] = ()
    clustered: bool = False
    corrector: "Corrector | None" = None

    def __post_init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._failures: Counter[str] = Counter()
        self._own = FigureValues(clustered=self.clustered)
        self._rate = FigureValues(clustered=self.clustered)
        """1 for a pass, 0 for a fail."""
        self._all = MeanInterval()
        self._minimum, self._maximum = math.inf, -math.inf
        self._passed = 0
        self._scale = 1.0
        self._criteria: dict[str, _CriterionTally] = {}
        self._tags = TagTally(clustered=self.clustered)
        self._recurring = RecurringTally(partial(_CriterionTally, clustered=self.clustered))
        self._opinions = OpinionTally(clustered=self.clustered)
        self._worst = Largest[tuple[str, float, str]](WORST)
        self._first_failure: str | None = None
        self._bins = [0] * BINS if self.range[1] - self.range[0] < math.inf else []

    def add(
        self,
        case: str,
        result: Result,
        cluster: Hashable = None,
        output: str | None = None,
        asked: Case | None = None,
    ) -> bool | None:
        """Count one result; labels are matched by the output of the case.

        Return whether its value passes; `None` without a value of the metric itself, or without a
        threshold.

        Args:
            case: the id of the case.
            result: its result.
            cluster: its cluster.
            output: its output.
            asked: the case, if it may have criteria itself.
        """
        if self.corrector is not None:
            self.corrector.add(case, output, result, cluster, asked)
        self._counts["rows"] += 1
        for aggregate in self.aggregates:
            aggregate.add(Row.model_construct(case=case, metric=self.metric, result=result))
        if isinstance(result, Failure):
            self._failures[result.kind] += 1
            self._first_failure = self._first_failure or f"{case}: {result.message}"
            return None
        self._scale = result.scale
        self._counts["empty_answers"] += output is not None and not has_text(output)
        self._counts["left_out"] += is_left_out(result.details)
        if result.fallback is None:
            self._add_parts(result, cluster)
            if result.opinions:
                self._opinions.add(result, cluster)
        if result.value is None:
            self._counts[result.status] += 1
            return None
        self._all.add(result.value)
        if result.fallback is not None:
            self._counts["fallback"] += 1
            return None
        self._counts["judged" if result.source == "judge" else "computed"] += 1
        return self._add_own(case, result, result.value, cluster)

    def _add_parts(self, score: Score, cluster: Hashable) -> None:
        weighs, judged = score.value is not None, score.source == "judge"
        texts = own_texts(score)
        if texts is not None:
            self._tags.add(score, cluster)
            for text, part in zip(texts, score.parts, strict=True):
                self._recurring.add(text, part, cluster, weighs=weighs)
            return
        for part in score.parts:
            criterion = self._criteria.get(part.id)
            if criterion is None:
                criterion = self._criteria[part.id] = _CriterionTally(clustered=self.clustered)
            if part.distribution is not None:
                self._opinions.add_distribution(part.id, part.distribution)
            criterion.add_part(part, cluster, weighs=weighs, judged=judged)

    def _add_own(self, case: str, score: Score, value: float, cluster: Hashable) -> bool | None:
        self._own.add(value, cluster)
        self._minimum = min(self._minimum, value)
        self._maximum = max(self._maximum, value)
        passed = passes(value, self.threshold, self.higher_is_better)
        if passed is not None:
            self._passed += passed
            self._rate.add(float(passed), cluster)
        if self._bins:
            share = (value - self.range[0]) / (self.range[1] - self.range[0])
            self._bins[min(BINS - 1, max(0, int(share * BINS)))] += 1
        badness = -value if self.higher_is_better else value
        self._worst.add((badness, -self._counts["rows"]), (case, value, score.reason[:500]))
        return passed

    def finish(self) -> MetricSummary:
        """Return the figures."""
        own = self._own.spread
        bounds = _bound(self.range[0]), _bound(self.range[1])
        rated = self.threshold is not None and own.n > 0
        pass_low, pass_high = (self._pass_interval() if rated else None) or (None, None)
        criteria = [*self._criteria.items(), *self._recurring.items()]
        weighs = any(tally.weight for _, tally in criteria)
        summary = MetricSummary(
            metric=self.metric,
            range=bounds,
            higher_is_better=self.higher_is_better,
            threshold=self.threshold,
            scale=self._scale,
            **{name: self._counts[name] for name in _COUNTED},
            failed=sum(n for kind, n in self._failures.items() if kind not in _NOT_RUN),
            not_run=sum(self._failures[kind] for kind in _NOT_RUN),
            failures=dict(sorted(self._failures.items())),
            sd=self._own.rows.sd,
            minimum=_bound(self._minimum),
            maximum=_bound(self._maximum),
            mean_with_fallback=self._all.mean if self._counts["fallback"] else None,
            passed=self._passed if rated else None,
            pass_rate=self._passed / own.n if rated else None,
            pass_low=pass_low,
            pass_high=pass_high,
            histogram=tuple(self._bins),
            criteria=tuple(tally.finish(id, values=own.n, weighs=weighs) for id, tally in criteria),
            tags=tuple(
                TagSummary(tag=tag, scored=of.rows.n, **mean_figures(of, (None, 1.0)))
                for tag, of in self._tags.items()
            ),
            worst=tuple(Worst(case=c, value=value, reason=why) for c, value, why in self._worst),
            first_failure=self._first_failure,
            figures={
                name: figure
                for aggregate in self.aggregates
                for name, figure in aggregate.finish().items()
            },
            standard_error=own.standard_error,
            pass_standard_error=self._rate.spread.standard_error,
            df=own.df if self.clustered and own.n else None,
            opinions=self._opinions.finish(),
            **mean_figures(self._own, bounds),
        )
        return summary if self.corrector is None else self.corrector.applied(summary)

    def _pass_interval(self) -> tuple[float, float] | None:
        rate = self._rate.spread
        if rate.clusters is not None:
            return rate.interval(bounds=(0.0, 1.0))
        return wilson(self._passed, rate.n) if rate.too_few is None else None


def _bound(value: float) -> float | None:
    return value if math.isfinite(value) else None
