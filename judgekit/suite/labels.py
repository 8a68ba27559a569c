"""The labels of a suite, with which its runs correct their means."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from judgekit.core.errors import ConfigError
from judgekit.core.protocols import Metric
from judgekit.core.wrong_file import nearby
from judgekit.report.manifest import full_manifest
from judgekit.suite.overrides import SuiteSettings

if TYPE_CHECKING:
    from judgekit.report.run_labels import RunLabels


def read_run_labels(settings: SuiteSettings, *, metrics: Sequence[Metric]) -> RunLabels | None:
    """Return the labels of a suite; `None` if it names none.

    Args:
        settings: the suite; if all its metrics run, some label must be about one of them.
        metrics: the metrics to run.

    Raises:
        ConfigError: the file cannot be read, or a label is no answer to its criterion.
    """
    labels_file = settings.file.labels
    if labels_file is None:
        return None
    from judgekit.report.corrector import correctors_of
    from judgekit.report.run_labels import RunLabels

    path = settings.base / labels_file
    if not path.is_file():
        hint = nearby(path) or "; check the path"
        raise ConfigError(
            f"no such file of labels: {labels_file}{hint}", where=settings.where("labels")
        )
    labels = RunLabels.read(path)
    ranges = {one.name: one.range for one in metrics}
    whole = not settings.overrides.only
    correctors_of(labels, ranges, full_manifest(metrics, {}), whole=whole)
    return labels
