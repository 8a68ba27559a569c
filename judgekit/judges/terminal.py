"""The terminal interface: write text, read lines."""

from __future__ import annotations

import asyncio
import os
import select
import sys
from contextlib import suppress
from typing import Protocol, TextIO

from judgekit.core.errors import ConfigError


class SeveralLines(Exception):
    """Several lines arrived together, as in a paste; none was used."""


class LongLine(Exception):
    """A line was longer than a terminal can pass on; it was not used."""


class Turn:
    """A lock for any event loop; waiters enter in their order."""

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
    """A terminal for a person."""

    turn: Turn
    """Held during a session of several lines."""

    @property
    def width(self) -> int:
        """Columns, as of now: a window may change its size at any time."""

    @property
    def colourful(self) -> bool:
        """Whether text may be coloured."""

    def write(self, text: str) -> None:
        """Show a text that is safe for a terminal."""

    async def line(self) -> str | None:
        """Return the next line without its end; `None` when there will be no more.

        Raises:
            SeveralLines: nothing is taken; ask again.
            LongLine: nothing is taken; ask again.
        """

    def discard(self) -> None:
        """Discard text that was typed before the prompt."""


_LONGEST = 4095
"""Bytes of a line in a Linux terminal; it drops longer input silently."""


class Console:
    """The terminal this process runs in: read from standard input, written to standard error.

    Lines are edited by the terminal itself, whose settings are left alone, so that no way of
    ending the program can leave it in disorder.

    Raises:
        ConfigError: there is no terminal.
    """

    turn = Turn()  # of the class: a process has one terminal, however many persons share it

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
        """Columns, at least 20 and at most 100: longer lines are hard to read."""
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
        """Show a text; what the terminal cannot spell is replaced."""
        encoding = self._output.encoding or "utf-8"
        with suppress(OSError):  # the window was closed; the next line() says so
            self._output.write(text.encode(encoding, "replace").decode(encoding))
            self._output.flush()

    async def line(self) -> str | None:
        """Return the next line; the event loop goes on meanwhile, and Ctrl-C cancels it."""
        data = b""
        while not data.endswith(b"\n"):
            more = await self._read()
            if not more:
                return None
            data += more
        if len(data) > _LONGEST:
            raise LongLine
        if self._pending():
            self.discard()
            raise SeveralLines
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
        except (OSError, ValueError):  # Windows waits for sockets only
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
