"""Read cases from CSV: a header, then one case per row."""

import csv
from collections.abc import Iterator
from itertools import chain
from typing import BinaryIO
from unicodedata import category, normalize

from judgekit.core.case import Case
from judgekit.core.errors import DatasetError, place
from judgekit.datasets.field_names import FIELDS, field_named
from judgekit.datasets.formatting import listed, quoted
from judgekit.datasets.row_builder import RowBuilder
from judgekit.datasets.stream import MAX_ROW, ByteLines

DELIMITERS = (",", ";", "\t")
"""The characters that may separate columns, unless a suite names another one."""


def read_csv(
    stream: BinaryIO, *, name: str, builder: RowBuilder, delimiter: str | None = None
) -> Iterator[tuple[str | int, Case]]:
    """Yield the case of every row with the number of its first line.

    An empty cell is a missing value, and a row of empty cells is skipped: Excel writes such rows at
    the end. A column such as `metadata.topic` is one value of an object.

    Args:
        stream: the file, in UTF-8.
        name: its name in messages.
        builder: makes cases of rows.
        delimiter: the character between columns; by default the one of `DELIMITERS` by which the
            header has the most names of fields, or else the most columns.

    Raises:
        DatasetError: the table cannot be read, or a row is not a case.
    """
    if csv.field_size_limit() < MAX_ROW:
        # The limit applies to the whole process, so it is only raised; rows have their own limit.
        csv.field_size_limit(MAX_ROW)
    lines = ByteLines(stream, name=name)
    header: list[str] | None = None
    for number, cells in _rows(lines, delimiter):
        where = place(name, number)
        if header is None:
            header = header_names(cells, where)
            continue
        if not any(cells):
            continue
        if len(cells) != len(header):
            error = DatasetError(
                f"a row of {len(cells)} under a header of {len(header)}; quote cells that hold"
                " the delimiter, and double the quotes inside them",
                where=where,
            )
            yield number, builder.unreadable(error)
            continue
        row = {key: cell or None for key, cell in zip(header, cells, strict=True)}
        yield number, builder.build(row, where=where)


def _rows(lines: ByteLines, delimiter: str | None) -> Iterator[tuple[int, list[str]]]:
    texts = _texts(lines)
    first = next((text for text in texts if text.strip()), "")
    if delimiter is None and first.lower().startswith("sep=") and len(first.strip()) == 5:
        delimiter, first = first[4], next(texts, "")  # Excel names the delimiter on its own line
    reader = csv.reader(
        chain([first], texts), strict=True, delimiter=delimiter or _delimiter_of(first)
    )
    start = lines.number
    while True:
        lines.held = 0
        try:
            cells = next(reader, None)
        except csv.Error as exc:
            what = "a bare carriage return" if "new-line" in str(exc) else exc
            message = f"not CSV: {what}; check the quotes and line ends of this row"
            raise DatasetError(message, where=place(lines.name, start)) from exc
        if cells is None:
            return
        if cells:
            yield start, cells
        start = lines.number + 1


def _delimiter_of(header: str) -> str:
    def rank(mark: str) -> tuple[int, int]:
        names = next(csv.reader([header], delimiter=mark), [])
        known = [name for name in names if name.strip() in FIELDS or field_named(name.strip())]
        return len(known), len(names)

    try:
        return max(DELIMITERS, key=rank)
    except csv.Error:
        return ","


def _texts(lines: ByteLines) -> Iterator[str]:
    for line in lines:
        if b"\x00" in line:
            column = line.index(b"\x00") + 1
            message = f"a NUL byte at column {column}; save the file as UTF-8 text"
            raise DatasetError(message, where=lines.where)
        yield lines.decode(line)


def _name(cell: str) -> str:
    """Return the name of a column; that of a field without characters that only look like it.

    Spreadsheets and web pages leave no-break spaces, zero-width characters and full-width letters.
    """
    name = cell.strip()
    if name.isascii():
        return name
    plain = "".join(c for c in normalize("NFKC", name) if category(c) != "Cf").strip()
    return plain if field_named(plain) else name


def header_names(cells: list[str], where: str) -> list[str]:
    """Return the names of columns.

    Raises:
        DatasetError: a name is missing, or there twice.
    """
    names = [_name(cell) for cell in cells]
    repeated = sorted({name for name in names if names.count(name) > 1 and name})
    if repeated:
        message = f"the header names {listed(repeated)} twice; rename or remove a column"
        raise DatasetError(message, where=where, field=repeated[0])
    if "" in names:
        raise DatasetError(
            f"column {names.index('') + 1} of the header has no name; name it, or remove it"
            " (pandas: to_csv(..., index=False))",
            where=where,
        )
    if len(names) == 1 and any(mark in names[0] for mark in ";\t|"):
        message = f"the header {quoted(names[0])} is one column; set `delimiter`"
        raise DatasetError(message, where=where)
    return names
