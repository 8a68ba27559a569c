"""The gates and labels of a suite, and the checks of them before a run."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from judgekit.core.case import Case
from judgekit.core.errors import ConfigError, placed
from judgekit.core.file_model import FileModel
from judgekit.core.input_file import home_path, nearby
from judgekit.core.protocols import Metric
from judgekit.core.suggest import suggest
from judgekit.datasets.selection import MOST as MOST_FIELDS
from judgekit.datasets.selection import fields_of, values_in
from judgekit.report.gate import Gate, gates_of
from judgekit.report.manifest import full_manifest
from judgekit.report.report import Report
from judgekit.runner.gatekeeper import check_corrected, open_baseline
from judgekit.stats.clusters import FEWEST as FEWEST_CLUSTERS
from judgekit.suite.file import GateFile
from judgekit.suite.overrides import SuiteSettings

if TYPE_CHECKING:
    from judgekit.report.run_labels import RunLabels


class SuiteGates(NamedTuple):
    """The gates of the metrics of a suite."""

    gates: tuple[Gate, ...]
    """The gates that a run checks."""
    written: dict[str, dict[str, Any] | list[dict[str, Any]]]
    """Metric -> its gates as the file has them: one as a mapping, several as a list."""
    unchecked: list[str]
    """Metrics whose gates are not checked, because the run has no judge."""


def read_gates(
    settings: SuiteSettings, metrics: Sequence[Metric], *, unjudged: Collection[str] = ()
) -> SuiteGates:
    """Parse the gates of a suite, and check them and the thresholds against the metrics.

    Args:
        settings: the suite; gates on corrected means need its labels.
        metrics: the metrics to run.
        unjudged: names of metrics whose scores come from fallbacks, because the run has no judge;
            a bound for scores of a judge does not apply to them.

    Raises:
        ConfigError: a gate cannot be evaluated, or a bound is out of range; with its line.
    """
    gates: list[Gate] = []
    written = {}
    for metric in metrics:
        entry = settings.file.metrics[metric.name]
        _check_range(metric, entry.threshold, "threshold", settings=settings)
        if not entry.gate:
            continue
        as_written = _written(entry.gate)
        with placed(settings.where("metrics", metric.name, "gate")):
            own = gates_of(
                metric.name, as_written, threshold=entry.threshold, figures=metric.figures
            )
            for gate in own:
                if settings.file.labels is None:
                    check_corrected(gate, None, None)
        for gate in own:
            if gate.statistic in _SCORES and gate.at_most is None:
                _check_range(metric, gate.bound, "gate", gate.statistic, settings=settings)
        if metric.name not in unjudged:
            gates += own
            written[metric.name] = as_written
    with_gates = {metric.name for metric in metrics if settings.file.metrics[metric.name].gate}
    return SuiteGates(tuple(gates), written, sorted(with_gates & set(unjudged)))


_SCORES = ("mean", "min", "max")
"""Statistics in the unit of the scores."""


def _written(gates: GateFile | list[GateFile]) -> dict[str, Any] | list[dict[str, Any]]:
    several = gates if isinstance(gates, list) else [gates]
    given = [
        {
            key: value.model_dump() if isinstance(value, FileModel) else value
            for key, value in gate
            if key in gate.model_fields_set
        }
        for gate in several
    ]
    return given if isinstance(gates, list) else given[0]


def _check_range(metric: Metric, bound: float | None, *path: str, settings: SuiteSettings) -> None:
    """Check that a bound is in the range of the metric."""
    low, high = metric.range
    if bound is None or low <= bound <= high:
        return
    from judgekit.suite.hints import percent_hint

    values = f"{low:g} to {high:g} before any scale{percent_hint(bound, low, high)}"
    message = f"{'.'.join(path)} {bound:g} is outside the values of {metric.name!r}, {values}"
    raise ConfigError(message, where=settings.where("metrics", metric.name, *path))


def check_fields(settings: SuiteSettings, gates: Sequence[Gate], cases: Iterable[Case]) -> None:
    """Check that cases have the metadata fields of gates and clusters, before a call costs money.

    Reads cases only until each field was seen.

    Raises:
        ConfigError: no case has a field of a gate, or of the clusters; with its line.
    """
    wanted: dict[tuple[str, str], str] = {}
    for gate in gates:
        place = settings.where("metrics", gate.metric, "gate")
        wanted |= dict.fromkeys((("where", field) for field in gate.where), place)
        if gate.cluster is not None:
            wanted.setdefault(("cluster", gate.cluster), place)
    if settings.file.cluster is not None:
        wanted["cluster", settings.file.cluster] = settings.where("cluster")
    if not wanted:
        return
    known: dict[str, None] = {}
    count = 0
    for count, case in enumerate(cases, start=1):  # noqa: B007
        for kind, field in list(wanted):
            own = case.metadata.get(field) is not None
            if own or (kind == "where" and values_in(case.metadata, field)):
                del wanted[kind, field]
        if not wanted:
            return
        if len(known) < MOST_FIELDS:
            known |= dict.fromkeys(fields_of(case.metadata))
    for (kind, field), place in wanted.items():
        # With fewer cases there is no interval that clusters could widen.
        if count >= (FEWEST_CLUSTERS if kind == "cluster" else 1):
            hint = suggest(field, sorted(known), otherwise="; name a field of the cases")
            message = f"{kind}: no case has {field!r} in its metadata{hint}"
            raise ConfigError(message, where=place)


def baseline_of(settings: SuiteSettings, gates: Sequence[Gate]) -> Report | None:
    """Return the run that `not_worse` compares with; `None` if no gate uses it.

    Raises:
        ConfigError: a gate uses `not_worse`, and the run is not named or cannot be read.
    """
    flag = settings.overrides.baseline
    folder = flag or settings.file.gate.baseline
    comparing = [gate.metric for gate in gates if gate.races]
    if comparing and folder is None:
        advice = "add gate: {baseline: FOLDER} at the top, or --baseline FOLDER"
        message = f"metric {comparing[0]!r}: not_worse needs a run to compare with; {advice}"
        raise ConfigError(message, where=settings.where("metrics", comparing[0], "gate"))
    if folder is None or not (comparing or flag):
        return None
    return open_baseline(Path(folder) if flag else settings.base / home_path(folder))


def read_run_labels(settings: SuiteSettings, *, metrics: Sequence[Metric]) -> RunLabels | None:
    """Return the labels of a suite; `None` if it names none.

    Args:
        settings: the suite; if all its metrics run, at least one label must belong to one of them.
        metrics: the metrics to run.

    Raises:
        ConfigError: the file cannot be read, or a label is not a valid answer to its criterion.
    """
    labels_file = settings.file.labels
    if labels_file is None:
        return None
    from judgekit.report.corrector import correctors_of
    from judgekit.report.run_labels import RunLabels

    path = settings.base / home_path(labels_file)
    if not path.is_file():
        message = f"no such file of labels: {labels_file}{nearby(path) or '; check the path'}"
        raise ConfigError(message, where=settings.where("labels"))
    labels = RunLabels.read(path)
    ranges = {one.name: one.range for one in metrics}
    correctors_of(labels, ranges, full_manifest(metrics, {}), whole=not settings.overrides.only)
    return labels
