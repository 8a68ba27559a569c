"""Exports for spreadsheets: CSV and Excel workbooks, with a row per case."""

from __future__ import annotations

import csv
import io
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgekit.core.errors import ConfigError, needs_extra
from judgekit.report.export.target import named, written
from judgekit.report.table import EXPORTED, exported_rows, run_table
from judgekit.report.wide import rounded, wide_table

if TYPE_CHECKING:
    from judgekit.report.report import Report

# Characters that begin a formula in a spreadsheet, including full-width forms.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
GUARD = "'"
"""Prefix of a text that a spreadsheet would run as a formula."""
BOM = b"\xef\xbb\xbf"
"""Without it, Excel reads UTF-8 as the code page of the system."""
MAX_CELL = 32_767
"""Characters of a cell, and the next two rows and columns of a sheet: Excel's limits,
https://support.microsoft.com/office/excel-specifications-and-limits"""
MAX_ROWS = 1_048_576
MAX_COLUMNS = 16_384
_CREATOR = "judgekit"
_WIDTHS = {"input": 50, "output": 50, "reference": 40, "baseline": 50, "reason": 60}
"""Widths of columns with long texts, in characters, by the last part of their names."""


def write_csv(report: Report, path: Path) -> None:
    """Write a run as CSV with a row per case, in constant memory.

    Raises:
        ConfigError: the file cannot be written, or the results cannot be read.
    """
    table = wide_table(report)
    _write_rows(path, list(table.columns), table.rows(), begin=BOM)


def write_long_csv(report: Report, path: Path) -> None:
    """Write a run as CSV with a row per case and metric, in constant memory.

    Raises:
        ConfigError: the file cannot be written, or the results cannot be read.
    """
    _write_rows(path, list(EXPORTED), exported_rows(report))


def _write_rows(
    path: Path, columns: list[str], rows: Iterable[Mapping[str, Any]], *, begin: bytes = b""
) -> None:
    with written(path) as file:
        file.write(begin)
        text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=False)
        lines = csv.writer(text, lineterminator="\n")
        lines.writerow([_cell(name) for name in columns])
        for row in rows:
            lines.writerow([_cell(row.get(name)) for name in columns])
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
    # Some spreadsheets ignore leading white space.
    return GUARD + text if text.startswith(_FORMULA) or text.lstrip().startswith(_FORMULA) else text


def write_excel(report: Report, path: Path) -> None:
    """Write a run as an Excel workbook: a sheet with a row per case, and one with the figures.

    Raises:
        ConfigError: the file cannot be written, the results cannot be read, or there are more than
            a sheet holds.
        MissingExtra: openpyxl is not installed.
    """
    with needs_extra("writing Excel workbooks", "excel"):
        import openpyxl
    table = wide_table(report)
    if report.figures.cases >= MAX_ROWS or len(table.columns) > MAX_COLUMNS:
        message = f"a sheet has {MAX_ROWS:,} rows and {MAX_COLUMNS:,} columns; write csv instead"
        raise ConfigError(message, where=str(path))
    book = openpyxl.Workbook(write_only=True)
    book.properties.creator = _CREATOR
    _fill(book.create_sheet("Cases"), list(table.columns), table.rows())
    figures = run_table(report.figures.metrics)
    rows = zip(*(column.values for column in figures), strict=True)
    entries = (dict(zip(figures.names, row, strict=True)) for row in rows)
    _fill(book.create_sheet("Metrics"), list(figures.names), entries)
    with written(path) as file:
        # A zip archive is written with seeks, which a pipe does not have.
        whole = io.BytesIO()
        book.save(whole)
        file.write(whole.getbuffer())


def _fill(sheet: Any, columns: list[str], rows: Iterable[Mapping[str, Any]]) -> None:
    from openpyxl.utils import get_column_letter

    sheet.freeze_panes = "B2"
    for number, name in enumerate(columns, start=1):
        width = _WIDTHS.get(name.rpartition(".")[2], min(40, max(10, len(name) + 2)))
        sheet.column_dimensions[get_column_letter(number)].width = width
    sheet.append([_excel_cell(sheet, name) for name in columns])
    for row in rows:
        sheet.append([_excel_cell(sheet, row.get(name)) for name in columns])


def _excel_cell(sheet: Any, value: Any) -> Any:
    """Return a cell; a text is stored as text, so it cannot become a formula."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        return rounded(value)
    from openpyxl.cell import WriteOnlyCell

    text = named(str(value))
    if len(text) > MAX_CELL // 2:  # Excel counts units of UTF-16
        units = text.encode("utf-16-le", "replace")
        if len(units) > 2 * MAX_CELL:
            mark = f"… (cut: {len(text):,} characters)"
            kept = units[: 2 * (MAX_CELL - len(mark))]
            text = kept.decode("utf-16-le", "ignore") + mark
    cell = WriteOnlyCell(sheet, value=text)
    cell.data_type = "s"
    # Otherwise the text becomes a formula when a person edits the cell.
    cell.quotePrefix = text != guarded(text)
    return cell


def is_our_csv(head: bytes, _: Path) -> bool:
    """Return whether a file that begins with these bytes is a CSV export of any version."""
    return head.startswith((BOM + b"case,", b"case,metric,"))


def is_our_workbook(_: bytes, path: Path) -> bool:
    """Return whether a file is a workbook that judgekit wrote and no person saved since."""
    try:
        with zipfile.ZipFile(path) as archive, archive.open("docProps/core.xml") as file:
            properties = file.read(10_000)
    # The last two: a compression that Python does not know, and an encrypted file.
    except (OSError, KeyError, zipfile.BadZipFile, NotImplementedError, RuntimeError):
        return False
    return (
        f">{_CREATOR}</dc:creator>".encode() in properties and b"lastModifiedBy>" not in properties
    )
