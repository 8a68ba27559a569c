"""Render lines and tables as Markdown. All text is escaped."""

import re
from collections.abc import Iterable, Iterator

from judgekit.core.canonical import printable
from judgekit.core.display.parts import DisplayLine, DisplayPart, DisplayTable, written

_MARKS = re.compile(r"([\\`*_{}\[\]()#!|~@:$&])")
_ITEM = re.compile(r"^(\d{0,9})([-+.])(?=[ -])")
"""The start of a list item, or of a rule of dashes."""


def to_markdown(parts: Iterable[DisplayPart]) -> str:
    """Return parts as Markdown: titles, bullets and tables; without bars."""
    lines = [""]
    for part in parts:
        shown = _table(part) if isinstance(part, DisplayTable) else _line(part)
        lines += (line for line in shown if line or lines[-1])
    return "\n".join(lines).strip() + "\n"


def _line(line: DisplayLine) -> list[str]:
    text = escaped(line.text)
    if line.style == "title":
        return ["", f"### {text}", ""]
    if line.style == "bad":
        return ["", f"> **{text}**", ""]
    return [f"- {text}" if text else ""]


def _table(table: DisplayTable) -> Iterator[str]:
    head, rows, numbers = written(table)
    rules = ["--:" if place in numbers else "---" for place in range(len(head))]
    yield from ("", f"**{escaped(table.title)}**" if table.title else "", "")
    marks = ["" if table.style(at) == "plain" else "**" for at in range(len(rows))]
    shown = (
        (f"{mark}{escaped(name)}{mark}", *map(escaped, row))
        for mark, (name, *row) in zip(marks, rows, strict=True)
    )
    for cells in (map(escaped, head), rules, *shown):
        yield f"| {' | '.join(cells)} |"
    yield from ("", f"- {escaped(table.left)}" if table.left else "")


def escaped(text: str, *, most: int = 1000) -> str:
    r"""Return a text escaped so that Markdown shows it literally.

    >>> print(escaped("<b>@all</b> | [x](http://x)"))
    &lt;b&gt;\@&#8203;all&lt;/b&gt; \| \[x\]\(http\://x\)
    >>> print(escaped("- 1. a"), escaped("1. a"))
    \- 1. a 1\. a
    """
    line = " ".join(printable(text).split())
    line = line if len(line) <= most else line[: most - 1] + "…"
    line = _ITEM.sub(r"\1\\\2", _MARKS.sub(r"\\\1", line))
    # Code hosts detect user names and issue numbers after the escapes are removed.
    line = line.replace("\\@", "\\@&#8203;").replace("\\#", "\\#&#8203;")
    return line.replace("<", "&lt;").replace(">", "&gt;")
