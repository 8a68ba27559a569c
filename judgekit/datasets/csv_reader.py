"""Read cases from CSV: a header, then one case per row."""

import csv
from collections.abc import Iterator
from typing import BinaryIO

from judgekit.core.case import Case
from judgekit.core.errors import DatasetError, place
from judgekit.datasets.formatting import listed, quoted
from judgekit.datasets.row_builder import RowBuilder
from judgekit.datasets.stream import MAX_ROW, ByteLines


def read_csv(
    stream: BinaryIO, *, name: str, builder: RowBuilder
) -> Iterator[tuple[str | int, Case]]:
    """Yield the case of every row with the number of its first line.

    An empty cell is a missing value. A column such as `metadata.topic` is one value of an object.

    Raises:
        DatasetError: the table cannot be read, or a row is not a case.
    """
    if csv.field_size_limit() < MAX_ROW:
        # The limit applies to the whole process, so it is only raised; rows have their own limit.
        csv.field_size_limit(MAX_ROW)
    lines = ByteLines(stream, name=name)
    header: list[str] | None = None
    for number, cells in _rows(lines):
        where = place(name, number)
        if header is None:
            header = _header(cells, where)
            continue
        if len(cells) != len(header):
            error = DatasetError(
                f"a row of {len(cells)} under a header of {len(header)}; quote cells that hold"
                " commas, and double the quotes inside them",
                where=where,
            )
            yield number, builder.unreadable(error)
            continue
        row = {key: cell or None for key, cell in zip(header, cells, strict=True)}
        yield number, builder.build(row, where=where)


def _rows(lines: ByteLines) -> Iterator[tuple[int, list[str]]]:
    reader = csv.reader(_texts(lines), strict=True)
    while True:
        start = lines.number + 1
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


def _texts(lines: ByteLines) -> Iterator[str]:
    for line in lines:
        if b"\x00" in line:
            column = line.index(b"\x00") + 1
            message = f"a NUL byte at column {column}; save the file as UTF-8 text"
            raise DatasetError(message, where=lines.where)
        yield lines.decode(line)


def _header(cells: list[str], where: str) -> list[str]:
    names = [cell.strip() for cell in cells]
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
        message = f"the header {quoted(names[0])} is one column; separate columns with commas"
        raise DatasetError(message, where=where)
    return names
