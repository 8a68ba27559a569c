"""The terminal: its width, its colours, and a line that shows progress."""

from __future__ import annotations

import os
import shutil
import sys
import time
from typing import Self

from judgekit.core.canonical import printable
from judgekit.core.cells import cut

WIDEST = 100
NARROWEST = 60
BETWEEN = 0.2
"""Seconds between two updates of a progress line."""


def columns() -> int:
    """Return the width to print in, 60 to 100 columns."""
    return min(WIDEST, max(NARROWEST, shutil.get_terminal_size((80, 24)).columns))


def colourful() -> bool:
    """Return whether to print colours on standard output.

    A terminal gets colours. `NO_COLOR` turns them off and overrides every other variable;
    `FORCE_COLOR` and `CLICOLOR_FORCE` turn them on for a file or a pipe; `CLICOLOR=0` and
    `TERM=dumb` turn them off for a terminal. An empty variable has no effect.
    """
    variable = os.environ.get
    if variable("NO_COLOR"):
        return False
    for forced in ("FORCE_COLOR", "CLICOLOR_FORCE"):
        if variable(forced):
            return variable(forced) not in ("0", "false")
    if variable("CLICOLOR") == "0" or variable("TERM") == "dumb":
        return False
    return sys.stdout.isatty()


def fitted(text: str) -> str:
    """Return a list with its lines cut to the width of a terminal, or whole for a file or pipe."""
    if not sys.stdout.isatty():
        return text
    room = max(NARROWEST, shutil.get_terminal_size((80, 24)).columns)
    return "".join(f"{cut(line, room)}\n" for line in text.splitlines())


class StatusLine:
    """One line on standard error, replaced by the next one; nothing where that is no terminal.

    As a context manager, it is removed at the end.
    """

    def __init__(self, *, shown: bool = True) -> None:
        self._terminal = shown and sys.stderr.isatty()
        self._updated = 0.0

    def due(self) -> bool:
        """Return whether the line may be replaced again: a few times a second."""
        now = time.monotonic()
        if not self._terminal or now - self._updated < BETWEEN:
            return False
        self._updated = now
        return True

    def show(self, line: str) -> None:
        """Replace the line."""
        if self._terminal:
            room = max(20, shutil.get_terminal_size((80, 24)).columns - 1)
            print(f"\r\x1b[K{cut(printable(line), room)}", end="", file=sys.stderr, flush=True)

    def clear(self) -> None:
        """Remove the line."""
        self.show("")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.clear()
