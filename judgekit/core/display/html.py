"""Render lines and tables as HTML for a notebook. All text is escaped; there are no scripts.

The HTML has no style sheet, script, link or image. Colours and fonts are those of the notebook, in
its light and dark themes. Marks are a word and a vertical rule.
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

# Invisible characters, which can make two different texts look the same.
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
"""Longest text that is kept on one line, in characters."""


def to_html(parts: Iterable[DisplayPart]) -> str:
    """Return parts as one HTML fragment."""
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
    """Return an axis from 0 to 1 with the interval as a band and the figure as a line."""
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
    # Notebooks render text between dollar signs as formulas, also in tables.
    return escape(shown).replace("$", "&#36;")


def bundle(parts: Iterable[DisplayPart], *, text: str | None = None) -> dict[str, str]:
    """Return the parts as HTML and as text, by MIME type.

    Args:
        parts: lines and tables.
        text: the text to use instead of the rendered parts.
    """
    parts = list(parts)
    return {"text/html": to_html(parts), "text/plain": to_text(parts) if text is None else text}


def pretty(printer: Any, value: Any) -> None:
    """Print a tuple as a displayed value at the top level, else by its repr.

    IPython's built-in printer for tuples takes precedence over their own display methods.
    """
    alone = len(getattr(printer, "stack", ())) <= 1
    printer.text(value._repr_mimebundle_()["text/plain"] if alone else repr(value))
