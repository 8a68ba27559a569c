"""Lines and grids as plain text for a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator

from judgekit.core.canonical import printable
from judgekit.core.display.parts import Cell, DisplayBar, DisplayLine, DisplayPart, DisplayTable

WIDTH = 88
_LAST = 28
"""Columns that are kept for the last one, if it is that wide."""
_LEAST = 6
_LINES = 4
"""Lines that one line of a cell may take."""


def to_text(parts: Iterable[DisplayPart], *, width: int = WIDTH) -> str:
    """Return parts as text of at most so many columns."""
    lines: list[str] = []
    for part in parts:
        lines += _grid(part, width) if isinstance(part, DisplayTable) else _line(part, width)
    return "\n".join(lines)


def _line(line: DisplayLine, width: int) -> list[str]:
    lines: list[str] = []
    for text in printable(line.text).splitlines() or [""]:
        lines += textwrap.wrap(text, width, subsequent_indent="  ") or [""]
    return lines


def _grid(grid: DisplayTable, width: int) -> Iterator[str]:
    """Yield a table whose last column wraps."""
    columns = [n for n in range(len(grid.head)) if not _drawn(grid, n)]
    rows = [[_shown(row[n]) for n in columns] for row in grid.rows]
    head = [grid.head[n] for n in columns]
    room = max(12, width // 3)
    widths = [
        min(room, max([len(head[n]), *(len(row[n]) for row in rows)])) for n in range(len(columns))
    ]
    first = widths[:-1]
    last = min(_LAST, widths[-1])
    while first and sum(first) + 2 * len(first) > width - last and max(first) > _LEAST:
        first[first.index(max(first))] -= 1
    widths[:-1] = first
    yield ""
    if grid.title:
        yield from textwrap.wrap(printable(grid.title), width)
    places = {n for n, place in enumerate(columns) if place in grid.numbers}
    yield from _row(head, widths, places, width)
    for row in rows:
        yield from _row(row, widths, places, width)
    if grid.left:
        yield from textwrap.wrap(printable(grid.left), width)


def _drawn(grid: DisplayTable, place: int) -> bool:
    return any(isinstance(row[place], DisplayBar) for row in grid.rows)


def _shown(cell: Cell) -> str:
    return printable(cell) if isinstance(cell, str) else ""


def _row(cells: list[str], widths: list[int], numbers: set[int], width: int) -> Iterator[str]:
    *first, last = cells
    start = ""
    for n, cell in enumerate(first):
        text = " ".join(cell.split())
        text = text if len(text) <= widths[n] else text[: widths[n] - 1] + "…"
        start += f"{text:>{widths[n]}}  " if n in numbers else f"{text:<{widths[n]}}  "
    if len(first) in numbers:
        last = f"{last:>{widths[-1]}}"
    lines: list[str] = []
    for text in last.splitlines():
        wrapped = textwrap.wrap(text, max(20, width - len(start)), drop_whitespace=False)
        lines += [*wrapped[:_LINES], *(["…"] if len(wrapped) > _LINES else [])]
    yield f"{start}{lines[0] if lines else ''}".rstrip()
    for line in lines[1:]:
        yield f"{' ' * min(len(start), width - 20)}{line.strip()}"
