"""The labels of a suite, with which its runs correct their means."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from judgekit.core.errors import ConfigError
from judgekit.core.protocols import Metric
from judgekit.core.wrong_file import nearby
from judgekit.report.manifest import full_manifest
from judgekit.suite.file import SuiteFile

if TYPE_CHECKING:
    from judgekit.report.run_labels import RunLabels


def read_run_labels(
    file: SuiteFile, *, base: Path, where: str, metrics: Sequence[Metric], whole: bool
) -> RunLabels | None:
    """Return the labels of a suite; `None` if it names none.

    Args:
        file: the suite.
        base: the folder that paths in it are relative to.
        where: the place of the setting.
        metrics: the metrics to run.
        whole: whether all metrics of the suite run, so that some label must be about one of them.

    Raises:
        ConfigError: the file cannot be read, or a label is no answer to its criterion.
    """
    if file.labels is None:
        return None
    from judgekit.report.corrector import correctors_of
    from judgekit.report.run_labels import RunLabels

    path = base / file.labels
    if not path.is_file():
        hint = nearby(path) or "; check the path"
        raise ConfigError(f"no such file of labels: {file.labels}{hint}", where=where)
    labels = RunLabels.read(path)
    ranges = {one.name: one.range for one in metrics}
    correctors_of(labels, ranges, full_manifest(metrics, {}), whole=whole)
    return labels
