"""Render lines and tables as text for a terminal; cut, pad and wrap text to columns."""

import re
import textwrap
import unicodedata
from collections.abc import Iterable, Iterator

from judgekit.core.canonical import printable
from judgekit.core.display.parts import DisplayLine, DisplayPart, DisplayTable, Style, written

_JOINER = "\u200d"
_AS_EMOJI = "\ufe0f"
_SKIN = range(0x1F3FB, 0x1F400)
_NO_ROOM = frozenset({"Mn", "Me", "Cf"})


def cells(text: str) -> int:
    """Return the width of a text in columns: 2 for a wide character or emoji, 0 for a mark.

    Example:
        >>> cells("abc"), cells("日本"), cells("e\u0301"), cells("👩‍🚒"), cells("❤️")
        (3, 4, 1, 2, 2)
    """
    return len(text) if text.isascii() else sum(width for _, width in _clusters(text))


def _clusters(text: str) -> list[tuple[str, int]]:
    """Return the grapheme clusters of a text with their widths in columns."""
    clusters: list[tuple[str, int]] = []
    for sign in text:
        last, width = clusters[-1] if clusters else ("", 0)
        joined = last.endswith(_JOINER)
        if clusters and (joined or unicodedata.category(sign) in _NO_ROOM or ord(sign) in _SKIN):
            # A sign with the emoji selector takes two columns, as emoji do.
            clusters[-1] = (last + sign, 2 if sign == _AS_EMOJI else width)
        elif unicodedata.category(sign) in _NO_ROOM:
            clusters.append((sign, 0))
        else:
            clusters.append((sign, 2 if unicodedata.east_asian_width(sign) in "WF" else 1))
    return clusters


def cut(text: str, room: int) -> str:
    """Return a text cut to a number of columns; a cut text ends in `…`."""
    if cells(text) <= room:
        return text
    return _begin(text, max(0, room - 1)) + "…"


def _begin(text: str, room: int) -> str:
    """Return the longest prefix that fits."""
    if text.isascii():
        return text[:room]
    beginning = ""
    for cluster, width in _clusters(text):
        if width > room:
            break
        beginning += cluster
        room -= width
    return beginning


def pad(text: str, room: int, *, right: bool = False) -> str:
    """Return a text padded with spaces to a number of columns, at its end or before it."""
    blank = " " * max(0, room - cells(text))
    return blank + text if right else text + blank


def wrap(text: str, room: int, *, first: str = "", then: str = "") -> list[str]:
    """Return a text in lines that fit; break a word only if it is longer than a line.

    Args:
        text: the text to wrap.
        room: maximum width of a line, in columns.
        first: prefix of the first line.
        then: prefix of the other lines.
    """
    if (first + text + then).isascii():
        return textwrap.wrap(text, room, initial_indent=first, subsequent_indent=then)
    lines: list[str] = []
    line, blank = first, ""
    for word in re.findall(r"\s+|\S+", text):
        if word.isspace():
            blank = " " * len(word) if line not in (then, "") or not lines else ""
            continue
        if blank and cells(line + blank + word) > room and line.strip():
            lines.append(line)
            line, blank = then, ""
        # Break a word that does not fit on a line, as in scripts without blanks.
        while cells(line + blank + word) > room and (
            begun := _begin(word, room - cells(line + blank))
        ):
            lines.append(line + blank + begun)
            line, blank, word = then, "", word[len(begun) :]  # noqa: PLW2901 - what is left of it
        line, blank = line + blank + word, ""
    return [*lines, line] if line.strip() else lines


WIDTH = 88
_LAST = 28
"""Columns that are reserved for the last column of a table, if it is that wide."""
_ONE_LINE = 20
"""The same where the last column does not wrap: the names before it say more than its end."""
_LEAST = 4
_COLOURS: dict[Style, str] = {"title": "1", "note": "2", "bad": "31", "good": "32"}


def to_text(parts: Iterable[DisplayPart], *, width: int = WIDTH, colour: bool = False) -> str:
    """Return parts as text of a limited width.

    Args:
        parts: lines and tables.
        width: maximum width in columns.
        colour: whether to use ANSI colours.
    """
    paint = Paint(colour=colour)
    lines: list[str] = []
    for part in parts:
        shown = _grid(part, width) if isinstance(part, DisplayTable) else _line(part, width)
        lines += (paint(line, style) for line, style in shown)
    return "\n".join(lines)


class Paint:
    """ANSI colours, or none."""

    def __init__(self, *, colour: bool) -> None:
        self._colour = colour

    def __call__(self, text: str, style: Style) -> str:
        """Return the text in the colour of a style."""
        code = _COLOURS.get(style)
        return f"\x1b[{code}m{text}\x1b[0m" if self._colour and text and code else text


def _line(line: DisplayLine, width: int) -> Iterator[tuple[str, Style]]:
    for text in printable(line.text).splitlines() or [""]:
        for row in wrap(text, width, then="  ") or [""]:
            yield row, line.style


def _grid(grid: DisplayTable, width: int) -> Iterator[tuple[str, Style]]:
    """Yield a table whose last column wraps."""
    head, body, numbers = written(grid)
    rows = [[printable(cell) for cell in row] for row in (head, *body)]
    widths = [max(map(cells, column)) for column in zip(*rows, strict=True)]
    last = min(_LAST if grid.lines > 1 else _ONE_LINE, widths[-1])
    widths[:-1] = _fitted(widths[:-1], width - last, numbers, most=width // 2)
    yield "", "plain"
    for line in wrap(printable(grid.title), width):
        yield line, "title"
    for at, row in enumerate(rows):
        for line in _row(row, widths, numbers, width, grid.lines):
            yield line, grid.style(at - 1) if at else "note"
    for line in wrap(printable(grid.left), width):
        yield line, "note"


def _fitted(widths: list[int], width: int, numbers: set[int], *, most: int) -> list[int]:
    """Return column widths that fit; text columns are narrowed before numeric ones."""
    fitted = [min(most, room) for room in widths]
    texts = [place for place in range(len(fitted)) if place not in numbers]
    for places in (texts, range(len(fitted))):
        while sum(fitted) + 2 * len(fitted) > width:
            widest = max(places, key=fitted.__getitem__, default=None)
            if widest is None or fitted[widest] <= _LEAST:
                break
            fitted[widest] -= 1
    return fitted


def _row(
    row: list[str], widths: list[int], numbers: set[int], width: int, most: int
) -> Iterator[str]:
    *first, last = row
    start = ""
    for place, cell in enumerate(first):
        indent = " " * (len(cell) - len(cell.lstrip(" ")))
        text = cut(indent + " ".join(cell.split()), widths[place])
        start += f"{pad(text, widths[place], right=place in numbers)}  "
    if len(first) in numbers:
        last = pad(last, widths[-1], right=True)
    lines: list[str] = []
    for text in last.splitlines():
        room = max(20, width - cells(start))
        if most == 1:
            lines.append(cut(text, room))
            continue
        wrapped = wrap(text, room)
        lines += [*wrapped[:most], *(["…"] if len(wrapped) > most else [])]
    yield cut(f"{start}{lines[0] if lines else ''}".rstrip(), width)
    for line in lines[1:]:
        yield f"{' ' * min(cells(start), width - 20)}{line.strip()}"
