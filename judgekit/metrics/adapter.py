"""The one adapter: a function, or a class with `name` and `score`, as a metric."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from inspect import isroutine
from typing import Any, NamedTuple

from judgekit.core.case import Case
from judgekit.core.errors import ConfigError
from judgekit.core.metric_card import Card
from judgekit.core.protocols import Aggregate, Asks, Metric, MetricInfo, MetricLike
from judgekit.core.score import Score

_OPTIONAL = ("range", "higher_is_better", "figures", "made_with", "asks_further", "needs")
"""Attributes of a simple metric that become facts; each has a default."""


class AdaptedMetric(Metric):
    """A simple metric as a full one. Its optional attributes are read here and nowhere else.

    Args:
        given: an object with `name` and `score`. It may have any attribute of `_OPTIONAL`, and
            `options` and `aggregates()`; the fields of a dataclass are its options otherwise.
    """

    __slots__ = ("_info", "given", "name")

    def __init__(self, given: Any) -> None:
        self.given = given
        self.name = given.name
        found = {name: getattr(given, name) for name in _OPTIONAL if hasattr(given, name)}
        options = _attribute(given, "options")
        if not isinstance(options, Mapping):
            named = fields(given) if is_dataclass(given) else ()
            options = {f.name: getattr(given, f.name) for f in named if f.name != "name"}
        self._info = MetricInfo(name=self.name, type=type(given).__name__, options=options, **found)

    def __repr__(self) -> str:
        return repr(self.given)

    def __getattr__(self, name: str) -> Any:
        # What its author added, such as an option, is found where it was before.
        return getattr(object.__getattribute__(self, "given"), name)

    @property
    def range(self) -> tuple[float, float]:
        """Lowest and highest raw value."""
        return self._info.range

    @property
    def higher_is_better(self) -> bool:
        """Direction."""
        return self._info.higher_is_better

    @property
    def figures(self) -> Mapping[str, bool]:
        """Names of the figures `aggregates` adds."""
        return self._info.figures

    def info(self) -> MetricInfo:
        """Return the facts about this metric."""
        return self._info

    def aggregates(self) -> Sequence[Aggregate]:
        """Return new aggregates for one run."""
        made = _attribute(self.given, "aggregates")
        return () if made is None else tuple(made())

    async def score(self, case: Case) -> Score:
        """Return the score of one case."""
        score: Score = await self.given.score(case)
        return score


def _attribute(given: Any, name: str) -> Any:
    return getattr(given, name, None)


class ClassFacts(NamedTuple):
    """What the class or function that makes a metric tells before one is made."""

    range: tuple[float, float] = (0.0, 1.0)
    higher_is_better: bool = True
    asks: Asks = "nothing"
    files: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    card: Card | None = None
    figures: Mapping[str, bool] | None = None
    """`None` where they depend on the options."""


def class_facts(made: Any) -> ClassFacts:
    """Return what a metric's class, a function that makes one, or a metric tells about itself."""
    found = {name: _attribute(made, name) for name in ClassFacts._fields}
    if not isinstance(made, type) or not issubclass(made, Metric):
        found = {name: value for name, value in found.items() if value is not None}
        found.setdefault("figures", {})
    # A property is known only of a metric that is made.
    found = {name: value for name, value in found.items() if not isinstance(value, property)}
    return ClassFacts(**found)


def is_metric(given: object) -> bool:
    """Return whether something is a metric, or an object with `name` and `score`."""
    if isinstance(given, Metric):
        return True
    simple = all(_attribute(given, name) is not None for name in ("name", "score"))
    return simple and not isinstance(given, type)


def as_metric(given: MetricLike) -> Metric:
    """Return anything that can score a case as a metric.

    Args:
        given: a `Metric`, which is returned as it is; an object with `name` and `score`; or a
            function of a case, which scores on 0..1 under its own name.

    Raises:
        ConfigError: it is none of these.
    """
    if isinstance(given, Metric):
        return given
    if is_metric(given):
        return AdaptedMetric(given)
    if isroutine(given) and given.__name__ != "<lambda>":
        from judgekit.metrics.function import FunctionMetric

        return FunctionMetric(name=given.__name__, function=given)
    raise ConfigError(f"{given!r} is not a metric; make one: judgekit.create({given!r})")
