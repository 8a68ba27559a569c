"""Names to metrics: the built-in ones, and those that installed packages offer."""

from __future__ import annotations

import inspect
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any

from judgekit.catalogue import BUILTIN
from judgekit.errors import ConfigError
from judgekit.filemodel import near
from judgekit.protocols import Judge, Metric
from judgekit.rubric.shelf import library_names

GROUP = "judgekit.metrics"


def metric_names() -> list[str]:
    """Return every name that `create` knows: metrics, built-in rubrics, installed plugins."""
    return sorted(
        {*BUILTIN, *library_names(), *(point.name for point in entry_points(group=GROUP))}
    )


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
    entry = BUILTIN.get(name)
    if entry is not None:
        made = getattr(import_module(entry.module), entry.attribute)
        options = {**entry.preset, **options}
        return build(entry.name, made, judged=entry.judged, judge=judge, options=options)
    if name in library_names():
        from judgekit.metrics.rubric import RubricMetric

        return build(
            name, RubricMetric, judged=True, judge=judge, options={"rubric": name, **options}
        )
    for point in entry_points(group=GROUP):
        if point.name == name:
            try:
                made = point.load()
            except Exception as exc:
                raise ConfigError(
                    f"metric {name!r} of {point.value} cannot be loaded: {exc}"
                ) from exc
            takes = "judge" in inspect.signature(made).parameters
            return build(name, made, judged=takes, judge=judge, options=options)
    raise ConfigError(f"no metric named {name!r}{near(name, metric_names())}")


def build(
    name: str, made: Any, *, judged: bool, judge: Judge | None, options: dict[str, Any]
) -> Metric:
    """Make a metric from its class and options.

    Raises:
        ConfigError: an option it does not take, or one it lacks.
    """
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
