"""Read cases from a sheet of an Excel workbook; needs the `excel` extra."""

from __future__ import annotations

import re
import shlex
import zipfile
from collections.abc import Iterator
from datetime import date, datetime, time
from itertools import islice
from pathlib import Path
from typing import Any

from judgekit.core.case import Case
from judgekit.core.errors import DatasetError, needs_extra, place
from judgekit.core.suggest import suggest
from judgekit.datasets.csv_reader import header_names
from judgekit.datasets.formatting import quoted
from judgekit.datasets.row_builder import RowBuilder
from judgekit.datasets.stream import MAX_ROW, translated

MAX_UNPACKED = 256 * 2**20
"""Maximum size of a workbook, in unpacked bytes: its texts are held in memory."""
MAX_FILES = 10_000
"""Maximum number of files in a workbook, which is a zip archive."""
MAX_ROWS = 1_048_576
"""Number of rows of a sheet of Excel; a file may claim more, and each would be yielded."""
MAX_COLUMNS = 16_384
"""Number of columns of a sheet of Excel."""
_LOOKED_AT = 100
"""Number of rows in which a sheet must have a cell to count as one with cells."""
_CELL = rb"[A-Z]{1,3}[0-9]{1,7}"
_NO_VALUE = re.compile(
    rb'<c r="(' + _CELL + rb')"([^<>]{0,200})>\s?'
    rb"<f(?:[^<>]{0,200}/>|[^<>]{0,200}>[^<>]{0,8192}</f>)\s?(?:<v ?/>|<v></v>)?\s?</c>"
)
"""A cell with a formula and nothing after it, which is a value in a cell of type str."""
_MERGED = re.compile(rb'<mergeCell ref="(' + _CELL + rb":" + _CELL + rb')"')
_ERRORS = frozenset({"#NULL!", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#N/A"})
"""The values of formulas that failed: ECMA-376 part 1, 18.17.3."""


def read_excel(
    path: Path, *, name: str, builder: RowBuilder, sheet: str | None = None
) -> Iterator[tuple[str | int, Case]]:
    """Yield the case of every row of a sheet with its number; the first row is the header.

    An empty cell is a missing value, and a row of empty cells is skipped. Of a formula, the value
    that was stored with it counts; one without a value is an error, and so are merged cells, which
    have only one. Numbers, times and truth values become text, as in CSV.

    Args:
        path: the workbook.
        name: its name in messages.
        builder: makes cases of rows.
        sheet: the sheet; by default the only one that has cells.

    Raises:
        MissingExtra: openpyxl is not installed.
        DatasetError: the workbook cannot be read, or a row is not a case.
    """
    with translated(name):
        _check_size(path, name)
    with needs_extra("reading Excel workbooks", "excel"):
        import openpyxl
    with path.open("rb") as file:  # openpyxl leaves the file of a damaged workbook open
        try:
            book = openpyxl.load_workbook(file, read_only=True, data_only=True, keep_links=False)
        except Exception as exc:
            raise _unreadable(exc, name) from exc
        try:
            chosen = _chosen(book, sheet, name)
            _check_cells(path, chosen, name)
            yield from _cases(chosen, name, builder)
        finally:
            book.close()


def _check_size(path: Path, name: str) -> None:
    """Check what a workbook unpacks to before anything is unpacked."""
    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
    except zipfile.BadZipFile as exc:
        message = "not an Excel workbook (.xlsx); save it as one, or as CSV"
        raise DatasetError(message, where=name) from exc
    if len(entries) > MAX_FILES or sum(entry.file_size for entry in entries) > MAX_UNPACKED:
        limit = f"{MAX_UNPACKED // 2**20} MB or {MAX_FILES:,} files"
        raise DatasetError(f"unpacks to more than {limit}; save the sheet as CSV", where=name)


def _chosen(book: Any, sheet: str | None, name: str) -> Any:
    titles = [one.title for one in book.worksheets]
    if sheet is not None:
        if sheet not in titles:
            raise DatasetError(f"no sheet {quoted(sheet)}{suggest(sheet, titles)}", where=name)
        return book[sheet]
    full = [one for one in book.worksheets if _has_cells(one, name)]
    if not full:
        raise DatasetError("there are no cells in it; check that it was saved", where=name)
    if len(full) > 1:
        known = ", ".join(quoted(one.title) for one in full[:5])
        advice = f"name one: --sheet {shlex.quote(full[0].title)}, or cases: {{sheet: ...}}"
        message = f"several sheets have cells ({known}); {advice}"
        raise DatasetError(message, where=name)
    return full[0]


def _check_cells(path: Path, sheet: Any, name: str) -> None:
    """Check that no cell of a sheet lacks the value that a reader of the sheet would see.

    openpyxl reads both as an empty cell, so this looks at the XML of the sheet.
    """
    with zipfile.ZipFile(path) as archive:
        try:
            # openpyxl has no other name for the file of a sheet.
            text = archive.open(sheet._worksheet_path).read(MAX_UNPACKED)
        except (KeyError, zipfile.BadZipFile, OSError):
            return  # openpyxl says what is wrong with it
    formulas = _NO_VALUE.finditer(text)
    if cells := [match[1].decode() for match in formulas if b't="str"' not in match[2]]:
        more = f" and {len(cells) - 1:,} more" if len(cells) > 1 else ""
        what = "is a formula" if len(cells) == 1 else "are formulas"
        message = f"cell {cells[0]}{more} {what} without a stored value"
        advice = "save it in Excel or LibreOffice, which stores the values, or as CSV"
        raise DatasetError(f"{message}; {advice}", where=name)
    if ranges := [match[1].decode() for match in _MERGED.finditer(text)]:
        more = f" and {len(ranges) - 1:,} more" if len(ranges) > 1 else ""
        message = f"the cells {ranges[0]}{more} are merged, and only the first has the value"
        raise DatasetError(f"{message}; unmerge them, and fill in the rest", where=name)


def _has_cells(sheet: Any, name: str) -> bool:
    rows = islice(_rows(sheet, name), _LOOKED_AT)
    return any(cell is not None for cells in rows for cell in cells)


def _rows(sheet: Any, name: str) -> Iterator[tuple[Any, ...]]:
    try:
        yield from sheet.iter_rows(values_only=True, max_row=MAX_ROWS)
    except Exception as exc:
        raise _unreadable(exc, name) from exc


def _cases(sheet: Any, name: str, builder: RowBuilder) -> Iterator[tuple[str | int, Case]]:
    header: list[str] | None = None
    for number, cells in enumerate(_rows(sheet, name), start=1):
        where = place(name, number)
        if len(cells) > MAX_COLUMNS:
            raise DatasetError(f"a row of {len(cells):,} cells; save the sheet as CSV", where=where)
        texts = [_text_of(cell, where) for cell in cells]
        while texts and texts[-1] is None:
            texts.pop()
        if not texts:
            continue
        if sum(len(text or "") for text in texts) > MAX_ROW:
            raise DatasetError(f"the row is longer than {MAX_ROW // 2**20} MB", where=where)
        if header is None:
            header = header_names([text or "" for text in texts], where)
        elif len(texts) > len(header):
            problem = (
                f"a row of {len(texts)} cells under a header of {len(header)}; name its column"
            )
            yield number, builder.unreadable(DatasetError(problem, where=where))
        else:
            row = dict.fromkeys(header) | dict(zip(header, texts, strict=False))
            yield number, builder.build(row, where=where)


def _text_of(cell: Any, where: str) -> str | None:
    """Return a cell as text; `None` if it is empty."""
    if cell is None or cell == "":
        return None
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 2**53:
        return str(int(cell))
    if isinstance(cell, datetime) and cell.time() == time():
        return cell.date().isoformat()
    if isinstance(cell, date | time):
        return cell.isoformat()
    text = str(cell)
    if text in _ERRORS:
        raise DatasetError(f"a cell is the error {text} of Excel; correct it", where=where)
    return text


def _unreadable(exc: Exception, name: str) -> DatasetError:
    reason = " ".join(str(exc).split())[:200] or type(exc).__name__
    return DatasetError(
        f"cannot be read as an Excel workbook ({reason}); save it again", where=name
    )
