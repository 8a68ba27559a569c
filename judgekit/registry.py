"""Names to metrics: the built-in ones, and those that installed packages offer."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import is_dataclass, replace
from importlib import import_module
from types import MappingProxyType
from typing import Any, NamedTuple, cast

from judgekit.catalogue import BUILTIN
from judgekit.errors import ConfigError
from judgekit.filemodel import near
from judgekit.offers import offers
from judgekit.protocols import Judge, Metric
from judgekit.rubric.shelf import library_names

GROUP = "judgekit.metrics"


def metric_names() -> list[str]:
    """Return every name that `create` knows: metrics, built-in rubrics, installed plugins."""
    return sorted({*BUILTIN, *library_names(), *(offer.name for offer in offers(GROUP))})


def create(name: str, /, *, judge: Judge | None = None, **options: Any) -> Metric:
    """Make a metric by name.

    Args:
        name: a built-in metric or rubric, or one an installed package offers.
        judge: for metrics that ask one.
        options: what the metric takes.

    Raises:
        ConfigError: no such metric, an option it does not take, or a judge is missing.

    Example:
        >>> create("length", unit="words", maximum=120).name
        'length'
    """
    maker = find(name)
    return build(
        name,
        maker.made,
        judged=maker.judged,
        judge=judge,
        options={**maker.preset, **options},
    )


class Maker(NamedTuple):
    """What a name stands for."""

    made: Any
    """A class or function that makes the metric, or a metric ready-made."""
    judged: bool
    preset: Mapping[str, Any] = MappingProxyType({})

    def takes(self, option: str) -> bool:
        """Return whether the metric has an option of that name."""
        if isinstance(self.made, type) or not isinstance(self.made, Metric):
            return option in inspect.signature(self.made).parameters
        return option == "name" and is_dataclass(self.made)

    @property
    def wants(self) -> str:
        """What a judged metric asks for: a verdict, or a model's `logprobs`."""
        return str(getattr(self.made, "wants", "verdict"))

    @property
    def files(self) -> tuple[str, ...]:
        """The options that name files, which a suite has beside it: `files` of the class."""
        found: tuple[str, ...] = getattr(self.made, "files", ())
        return found


def find(name: str) -> Maker:
    """Return what makes a metric: built-in, of a built-in rubric, or of an installed package.

    Raises:
        ConfigError: no metric has that name, or the package that offers it cannot be loaded.
    """
    entry = BUILTIN.get(name)
    if entry is not None:
        made = getattr(import_module(entry.module), entry.attribute)
        return Maker(made, entry.judged, entry.preset)
    if name in library_names():
        from judgekit.metrics.rubric import RubricMetric

        return Maker(RubricMetric, True, {"rubric": name})
    for offer in offers(GROUP):
        if offer.name == name:
            try:
                made = offer.load()
            except Exception as exc:
                raise ConfigError(
                    f"metric {name!r} of {offer.value} cannot be loaded: {exc}"
                ) from exc
            maker = Maker(made, judged=False)
            return maker._replace(judged=maker.takes("judge"))
    raise ConfigError(f"no metric named {name!r}{near_metric(name)}")


def near_metric(name: str) -> str:
    """Return a hint at the metric that may be meant; there are too many to list in a line."""
    hint = near(name, metric_names())
    return hint if hint.startswith("; did you mean") else "; `judgekit metrics` lists them"


def is_plugin(name: str) -> bool:
    """Return whether an installed package offers a metric of that name; nothing is loaded."""
    return name not in BUILTIN and any(offer.name == name for offer in offers(GROUP))


def shared_options(judged: str, stand_in: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of a judged metric that its stand-in takes as well."""
    makers = (find(judged), find(stand_in))
    return {
        option: value
        for option, value in options.items()
        if option not in ("name", "judge") and all(maker.takes(option) for maker in makers)
    }


def build(
    name: str, made: Any, *, judged: bool, judge: Judge | None, options: dict[str, Any]
) -> Metric:
    """Make a metric from its class and options.

    Raises:
        ConfigError: an option it does not take, or one it lacks.
    """
    if not isinstance(made, type) and isinstance(made, Metric):
        return _renamed(name, made, options)
    parameters = inspect.signature(made).parameters
    known = list(parameters)
    for option in options:
        if option not in known:
            hint = near(option, [k for k in known if k != "judge"])
            raise ConfigError(f"metric {name!r} takes no option {option!r}{hint}")
    for needed in parameters.values():
        required = needed.default is needed.empty and needed.kind is needed.KEYWORD_ONLY
        if required and needed.name not in (*options, "judge"):
            raise ConfigError(f"metric {name!r} needs the option {needed.name!r}")
    if judged:
        if judge is None:
            raise ConfigError(f"metric {name!r} needs a judge")
        options = {**options, "judge": judge}
    try:
        built: Metric = made(**options)
    except TypeError as exc:
        raise ConfigError(f"metric {name!r}: {exc}") from exc
    return built


def _renamed(name: str, ready: Metric, options: Mapping[str, Any]) -> Metric:
    """Return a ready-made metric, such as a decorated function, under the name wanted."""
    for option in options:
        if option != "name" or not is_dataclass(ready):
            raise ConfigError(f"metric {name!r} takes no option {option!r}")
    if not options:
        return ready
    renamed: Any = replace(ready, **options)  # type: ignore[type-var]
    return cast("Metric", renamed)
