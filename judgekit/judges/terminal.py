"""The terminal: write text, read lines, lay out text."""

from __future__ import annotations

import asyncio
import os
import re
import select
import sys
import unicodedata
from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple, Protocol, TextIO

from judgekit.core.canonical import printable
from judgekit.core.errors import ConfigError
from judgekit.core.request import Request


class UnusableLine(Exception):
    """The input is not one valid line; it is discarded."""


class Turn:
    """A lock that works across event loops; waiters acquire it in order."""

    def __init__(self) -> None:
        self._lock: asyncio.Lock | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    async def __aenter__(self) -> None:
        loop = asyncio.get_running_loop()
        if self._lock is None or self._loop is not loop:
            self._lock, self._loop = asyncio.Lock(), loop
        await self._lock.acquire()

    async def __aexit__(self, *_: object) -> None:
        assert self._lock is not None  # noqa: S101 - entered before
        self._lock.release()


class Terminal(Protocol):
    """The interface of a terminal."""

    turn: Turn
    """Held during a session of several lines."""

    @property
    def width(self) -> int:
        """Current width in columns; the window may be resized at any time."""

    @property
    def colourful(self) -> bool:
        """Whether text may be coloured."""

    def write(self, text: str) -> None:
        """Show a text that is safe for a terminal."""

    async def line(self) -> str | None:
        """Return the next line without its line end; `None` at the end of input.

        Raises:
            UnusableLine: the input was discarded; ask again.
        """

    def discard(self) -> None:
        """Discard text that was typed before the prompt."""


_LONGEST = 4095
"""Maximum bytes of a line in a Linux terminal, which silently drops longer input."""


class Console:
    """The terminal this process runs in: read from standard input, written to standard error.

    The terminal itself handles line editing. Its settings are not changed, so it stays usable
    however the program ends.

    Raises:
        ConfigError: there is no terminal.
    """

    turn = Turn()  # class attribute: a process has one terminal, which several persons may share

    def __init__(self) -> None:
        if not (_is_terminal(sys.stdin) and _is_terminal(sys.stderr)):
            raise ConfigError(
                "a person answers in a terminal, and this is none; run it in one, or give the "
                "judge a file of answers (answers: FILE)"
            )
        self._input = sys.stdin.fileno()
        self._output = sys.stderr

    @property
    def width(self) -> int:
        """Width in columns, limited to 20..100: longer lines are hard to read."""
        try:
            columns = os.get_terminal_size(self._output.fileno()).columns
        except OSError:
            columns = 80
        return max(20, min(100, columns or 80))

    @property
    def colourful(self) -> bool:
        """Whether text may be coloured: not with NO_COLOR (no-color.org) or on a dumb terminal."""
        return not os.environ.get("NO_COLOR") and os.environ.get("TERM", "dumb") != "dumb"

    def write(self, text: str) -> None:
        """Show a text; characters that the terminal cannot encode are replaced."""
        encoding = self._output.encoding or "utf-8"
        with suppress(OSError):  # the window was closed; the next line() returns `None`
            self._output.write(text.encode(encoding, "replace").decode(encoding))
            self._output.flush()

    async def line(self) -> str | None:
        """Return the next line without blocking the event loop; Ctrl-C cancels the wait."""
        data = b""
        while not data.endswith(b"\n"):
            if not (more := await self._read()):
                return None
            data += more
        if len(data) > _LONGEST:
            raise UnusableLine("a line longer than a terminal can pass on; give a shorter one")
        if self._pending():
            self.discard()
            raise UnusableLine("several lines came at once and were not taken; give one line")
        return data.decode("utf-8", "replace").rstrip("\r\n")

    async def _read(self) -> bytes:
        loop = asyncio.get_running_loop()
        ready = loop.create_future()

        def readable() -> None:
            if not ready.done():
                ready.set_result(None)

        try:
            loop.add_reader(self._input, readable)
        except NotImplementedError:  # Windows
            return await asyncio.to_thread(sys.stdin.buffer.readline)
        try:
            await ready
        finally:
            loop.remove_reader(self._input)
        try:
            return os.read(self._input, 65536)
        except OSError:  # the window was closed
            return b""

    def _pending(self) -> bool:
        try:
            return bool(select.select([self._input], [], [], 0)[0])
        except (OSError, ValueError):  # Windows can only wait for sockets
            return False

    def discard(self) -> None:
        """Discard text that was typed before the prompt."""
        try:
            import termios
        except ImportError:
            return
        with suppress(termios.error, OSError):
            termios.tcflush(self._input, termios.TCIFLUSH)


def _is_terminal(stream: TextIO | None) -> bool:
    try:
        return stream is not None and stream.isatty()
    except ValueError:  # closed
        return False


_FENCE = re.compile(r"<(?P<closes>/?)(?P<tag>[A-Za-z_][\w-]*)-(?P<digest>[0-9a-f]{16})>")
"""The start or end marker of a fenced text in a rubric. The text cannot contain its end marker."""
_TAB = 4


class Piece(NamedTuple):
    """A part of the messages: a fenced text with its tag, or text of the rubric."""

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
    """Yield the tag, the start and the end of each fenced text."""
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
    """Return the meaning of each answer to a question, if the instructions give it."""
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
        text: any text; control characters are shown as U+FFFD.
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
    """Yield a line in rows, broken between words if possible."""
    lead = re.match(" {0,8}", line)
    row = lead[0] if lead else ""
    used = len(row)
    for word in re.findall(r"\S+ *", line[len(row) :]):
        bare = columns(word.rstrip())
        if used and row.strip() and used + bare > room:
            yield row.rstrip()
            row, used = "", 0
        for character in word:
            wide = columns(character)
            if used + wide > room and character != " ":
                yield row.rstrip()
                row, used = "", 0
            row += character
            used += wide
    yield row.rstrip()


def columns(text: str) -> int:
    """Return the width of a text in terminal columns.

    >>> columns("judge"), columns("判定"), columns("e\u0301")
    (5, 4, 1)
    """
    return sum(map(_columns, text)) if not text.isascii() else len(text)


def _columns(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1
