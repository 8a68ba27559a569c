"""Metrics by name: built-in ones, those of this process, and those of installed packages."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import is_dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from judgekit.core.arguments import check_call, checked
from judgekit.core.entry_points import offers
from judgekit.core.errors import ConfigError, UnknownOption, WrongArgument
from judgekit.core.generation import (
    current,
    last_with_metric,
    metric_version,
    newest,
    of_generation,
)
from judgekit.core.protocols import Asks, JudgeLike, Metric
from judgekit.core.suggest import suggest
from judgekit.core.synonyms import synonym
from judgekit.metrics.adapter import (
    as_metric,
    class_facts,
    is_metric,
    option_of,
    parameter_of,
)
from judgekit.metrics.catalogue import BUILTIN
from judgekit.rubric.library import library_names
from judgekit.rubric.versions import VersionedName

if TYPE_CHECKING:
    from judgekit.metrics.function import FunctionMetric, ScoringFunction

GROUP = "judgekit.metrics"

_registered: dict[str, FunctionMetric] = {}
"""Name -> the metric that the decorator `metric` made in this process."""


def metric_names() -> list[str]:
    """Return every name that `create_metric` accepts.

    These are the built-in metrics and rubrics, the functions decorated with `metric` in this
    process, and the metrics of installed packages.
    """
    offered = (offer.name for offer in offers(GROUP))
    return sorted({*BUILTIN, *library_names(), *_registered, *offered})


def metric(
    name: str,
    *,
    range: tuple[float, float] = (0.0, 1.0),
    higher_is_better: bool = True,
    needs: tuple[str, ...] = ("output",),
) -> Callable[[ScoringFunction], FunctionMetric]:
    """Turn a function of a case into a metric, and register it under its name.

    `create_metric(name)` and suites that run in this process find it by this name. If the same
    function of the same module is decorated again, as when a notebook cell runs again, it replaces
    the earlier definition.

    Args:
        name: the name in results and suites.
        range: minimum and maximum value.
        higher_is_better: whether a higher value is better.
        needs: fields of the case that must not be empty.

    Raises:
        ConfigError: another metric or rubric has that name, or an option is invalid.

    Example:
        >>> @metric("polite")
        ... def polite(case):
        ...     return "please" in case.output
        >>> create_metric("polite") is polite
        True
    """
    if callable(name):
        raise ConfigError('give the metric a name: @metric("polite")')
    from judgekit.metrics.function import FunctionMetric

    facts: Any = {"range": range, "higher_is_better": higher_is_better, "needs": needs}
    try:
        check_call(metric, (name,), facts)
    except WrongArgument as exc:
        owner = name if isinstance(name, str) else "metric"
        raise WrongArgument(f"{owner}: {exc.problem}", problem=exc.problem) from None

    def wrap(function: ScoringFunction) -> FunctionMetric:
        new_metric = FunctionMetric(name=name, function=function, **facts)
        _check_new(new_metric)
        _registered[name] = new_metric
        return new_metric

    return wrap


def _check_new(new_metric: FunctionMetric) -> None:
    """Refuse a name that another metric or rubric has."""
    owner = None
    if new_metric.name in BUILTIN or new_metric.name in library_names():
        owner = f"a built-in {'metric' if new_metric.name in BUILTIN else 'rubric'}"
    elif (earlier := _registered.get(new_metric.name)) and not _same_function(earlier, new_metric):
        owner = _home(earlier)
    if owner is not None:
        raise ConfigError(
            f"the name {new_metric.name!r} belongs to {owner};"
            f" give the metric {_home(new_metric)} another name"
        )


def _same_function(one: FunctionMetric, other: FunctionMetric) -> bool:
    """Return whether two metrics come from one definition that ran twice.

    A module that is imported under two names, as with `python -m`, is the same file.
    """
    codes = [getattr(each.function, "__code__", None) for each in (one, other)]
    files = [(code.co_filename, code.co_qualname) for code in codes if code is not None]
    return _home(one) == _home(other) or (len(files) == 2 and files[0] == files[1])


def _home(registered: FunctionMetric) -> str:
    """Return `module.function`."""
    function: Any = registered.function
    kind = type(function)
    module = getattr(function, "__module__", kind.__module__)
    return f"{module}.{getattr(function, '__qualname__', kind.__qualname__)}"


@checked
def create_metric(name: str, /, *, judge: JudgeLike | None = None, **options: Any) -> Metric:
    """Create a metric by name.

    Args:
        name: name of a built-in metric or rubric, or of one in an installed package.
        judge: the judge, for metrics that need one.
        options: options of the metric.

    Raises:
        ConfigError: there is no such metric, an option is unknown, or the judge is missing.

    Example:
        >>> create_metric("length", unit="words", maximum=120).name
        'length'
    """
    maker = find(name)
    return maker.build(judge=judge, options={**maker.preset, **options})


class Maker(NamedTuple):
    """The constructor of a metric, by name."""

    name: str
    factory: Any
    """A class or function that creates the metric, or a ready-made metric."""
    judged: bool
    preset: Mapping[str, Any] = MappingProxyType({})
    generation: int | None = None
    """The generation of the built-in rubrics that bare names mean; by default that of the suite."""

    @property
    def rubrics(self) -> frozenset[str]:
        """The rubrics of a built-in metric, by name."""
        if not self.takes("rubric"):
            return frozenset()
        default = inspect.signature(self.factory).parameters["rubric"].default
        named = (self.preset.get("rubric", default), getattr(self.factory, "listing", ""))
        return frozenset(name for name in named if isinstance(name, str) and name)

    def of_generation(self) -> AbstractContextManager[None]:
        """Return a context in which bare names of rubrics mean those of its generation."""
        return of_generation(self.generation or current())

    def takes(self, option: str) -> bool:
        """Return whether the metric has an option of that name."""
        if not is_metric(self.factory):
            return parameter_of(option) in inspect.signature(self.factory).parameters
        return option == "name" and is_dataclass(self.factory)

    @property
    def asks(self) -> Asks:
        """The requests that it sends to a model."""
        return class_facts(self.factory).asks

    @property
    def files(self) -> tuple[str, ...]:
        """The options that are file paths, relative to the suite: `files` of the class."""
        return class_facts(self.factory).files

    def build(self, *, judge: JudgeLike | None, options: dict[str, Any]) -> Metric:
        """Create the metric from its options.

        Raises:
            ConfigError: an option is unknown, or a required one is missing.
        """
        name = self.name
        if is_metric(self.factory):
            return _renamed(name, self.factory, options)
        parameters = inspect.signature(self.factory).parameters
        known = [option_of(parameter) for parameter in parameters if parameter != "judge"]
        for option in options:
            if option not in known:
                raise UnknownOption(name, option, known, hint=suggest(option, known))
        for needed in parameters.values():
            required = needed.default is needed.empty and needed.kind is needed.KEYWORD_ONLY
            if required and needed.name not in (*options, "judge"):
                raise ConfigError(f"metric {name!r} needs the option {needed.name!r}; add it")
        if self.judged:
            if judge is None:
                raise ConfigError(f"metric {name!r} needs a judge; give it one: judge=...")
            options = {**options, "judge": judge}
        try:
            with self.of_generation():
                return as_metric(self.factory(**{parameter_of(n): v for n, v in options.items()}))
        except WrongArgument as exc:
            # The options of a file are no arguments, and the caller knows its line.
            raise ConfigError(exc.problem.partition("; write ")[0]) from exc
        except TypeError as exc:
            raise ConfigError(f"metric {name!r}: {exc}") from exc


def find(name: str) -> Maker:
    """Return the maker of a metric: built-in, of a built-in rubric, registered, or installed.

    Raises:
        ConfigError: no metric has that name, two have it, or the package that offers it cannot
            be loaded.
    """
    entry = BUILTIN.get(name)
    if entry is not None:
        return Maker(name, entry.load(), entry.judged, entry.preset)
    if name in library_names():
        return rubric_maker(name)._replace(preset={"rubric": name})
    if (maker := _of_version(name)) is not None:
        return maker
    for offer in offers(GROUP):
        if offer.name == name:
            try:
                factory = offer.load()
            except Exception as exc:
                message = f"metric {name!r} of {offer.value} cannot be loaded: {exc}"
                raise ConfigError(message) from exc
            if (own := _registered.get(name)) is not None and own is not factory:
                raise ConfigError(
                    f"two metrics are named {name!r}: {offer.value} of {offer.package}, and"
                    f" {_home(own)}; give one of them another name"
                )
            maker = Maker(name, factory, judged=False)
            return maker._replace(judged=maker.takes("judge"))
    if name in _registered:
        return Maker(name, _registered[name], judged=False)
    raise ConfigError(f"no metric named {name!r}{near_metric(name)}")


def _of_version(name: str) -> Maker | None:
    """Return the maker of `NAME@V`: a version of a rubric, or of a metric with other rubrics.

    Raises:
        ConfigError: NAME has no rubric, or there is no such version.
    """
    plain = name.rpartition("@")[0]
    if plain not in BUILTIN and plain not in library_names():
        return None
    maker = find(plain)
    if maker.preset.get("rubric", plain) == plain and maker.takes("rubric"):
        return maker._replace(name=name, preset={**maker.preset, "rubric": name})
    rubrics = maker.rubrics
    if not rubrics:
        raise ConfigError(f"{name!r}: {plain!r} has no rubric, so no versions; write {plain}")
    version = VersionedName.parse(name).version or 0
    generation = last_with_metric(rubrics, version)
    if generation is None:
        known = [f"{plain}@{v}" for v in range(1, metric_version(rubrics, newest()) + 1)]
        message = f"metric {plain!r} has no version {version}, only {', '.join(known)}"
        raise ConfigError(f"{message}; its rubrics are {' and '.join(sorted(rubrics))}")
    return maker._replace(name=name, generation=generation)


def rubric_maker(name: str) -> Maker:
    """Return the maker of a rubric's metric; the rubric is one of its options."""
    from judgekit.metrics.rubric import RubricMetric

    return Maker(name, RubricMetric, judged=True)


def near_metric(name: str) -> str:
    """Return a hint with the most similar name; a list of all names would be too long."""
    if meant := synonym("metric_name", name):
        return meant
    return suggest(name, metric_names(), otherwise="; `judgekit metrics` lists them")


def _renamed(name: str, ready: Any, options: Mapping[str, Any]) -> Metric:
    """Return a ready-made metric, such as a decorated function, under another name."""
    for option in options:
        if option != "name" or not is_dataclass(ready):
            raise UnknownOption(name, option, [], hint="")
    return as_metric(replace(ready, **options) if options else ready)
