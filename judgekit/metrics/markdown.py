"""Parse the Markdown of an answer: fenced code, list items, tables."""

from __future__ import annotations

import re
from typing import NamedTuple

_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})[ \t]*([\w+#.-]*)")
_BULLET = re.compile(r"([ \t]*)[-*+•‣◦▪●·–][ \t]+\S")
_NUMBER = re.compile(r"([ \t]*)\(?\d{1,3}[.)][ \t]+\S")
_RULE = re.compile(r"[ \t]*([-*_])[ \t]*(?:\1[ \t]*)+$")
_TABLE_RULE = re.compile(r"[ \t]*+\|?+[ \t]*+:?+-++:?+[ \t]*+(?:\|[ \t]*+:?+-*+:?+[ \t]*+)++$")


class Fence(NamedTuple):
    """A fenced block of code."""

    language: str
    """The word after the opening fence, in lower case; often empty."""
    code: str


class Markdown(NamedTuple):
    """A parsed text: its code blocks, and the lines outside them."""

    fences: tuple[Fence, ...]
    lines: tuple[str, ...]


def parse_markdown(text: str) -> Markdown:
    r"""Parse a text; an unclosed fence continues to the end, as in CommonMark.

    >>> parse_markdown("Look:\n```python\nx = 1\n```").fences
    (Fence(language='python', code='x = 1'),)
    """
    fences: list[Fence] = []
    lines: list[str] = []
    mark, language, code = "", "", list[str]()
    for line in text.splitlines():
        fence = _FENCE.match(line)
        if mark and fence and fence[1].startswith(mark) and not fence[2]:
            fences.append(Fence(language, "\n".join(code)))
            mark, code = "", []
        elif mark:
            code.append(line)
        elif fence:
            mark, language = fence[1], fence[2].lower()
        else:
            lines.append(line)
    if mark:
        fences.append(Fence(language, "\n".join(code)))
    return Markdown(tuple(fences), tuple(lines))


def count_bullets(markdown: Markdown) -> int:
    """Count the top-level bullet points."""
    return _outermost(markdown, _BULLET)


def count_numbered(markdown: Markdown) -> int:
    """Count the top-level numbered items."""
    return _outermost(markdown, _NUMBER)


def has_table(markdown: Markdown) -> bool:
    r"""Return whether there is a table: a row of cells above a delimiter row, or an HTML table.

    >>> has_table(parse_markdown("| a | b |\n|---|---|\n| 1 | 2 |"))
    True
    """
    above = ""
    for line in markdown.lines:
        if "|" in above and _TABLE_RULE.match(line):
            return True
        above = line
    return any("<table" in line.lower() for line in markdown.lines)


def _outermost(markdown: Markdown, pattern: re.Pattern[str]) -> int:
    indents = [
        len(match[1].expandtabs(4))
        for line in markdown.lines
        if (match := pattern.match(line)) and not _RULE.match(line)
    ]
    # One space is often an accident; a nested item is indented by two or more.
    outermost = min(indents, default=0)
    return sum(indent < outermost + 2 for indent in indents)
