"""WithFallback: a metric that another metric replaces when its judge is unavailable."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field

from judgekit.core.canonical import visible
from judgekit.core.case import Case
from judgekit.core.errors import BudgetExceeded, JudgeUnavailable
from judgekit.core.protocols import Aggregate, Metric
from judgekit.core.score import Fallback, Score, checked_score
from judgekit.metrics._options import check_flag
from judgekit.metrics.adapter import as_metric

_MAX_CAUSE = 300


@dataclass(frozen=True, slots=True)
class WithFallback(Metric):
    """Scores with a metric, or with another one if its judge is unavailable.

    The result keeps the metric's name, range and direction; its `fallback` names the replacement
    and the cause. Only `JudgeUnavailable` (and `BudgetExceeded`, with `on_budget`) uses the
    fallback; every other error is raised.
    """

    metric: Metric
    fallback: Metric
    _: KW_ONLY
    validated = True
    no_judge: bool = False
    """Never call the judge: every score comes from the fallback."""
    on_budget: bool = False
    """Also use the fallback when the cost limit is reached."""
    name: str = field(init=False, repr=False, compare=False)
    range: tuple[float, float] = field(init=False, repr=False, compare=False)
    """The metric's range; a fallback's value is mapped to it."""
    higher_is_better: bool = field(init=False, repr=False, compare=False)
    figures: Mapping[str, bool] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "metric", as_metric(self.metric))
        object.__setattr__(self, "fallback", as_metric(self.fallback))
        for fact in ("name", "range", "higher_is_better", "figures"):
            object.__setattr__(self, fact, getattr(self.metric, fact))
        check_flag(self.name, "no_judge", self.no_judge)
        check_flag(self.name, "on_budget", self.on_budget)
        self._mapped(self.fallback.range[0])  # refuses scales that cannot be mapped

    @property
    def synchronous(self) -> bool:
        """Whether scoring never waits, with either metric."""
        return self.fallback.synchronous and (self.no_judge or self.metric.synchronous)

    def aggregates(self) -> Sequence[Aggregate]:
        """Return the aggregates of the metric."""
        return self.metric.aggregates()

    def children(self) -> tuple[Metric, ...]:
        """Return the metric and its fallback."""
        return (self.metric, self.fallback)

    async def score(self, case: Case) -> Score:
        """Score one case.

        Raises:
            JudgekitError: any error of the metric except an outage, or an error of the fallback.
        """
        if self.no_judge:
            return await self._substitute(case, "no_judge")
        try:
            return await checked_score(self.metric, case)
        except JudgeUnavailable as exc:
            cause = f"unavailable: {_one_line(exc)}"
        except BudgetExceeded as exc:
            if not self.on_budget:
                raise
            cause = f"budget: {_one_line(exc)}"
        return await self._substitute(case, cause)

    def _mapped(self, value: float) -> float:
        """Return a value of the fallback on the scale of the metric."""
        metric, fallback = self.metric, self.fallback
        same_range = tuple(metric.range) == tuple(fallback.range)
        if same_range and metric.higher_is_better == fallback.higher_is_better:
            return value
        from judgekit.metrics.weights import Scale

        return Scale.of(metric).value(Scale.of(fallback).goodness(value))

    async def _substitute(self, case: Case, cause: str) -> Score:
        score = await checked_score(self.fallback, case)
        # If the fallback has a fallback itself, name the one that computed the score.
        substitute = score.fallback.substitute if score.fallback else self.fallback.name
        return score.model_copy(
            update={
                "value": None if score.value is None else self._mapped(score.value),
                "source": "computed",
                "fallback": Fallback(substitute=substitute, cause=cause),
            }
        )


def _one_line(exc: Exception) -> str:
    text = " ".join(visible(str(exc)).split())
    return text if len(text) <= _MAX_CAUSE else text[:_MAX_CAUSE] + "…"
