"""A run as CSV, safe to open in a spreadsheet."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgekit.report.export.marks import named
from judgekit.report.export.target import written
from judgekit.report.table import EXPORTED, exported_rows

if TYPE_CHECKING:
    from judgekit.report.report import Report

# What a spreadsheet takes for a formula, also in the wide forms of East Asian keyboards.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
GUARD = "'"
"""What goes before a text that a spreadsheet would run."""


def write(report: Report, path: Path) -> None:
    """Write a run as CSV, a row per case and metric, in constant memory.

    Raises:
        ConfigError: the file cannot be written, or the results cannot be read.
    """
    with written(path) as file:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=False)
        lines = csv.writer(text, lineterminator="\n")
        lines.writerow(EXPORTED)
        for entry in exported_rows(report):
            lines.writerow([_cell(entry.get(name)) for name in EXPORTED])
        text.flush()
        text.detach()


def _cell(value: Any) -> str:
    """Return a cell; a text cannot become a formula."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    return guarded(named(str(value)))


def guarded(text: str) -> str:
    """Return a text, after an apostrophe if a spreadsheet would run it as a formula.

    >>> guarded("=1+1"), guarded("1+1")
    ("'=1+1", '1+1')
    """
    # Some look past white space before they decide.
    return GUARD + text if text.startswith(_FORMULA) or text.lstrip().startswith(_FORMULA) else text
