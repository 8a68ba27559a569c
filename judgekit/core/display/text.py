"""Lines and grids as plain text for a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from judgekit.core.canonical import printable
from judgekit.core.cells import cells, cut, pad, wrap
from judgekit.core.display.parts import DisplayLine, DisplayPart, DisplayTable, written

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
        lines += wrap(text, width, then="  ") or [""]
    return lines


def _grid(grid: DisplayTable, width: int) -> Iterator[str]:
    """Yield a table whose last column wraps."""
    head, body, numbers = written(grid)
    rows = [[printable(cell) for cell in row] for row in (head, *body)]
    room = max(12, width // 3)
    widths = [min(room, max(map(cells, column))) for column in zip(*rows, strict=True)]
    first = widths[:-1]
    last = min(_LAST, widths[-1])
    while first and sum(first) + 2 * len(first) > width - last and max(first) > _LEAST:
        first[first.index(max(first))] -= 1
    widths[:-1] = first
    yield ""
    yield from wrap(printable(grid.title), width)
    for row in rows:
        yield from _row(row, widths, numbers, width)
    yield from wrap(printable(grid.left), width)


def _row(row: list[str], widths: list[int], numbers: set[int], width: int) -> Iterator[str]:
    *first, last = row
    start = ""
    for place, cell in enumerate(first):
        text = cut(" ".join(cell.split()), widths[place])
        start += f"{pad(text, widths[place], right=place in numbers)}  "
    if len(first) in numbers:
        last = pad(last, widths[-1], right=True)
    lines: list[str] = []
    for text in last.splitlines():
        wrapped = wrap(text, max(20, width - cells(start)))
        lines += [*wrapped[:_LINES], *(["…"] if len(wrapped) > _LINES else [])]
    yield cut(f"{start}{lines[0] if lines else ''}".rstrip(), width)
    for line in lines[1:]:
        yield f"{' ' * min(cells(start), width - 20)}{line.strip()}"
