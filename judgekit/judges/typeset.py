"""Format text for a terminal: safe characters, widths, line breaks."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import NamedTuple

from judgekit.core.canonical import printable
from judgekit.core.request import Request

_FENCE = re.compile(r"<(?P<closes>/?)(?P<tag>[A-Za-z_][\w-]*)-(?P<digest>[0-9a-f]{16})>")
"""The beginning or the end of a fenced text, as rubrics write one. The text cannot hold its end."""
_TAB = 4


class Piece(NamedTuple):
    """A part of the messages: a fenced text with its tag, or words of the rubric."""

    tag: str | None
    text: str


def material(request: Request) -> list[Piece]:
    """Return the parts of a request's messages, without the system messages."""
    pieces: list[Piece] = []
    for message in request.messages:
        if message.role == "system":
            continue
        end = 0
        for tag, opens, closes in _fences(message.content):
            pieces.append(Piece(None, message.content[end : opens.start()].strip()))
            pieces.append(Piece(tag, message.content[opens.end() + 1 : closes.start() - 1]))
            end = closes.end()
        pieces.append(Piece(None, message.content[end:].strip()))
    return [piece for piece in pieces if piece.text or piece.tag]


def _fences(text: str) -> Iterator[tuple[str, re.Match[str], re.Match[str]]]:
    """Yield the tag, the beginning and the end of each fenced text."""
    marks = list(_FENCE.finditer(text))
    ends: dict[str, list[re.Match[str]]] = {}
    for mark in reversed(marks):
        if mark["closes"] and text[mark.start() - 1 : mark.start()] == "\n":
            ends.setdefault(f"{mark['tag']}-{mark['digest']}", []).append(mark)
    end = 0
    for mark in marks:
        if mark["closes"] or mark.start() < end or text[mark.end() : mark.end() + 1] != "\n":
            continue
        later = ends.get(f"{mark['tag']}-{mark['digest']}", [])
        while later and later[-1].start() < mark.end() + 2:
            later.pop()
        if later:
            end = later[-1].end()
            yield mark["tag"], mark, later[-1]


def level_texts(request: Request, question: str) -> dict[str, str]:
    """Return the meaning of each answer to a question, as far as the instructions have it."""
    heading = re.compile(rf"^## {re.escape(question)}$", re.MULTILINE)
    texts: dict[str, str] = {}
    for message in request.messages:
        match = heading.search(message.content)
        if message.role == "system" and match:
            section = re.split(r"^#{1,2} ", message.content[match.end() :], maxsplit=1, flags=re.M)
            for line in section[0].splitlines():
                label, colon, text = line.removeprefix("- ").partition(": ")
                if line.startswith("- ") and colon:
                    texts[label] = text
    return texts


def wrapped(text: str, width: int, *, indent: str = "", first: str | None = None) -> Iterator[str]:
    """Yield the lines of a text, none wider than `width` columns, safe to show.

    Args:
        text: any text; what could move the cursor is shown as U+FFFD.
        width: columns, at least 2 more than the indent.
        indent: begins every line.
        first: begins the first line instead.
    """
    before = indent if first is None else first
    for line in printable(text).expandtabs(_TAB).split("\n"):
        for row in _rows(line.rstrip(), max(2, width - max(columns(indent), columns(before)))):
            yield (before + row).rstrip()
            before = indent


def _rows(line: str, room: int) -> Iterator[str]:
    """Yield a line in rows; broken between words where it can be."""
    lead = re.match(" {0,8}", line)
    row = lead[0] if lead else ""
    used = len(row)
    for word in re.findall(r"\S+ *", line[len(row) :]):
        bare = columns(word.rstrip())
        if used and row.strip() and used + bare > room:
            yield row.rstrip()
            row, used = "", 0
        if used + columns(word) <= room:
            row += word
            used += columns(word)
            continue
        for character in word:
            wide = columns(character)
            if used + wide > room and character != " ":
                yield row.rstrip()
                row, used = "", 0
            row += character
            used += wide
    yield row.rstrip()


def columns(text: str) -> int:
    """Return how many columns a terminal takes for a text.

    >>> columns("judge"), columns("判定"), columns("e\u0301")
    (5, 4, 1)
    """
    return sum(map(_columns, text)) if not text.isascii() else len(text)


def _columns(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1
