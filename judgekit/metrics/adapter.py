"""The adapter: turns a function, or an object with `name` and `score`, into a metric."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from inspect import isroutine
from keyword import iskeyword
from typing import Any, NamedTuple

from judgekit.core.case import Case
from judgekit.core.errors import ConfigError
from judgekit.core.protocols import Aggregate, Asks, Card, Metric, MetricInfo, MetricLike
from judgekit.core.score import Score
from judgekit.core.value import described, is_coroutine

_OPTIONAL = ("range", "higher_is_better", "figures", "made_with", "asks_further", "needs")
"""Optional attributes of a simple metric that become facts about it; each has a default."""


class AdaptedMetric(Metric):
    """A simple metric as a complete one; only this class reads its optional attributes.

    Args:
        metric: an object with `name` and `score`. It may have any attribute of `_OPTIONAL`, and
            `options` and `aggregates()`; the default for a dataclass is its fields as options.
    """

    __slots__ = ("_info", "figures", "given", "higher_is_better", "name", "range")
    range: tuple[float, float]
    higher_is_better: bool
    figures: Mapping[str, bool]

    def __init__(self, metric: Any) -> None:
        self.given = metric
        self.name = metric.name
        facts = {name: getattr(metric, name) for name in _OPTIONAL if hasattr(metric, name)}
        options = getattr(metric, "options", None)
        if not isinstance(options, Mapping):
            named = fields(metric) if is_dataclass(metric) else ()
            options = {f.name: getattr(metric, f.name) for f in named if f.name != "name"}
        self._info = MetricInfo(
            name=self.name, type=type(metric).__name__, options=options, **facts
        )
        self.range = self._info.range
        self.higher_is_better = self._info.higher_is_better
        self.figures = self._info.figures

    def __repr__(self) -> str:
        return repr(self.given)

    def __getattr__(self, name: str) -> Any:
        # Other attributes, such as an option, stay available.
        return getattr(object.__getattribute__(self, "given"), name)

    def info(self) -> MetricInfo:
        """Return the facts about this metric."""
        return self._info

    def aggregates(self) -> Sequence[Aggregate]:
        """Return new aggregates for one run."""
        aggregates = getattr(self.given, "aggregates", None)
        return () if aggregates is None else tuple(aggregates())

    async def score(self, case: Case) -> Score:
        """Return the score of one case."""
        score: Score = await self.given.score(case)
        return score


class ClassFacts(NamedTuple):
    """Facts that the class or function of a metric gives before a metric is created."""

    range: tuple[float, float] = (0.0, 1.0)
    higher_is_better: bool = True
    asks: Asks = "nothing"
    files: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    card: Card | None = None
    confidence: str = ""
    figures: Mapping[str, bool] | None = None
    """`None` if they depend on the options."""


def class_facts(maker: Any) -> ClassFacts:
    """Return the facts about a metric from its class, the function that creates it, or itself."""
    facts: dict[str, Any] = {name: getattr(maker, name, None) for name in ClassFacts._fields}
    if not isinstance(maker, type) or not issubclass(maker, Metric):
        facts = {name: value for name, value in facts.items() if value is not None}
        facts.setdefault("figures", {})
    # A property has a value only in an instance.
    facts = {name: value for name, value in facts.items() if not isinstance(value, property)}
    return ClassFacts(**facts)


def is_metric(value: object) -> bool:
    """Return whether an object is a metric, or has `name` and `score`."""
    if isinstance(value, Metric):
        return True
    simple = all(getattr(value, name, None) is not None for name in ("name", "score"))
    return simple and not isinstance(value, type)


def as_metric(metric: MetricLike) -> Metric:
    """Return a metric from any object that can score a case.

    Args:
        metric: a `Metric`, which is returned unchanged; an object with `name` and `score`; or a
            function of a case, which scores on 0..1 and gives the metric its name.

    Raises:
        ConfigError: it is none of these.
    """
    if isinstance(metric, Metric):
        return metric
    if is_metric(metric):
        return AdaptedMetric(metric)
    if isroutine(metric) and metric.__name__ != "<lambda>" and not _is_ours(metric):
        from judgekit.metrics.function import FunctionMetric

        return FunctionMetric(name=metric.__name__, function=metric)
    raise ConfigError(_no_metric(metric))


def _no_metric(metric: object) -> str:
    if isinstance(metric, type):
        name = metric.__name__
        return f"metrics: the class {name} is not a metric; create one: {name}(...)"
    if is_coroutine(metric):
        metric.close()
        return f"metrics: {described(metric)} is not a metric; await it"
    if isinstance(metric, str):
        example = f"judgekit.create_metric({metric!r})"
        return f"metrics: the text {metric!r} is not a metric; create one: {example}"
    if isroutine(metric) and _is_ours(metric):
        example = f"judgekit.{metric.__name__}('length', ...)"
        return f"metrics: {described(metric)} is not a metric; call it: {example}"
    if isroutine(metric):
        return "metrics: a lambda is not a metric, as results need a name; write def NAME(case)"
    return f"metrics: {described(metric)} is not a metric; write metrics=['quality', 'exact_match']"


def _is_ours(value: Any) -> bool:
    """Return whether a function is one of judgekit, such as `create_metric` without a call."""
    return isroutine(value) and str(value.__module__).partition(".")[0] == "judgekit"


def parameter_of(option: str) -> str:
    """Return the parameter of an option: `pass_` for `pass`, which Python reserves."""
    return f"{option}_" if iskeyword(option) else option


def option_of(parameter: str) -> str:
    """Return the option of a parameter: `pass` for `pass_`."""
    plain = parameter.removesuffix("_")
    return plain if iskeyword(plain) else parameter
