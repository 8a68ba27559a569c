"""Lines and grids as HTML for a notebook. Everything in them is escaped; nothing in it runs.

There is no style sheet, script, link or picture: colours and letters are the notebook's own, in
the light and in the dark, and what is marked is marked by a word and a rule beside it.
"""

import re
from collections.abc import Iterable
from html import escape
from typing import Any

from judgekit.core.display.parts import (
    Cell,
    DisplayBar,
    DisplayLine,
    DisplayPart,
    DisplayTable,
    Style,
)
from judgekit.core.display.text import to_text

# Characters that nobody sees, but that make a text look like another one.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff"
    "\ud800-\udfff\U000e0000-\U000e01ef]"
)
_RULE = "margin:.25em 0;padding-left:.6em;border-left:.25em solid"
_LINES = {
    "good": f"{_RULE} #2da44e",
    "bad": f"{_RULE} #d1434b",
    "plain": "margin:.15em 0",
    "title": "margin:.2em 0 .4em;font-weight:600",
    "note": "margin:.15em 0;opacity:.75;font-size:.92em",
}
_BOX = "color:inherit;background:none;line-height:1.4;overflow-wrap:anywhere"
_PLACE = "vertical-align:top;padding:.15em .9em .15em 0;white-space:"
_CELL = f"text-align:left;{_PLACE}pre"
_LONG = f"text-align:left;{_PLACE}pre-wrap"
_NUMBER = f"text-align:right;{_PLACE}pre"
_SHORT = 24
"""Characters of a text that stays on one line."""


def to_html(parts: Iterable[DisplayPart]) -> str:
    """Return parts as one piece of HTML."""
    inner = "".join(
        _grid(part) if isinstance(part, DisplayTable) else _line(part) for part in parts
    )
    return f'<div style="{_BOX}">{inner}</div>'


def _line(line: DisplayLine) -> str:
    return f'<div style="{_LINES[line.style]}">{_text(line.text)}</div>'


def _grid(grid: DisplayTable) -> str:
    title = (
        '<caption style="caption-side:top;text-align:left;color:inherit;font-weight:600;'
        f'padding:.5em 0 .1em">{_text(grid.title)}</caption>'
        if grid.title
        else ""
    )
    head = "".join(
        f'<th scope="col" style="{_NUMBER if n in grid.numbers else _CELL};font-weight:600;'
        f'border-bottom:1px solid rgba(128,128,128,.5)">{_text(name)}</th>'
        for n, name in enumerate(grid.head)
    )
    rows = "".join(
        f"<tr>{''.join(_cell(cell, n, grid, grid.style(at)) for n, cell in enumerate(row))}</tr>"
        for at, row in enumerate(grid.rows)
    )
    left = _line(DisplayLine(grid.left, "note")) if grid.left else ""
    return (
        '<table style="border-collapse:collapse;border:none;margin:.3em 0;color:inherit;'
        'font-size:inherit">'
        f"{title}<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>{left}"
    )


def _cell(cell: Cell, place: int, grid: DisplayTable, row: Style) -> str:
    style = _NUMBER if place in grid.numbers else _CELL
    if isinstance(cell, str) and len(cell) > _SHORT and place not in grid.numbers:
        style = _LONG
    text = _bar(cell) if isinstance(cell, DisplayBar) else _text(cell or "")
    if place == 0:
        weight = 400 if row == "plain" else 600
        return f'<th scope="row" style="{style};font-weight:{weight}">{text}</th>'
    return f'<td style="{style}">{text}</td>'


def _bar(bar: DisplayBar) -> str:
    """Return a rule from 0 to 1 with the interval as a band and the figure as a stroke."""
    low, high = (bar.at if end is None else end for end in (bar.low, bar.high))
    left, right = (100 * min(1.0, max(0.0, end)) for end in (low, high))
    at = 100 * min(1.0, max(0.0, bar.at))
    return (
        '<span aria-hidden="true" style="display:inline-block;position:relative;width:7em;'
        'height:.8em;border-bottom:1px solid rgba(128,128,128,.6)">'
        f'<span style="position:absolute;bottom:0;left:{left:.1f}%;width:{right - left:.1f}%;'
        'height:.45em;background:currentColor;opacity:.3"></span>'
        f'<span style="position:absolute;bottom:0;left:{at:.1f}%;width:2px;height:.8em;'
        'background:currentColor"></span></span>'
    )


def _text(text: str) -> str:
    shown = _UNSEEN.sub(lambda found: f"⟨U+{ord(found[0]):04X}⟩", text)
    # Notebooks look for formulas between dollar signs, also in tables.
    return escape(shown).replace("$", "&#36;")


def bundle(parts: Iterable[DisplayPart], *, text: str | None = None) -> dict[str, str]:
    """Return what there is to see as HTML and as text, each under its MIME type.

    Args:
        parts: lines and grids.
        text: the text, where a prompt shows something else.
    """
    parts = list(parts)
    return {"text/html": to_html(parts), "text/plain": to_text(parts) if text is None else text}


def pretty(printer: Any, value: Any) -> None:
    """Print a tuple as a prompt shows it by itself; inside something else, its repr.

    A prompt has a way of its own with tuples, which goes before what they say of themselves.
    """
    alone = len(getattr(printer, "stack", ())) <= 1
    printer.text(value._repr_mimebundle_()["text/plain"] if alone else repr(value))
