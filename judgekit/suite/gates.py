"""The gates and labels of a suite, and the checks of them before a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgekit.core.errors import ConfigError, placed
from judgekit.core.input_file import nearby
from judgekit.core.protocols import Metric
from judgekit.report.gate import gates_of
from judgekit.report.manifest import full_manifest
from judgekit.report.report import Report
from judgekit.runner.gatekeeper import check_corrected, open_baseline
from judgekit.suite.file import GateFile
from judgekit.suite.overrides import SuiteSettings

if TYPE_CHECKING:
    from judgekit.report.run_labels import RunLabels


WrittenGates = Mapping[str, Any] | Sequence[Mapping[str, Any]]
"""The gates of a metric in the file: one gate as a mapping, several as a list."""


def written_gates(gates: GateFile | list[GateFile]) -> dict[str, Any] | list[dict[str, Any]]:
    """Return gates in the form of the file: one gate as a mapping, several as a list."""
    several = gates if isinstance(gates, list) else [gates]
    given = [
        {key: value for key, value in gate if key in gate.model_fields_set} for gate in several
    ]
    return given if isinstance(gates, list) else given[0]


def listed(gates: Mapping[str, Any] | Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return a list of the gates."""
    return [gates] if isinstance(gates, Mapping) else list(gates)


def check_gates(metric: Metric, gates: WrittenGates | None, *, settings: SuiteSettings) -> None:
    """Check that gates can be evaluated and that their bounds are in the range of the metric.

    Args:
        metric: the metric.
        gates: its gates.
        settings: the suite; gates on corrected means need its labels.

    Raises:
        ConfigError: with the line of the setting.
    """
    threshold = settings.file.metrics[metric.name].threshold
    if gates is not None:
        with placed(settings.where("metrics", metric.name, "gate")):
            for gate in gates_of(metric.name, gates, threshold=threshold, figures=metric.figures):
                if settings.file.labels is None:
                    check_corrected(gate, None, None)
    low, high = metric.range
    bounds = {"threshold": threshold}
    for written in listed(gates or {}):
        bounds.update({f"gate.{s}": b for s, b in written.items() if s in ("mean", "min", "max")})
    for setting, bound in bounds.items():
        if bound is not None and not low <= bound <= high:
            from judgekit.suite.hints import percent_hint

            values = f"{low:g} to {high:g} before any scale{percent_hint(bound, low, high)}"
            message = f"{setting} {bound:g} is outside the values of {metric.name!r}, {values}"
            where = settings.where("metrics", metric.name, *setting.split("."))
            raise ConfigError(message, where=where)


def baseline_of(settings: SuiteSettings, gates: Mapping[str, WrittenGates]) -> Report | None:
    """Return the run that `not_worse` compares with; `None` if no gate uses it.

    Raises:
        ConfigError: a gate uses `not_worse`, and the run is not named or cannot be read.
    """
    flag = settings.overrides.baseline
    folder = flag or settings.file.gate.baseline
    comparing = [
        name for name, own in gates.items() if any("not_worse" in gate for gate in listed(own))
    ]
    if comparing and folder is None:
        advice = "add gate: {baseline: FOLDER} at the top, or --baseline FOLDER"
        message = f"metric {comparing[0]!r}: not_worse needs a run to compare with; {advice}"
        raise ConfigError(message, where=settings.where("metrics", comparing[0], "gate"))
    if folder is None or not (comparing or flag):
        return None
    return open_baseline(Path(folder) if flag else settings.base / folder)


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

    path = settings.base / labels_file
    if not path.is_file():
        message = f"no such file of labels: {labels_file}{nearby(path) or '; check the path'}"
        raise ConfigError(message, where=settings.where("labels"))
    labels = RunLabels.read(path)
    ranges = {one.name: one.range for one in metrics}
    correctors_of(labels, ranges, full_manifest(metrics, {}), whole=not settings.overrides.only)
    return labels
