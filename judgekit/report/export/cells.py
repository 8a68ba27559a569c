"""The cells of a run as a table: a row per case and metric, read one case at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from judgekit.core.canonical import canonical_json
from judgekit.datasets.dataframes.table import Kind
from judgekit.report.table import RESULT, Thresholds, result_entry

if TYPE_CHECKING:
    from judgekit.report.report import Report

COLUMNS: Mapping[str, Kind] = {**RESULT, "metadata": "text"}
"""Those of `report.to_pandas()`, and the metadata of the case as one JSON text."""


def cells(report: Report) -> Iterator[dict[str, Any]]:
    """Yield every row by the names of `COLUMNS`, in the order of the cases."""
    thresholds = Thresholds(report.metrics)
    for scored in report.results:
        metadata = canonical_json(scored.case.metadata) if scored.case.metadata else None
        for row in scored.rows:
            yield {**result_entry(row, thresholds), "metadata": metadata}
