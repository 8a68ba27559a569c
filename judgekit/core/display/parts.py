"""The parts of a displayed value: lines and tables, in order."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

from judgekit.core.canonical import printable

Style = Literal["plain", "title", "note", "good", "bad"]
MOST_TEXT = 300
"""Characters of one text in a cell."""
_SLACK = 20
MOST_NAME = 80
"""Characters of a name."""


class DisplayLine(NamedTuple):
    """A line of text."""

    text: str
    style: Style = "plain"


class DisplayBar(NamedTuple):
    """A figure and its interval as positions on 0..1."""

    at: float
    low: float | None = None
    high: float | None = None


Cell = str | DisplayBar | None


class DisplayTable(NamedTuple):
    """A table. The first cell of a row is its name."""

    head: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    title: str = ""
    numbers: Sequence[int] = ()
    """Columns that hold numbers."""
    left: str = ""
    """A note about rows that are not shown, and where to find them."""
    styles: Sequence[Style] = ()
    """The style of each row; empty if all are plain."""
    lines: int = 4
    """Maximum number of lines in a terminal to which a row is wrapped."""

    def style(self, row: int) -> Style:
        """Return the style of a row."""
        return self.styles[row] if self.styles else "plain"


DisplayPart = DisplayLine | DisplayTable


def written(table: DisplayTable) -> tuple[list[str], list[list[str]], set[int]]:
    """Return header, rows and indices of numeric columns for plain text, without bars."""
    places = [
        place
        for place in range(len(table.head))
        if not table.rows or any(isinstance(row[place], str) for row in table.rows)
    ]
    rows = [
        [cell if isinstance(cell := row[place], str) else "" for place in places]
        for row in table.rows
    ]
    numbers = {at for at, place in enumerate(places) if place in table.numbers}
    return [table.head[place] for place in places], rows, numbers


def cut(text: str, most: int = MOST_TEXT) -> str:
    r"""Return a text on one line, with the number of characters that were cut off its end.

    A text that is only a few characters too long is kept: the note would take the same space.

    >>> cut("a\n b"), cut("one two three " * 40, 10)
    ('a b', 'one two … (553 more)')
    """
    line = " ".join(printable(text[: 4 * most]).split())
    if len(text) <= 4 * most and len(line) <= most + _SLACK:
        return line
    shown = line[:most]
    head, _, rest = shown.rpartition(" ")
    shown = head if head and len(rest) < most // 2 else shown
    return f"{shown} … ({len(text) - len(shown):,} more)"


def multiline(text: str, most: int = MOST_TEXT) -> str:
    """Return a text with its line ends, shortened like `cut`."""
    if len(text) <= most + _SLACK:
        return printable(text)
    return f"{printable(text[:most])} … ({len(text) - most:,} more characters)"


def more(count: int, what: str, where: str) -> str:
    """Return how many items are hidden and where to find them; empty if all are shown.

    >>> more(1200, "case", "report.to_pandas()"), more(0, "case", "x")
    ('1,200 more cases: report.to_pandas()', '')
    """
    if count <= 0:
        return ""
    return f"{count:,} more {what}{'s' if count != 1 else ''}{f': {where}' if where else ''}"


def counted(count: int, noun: str) -> str:
    """Return a number with its noun.

    >>> counted(1, "label"), counted(1200, "case")
    ('1 label', '1,200 cases')
    """
    return f"{count:,} {noun}{'s' * (count != 1)}"


def answer_text(answer: float | bool | str) -> str:
    """Return the text of an answer: yes, no, a word, or a rounded number.

    >>> answer_text(True), answer_text("good"), answer_text(0.5)
    ('yes', 'good', '0.5')
    """
    if isinstance(answer, bool):
        return "yes" if answer else "no"
    return answer if isinstance(answer, str) else f"{answer:g}"
