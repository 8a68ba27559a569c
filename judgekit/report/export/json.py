"""The report of a run as JSON: what `judgekit run --json` prints."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from judgekit.report.export.target import written

if TYPE_CHECKING:
    from judgekit.report.report import Report


def report_json(report: Report) -> str:
    """Return figures, gates, manifest and the facts of this execution as JSON."""
    data = {**report.figures.model_dump(mode="json"), "run": report.run}
    return json.dumps(data, ensure_ascii=False, indent=1, sort_keys=True)


def write(report: Report, path: Path) -> None:
    """Write the report of a run as JSON.

    Raises:
        ConfigError: the file cannot be written.
    """
    with written(path) as file:
        file.write(f"{report_json(report)}\n".encode("utf-8", "replace"))
