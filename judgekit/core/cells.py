"""Cut, pad and wrap text to columns of a terminal."""

from __future__ import annotations

import re
import textwrap
import unicodedata

_JOINER = "\u200d"
_AS_EMOJI = "\ufe0f"
_SKIN = range(0x1F3FB, 0x1F400)
_NO_ROOM = frozenset({"Mn", "Me", "Cf"})


def cells(text: str) -> int:
    """Return the columns a text takes: two for a wide character or an emoji, none for a mark.

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
    """Return the longest beginning that fits."""
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
        text: what to break.
        room: columns a line may take.
        first: what the first line begins with.
        then: what the others begin with.
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
