"""Tables as a page and as text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import NamedTuple

STYLE = (
    "body{font:15px/1.45 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem}"
    "table{border-collapse:collapse}td,th{border-bottom:1px solid #ccc;padding:.2rem .7rem;"
    "text-align:left;vertical-align:top}"
)


class Section(NamedTuple):
    """A table with its title."""

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""


def html_page(sections: Iterable[Section]) -> str:
    """Return a page without scripts."""
    body = "".join(_table(section) for section in sections if section.rows)
    title = "<title>A real judge</title>"
    return f"<!doctype html><html lang=en><meta charset=utf-8>{title}<style>{STYLE}</style>{body}\n"


def _table(section: Section) -> str:
    lines = [f"<h2>{escape(section.title)}</h2>"]
    if section.note:
        lines.append(f"<p>{escape(section.note)}</p>")
    rows = [_row("th", section.head), *(_row("td", row) for row in section.rows)]
    return "\n".join([*lines, "<table>", *rows, "</table>\n"])


def _row(tag: str, cells: Sequence[str]) -> str:
    return "<tr>" + "".join(f"<{tag}>{escape(cell)}" for cell in cells)


def text_page(sections: Iterable[Section]) -> str:
    """Return the tables as Markdown."""
    return "\n".join(_markdown(section) for section in sections if section.rows)


def _markdown(section: Section) -> str:
    rows = [section.head, ["---"] * len(section.head), *section.rows]
    table = ["| " + " | ".join(_cell(cell) for cell in row) + " |" for row in rows]
    note = [section.note, ""] if section.note else []
    return "\n".join([f"\n## {section.title}\n", *note, *table])


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())
