"""A person at a terminal, for tests: types, reads what is shown, waits for it."""

from __future__ import annotations

import codecs
import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time
from collections.abc import Sequence
from pathlib import Path

from tests.forks import Fork

JUDGEKIT = ("judgekit",)
"""Begins the command of a process that is a fork; see `tests.forks`."""
_CONTROL = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b[()=>][0-9A-Za-z]?|\x07|\x08|\x00")


class Terminal:
    """A program on a terminal of its own; use it in a `with` statement.

    Args:
        command: the program and its arguments.
        cwd: where it runs.
        columns: width of the terminal.
        environment: on top of this process's.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        cwd: Path,
        columns: int = 80,
        environment: dict[str, str] | None = None,
    ) -> None:
        self._ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        ignored = ("COLUMNS", "LINES", "INPUTRC")
        settings = {k: v for k, v in os.environ.items() if k not in ignored}
        environment = {**settings, "TERM": "xterm", **(environment or {})}
        self._process: Fork | subprocess.Popen[bytes]
        if tuple(command[:1]) == JUDGEKIT:
            self._process = Fork(command[1:], cwd=cwd, env=environment, streams=[theirs] * 3,
                                 terminal=True)  # fmt: skip
        else:
            self._process = subprocess.Popen(
                command, cwd=cwd, stdin=theirs, stdout=theirs, stderr=theirs, env=environment,
                start_new_session=True, preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
            )  # fmt: skip
        os.close(theirs)
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self.raw = ""
        """Everything shown so far, with control sequences."""
        self._seen = 0

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        os.close(self._ours)

    @property
    def text(self) -> str:
        """What was shown, as a person reads it."""
        return _CONTROL.sub("", self.raw).replace("\r", "")

    def expect(self, words: str, *, seconds: float = 120.0) -> None:
        """Wait until words are shown that were not waited for before; wrapped ones count."""
        wanted = re.compile(r"\s+".join(map(re.escape, words.split())))
        end = time.monotonic() + seconds
        while True:
            found = wanted.search(self.text, self._seen)
            if found:
                self._seen = found.end()
                return
            left = end - time.monotonic()
            if left <= 0 or not self._read(left):
                raise AssertionError(f"{words!r} was not shown; this was: {self.text!r}")

    def send(self, text: str) -> None:
        """Type something; `\\r` is Enter, `\\x03` Ctrl-C, `\\x04` Ctrl-D."""
        os.write(self._ours, text.encode())

    def resize(self, columns: int, rows: int) -> None:
        """Change the size of the window."""
        fcntl.ioctl(self._ours, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def kill(self) -> None:
        """End the program at once, as a power cut does."""
        self._process.kill()
        self._process.wait()

    def answer(self, words: str, text: str) -> None:
        """Wait for a question, then type an answer and Enter."""
        self.expect(words)
        self.send(f"{text}\r")

    def finish(self, *, seconds: float = 120.0) -> int:
        """Read to the end and return the exit code."""
        end = time.monotonic() + seconds
        while self._read(max(0.0, end - time.monotonic())):
            pass
        return self._process.wait(timeout=120)

    def interrupt(self) -> int:
        """Press Ctrl-C, again if nothing comes of it, and return the exit code.

        What is pressed in the moment before a program begins to wait for a key is seen by Python
        only with the next: no person is so quick, a test is.
        """
        for _ in range(5):
            self.send("\x03")
            if self._ends(within=3):
                break
        return self.finish()

    def _ends(self, *, within: float) -> bool:
        end = time.monotonic() + within
        while (left := end - time.monotonic()) > 0:
            if not self._read(min(left, 0.2)) and self._process.poll() is not None:
                return True
        return False

    def _read(self, seconds: float) -> bool:
        ready, _, _ = select.select([self._ours], [], [], seconds)
        if not ready:
            return False
        try:
            data = os.read(self._ours, 65536)
        except OSError:  # the other side closed
            return False
        self.raw += self._decoder.decode(data)  # a read may end within a character
        return bool(data)
