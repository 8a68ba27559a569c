"""FunctionMetric: a function as a metric, created by the decorator `judgekit.metric`."""

from __future__ import annotations

import inspect
import math
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import SupportsFloat

from judgekit.core.case import Case, has_text, is_given
from judgekit.core.errors import ConfigError
from judgekit.core.protocols import Metric
from judgekit.core.score import Score
from judgekit.metrics._options import check_flag, check_name, lacking, text_options
from judgekit.metrics.computed import not_applicable

FunctionResult = SupportsFloat | bool | None | Score | tuple[SupportsFloat | bool | None, str]
"""What a function of a case may return."""

ScoringFunction = Callable[[Case], FunctionResult | Awaitable[FunctionResult]]


@dataclass(frozen=True, kw_only=True, slots=True)
class FunctionMetric(Metric):
    """A metric that computes its value with a function, in a declared range.

    The function may be a coroutine function; a plain function runs on the event loop and should be
    fast. It returns a number, true or false (1 or 0), `None` if the metric is not applicable, a
    pair of one of these and a reason, or a complete `Score`.
    """

    name: str
    function: ScoringFunction
    range: tuple[float, float] = (0.0, 1.0)
    higher_is_better: bool = True
    needs: tuple[str, ...] = ("output",)
    """Fields that the case must have. An empty answer is there; another empty field is not."""

    def __post_init__(self) -> None:
        check_name("metric", self.name)
        check_flag(self.name, "higher_is_better", self.higher_is_better)
        object.__setattr__(self, "needs", text_options(self.name, "needs", self.needs))
        unknown = [field for field in self.needs if field not in Case.model_fields]
        if unknown:
            raise ConfigError(f"{self.name}: needs: {unknown[0]!r} is not a field of a case")
        if isinstance(self.function, type):
            raise ConfigError(
                f"{self.name}: a class is not a function; create an object of it and use that,"
                " or register the class as an entry point of judgekit.metrics"
            )
        if not callable(self.function):
            raise ConfigError(f"{self.name}: not a function: {self.function!r}")
        if len(self.range) != 2 or not self.range[0] < self.range[1]:
            raise ConfigError(f"{self.name}: range must be (low, high), not {self.range!r}")

    def __call__(self, case: Case) -> FunctionResult | Awaitable[FunctionResult]:
        """Call the function without checks, so the decorated function stays usable and testable."""
        return self.function(case)

    async def score(self, case: Case) -> Score:
        """Score one case.

        Raises:
            CaseError: a needed field is missing.
            ValueError: the function returned no number, or one outside the range.
        """
        for field in self.needs:
            if not _filled(field, getattr(case, field)):
                raise lacking(field)
        outcome = self.function(case)
        if inspect.isawaitable(outcome):
            outcome = await outcome
        if isinstance(outcome, Score):
            if outcome.value is not None:
                self._checked(outcome.value)
            return outcome
        value, reason = self._pair(outcome)
        if value is None:
            return not_applicable(
                reason or "The function says that it does not apply.", method="function"
            )
        return Score(value=self._checked(value), reason=reason, method="function")

    def _pair(self, outcome: object) -> tuple[object, str]:
        if not isinstance(outcome, tuple):
            return outcome, ""
        if len(outcome) != 2:
            message = f"{self.name}: returned {len(outcome)} items, not a value and a reason"
            raise ValueError(message)
        value, reason = outcome
        if not isinstance(reason, str):
            raise ValueError(f"{self.name}: the reason must be a text, not {reason!r:.200}")
        return value, reason

    def _checked(self, value: object) -> float:
        if not isinstance(value, SupportsFloat):
            raise ValueError(f"{self.name}: returned {value!r:.200}, which is not a number")
        number = float(value)
        low, high = self.range
        if not (math.isfinite(number) and low <= number <= high):
            message = f"{self.name}: returned {number}, outside its range {low:g} to {high:g}"
            raise ValueError(message)
        return number


def _filled(field: str, value: object) -> bool:
    if isinstance(value, str):
        return is_given(field, value)
    if isinstance(value, tuple) and all(isinstance(text, str) for text in value):
        return any(has_text(text) for text in value)
    return bool(value)
