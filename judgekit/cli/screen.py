"""What a terminal takes: how wide it is, and whether it shows colours."""

from __future__ import annotations

import os
import shutil
import sys
from typing import TextIO

from judgekit.report.cells import cut

WIDEST = 100
NARROWEST = 60


def columns() -> int:
    """Return the width to print in, 60 to 100 columns."""
    return min(WIDEST, max(NARROWEST, shutil.get_terminal_size((80, 24)).columns))


def colourful(stream: TextIO | None = None) -> bool:
    """Return whether a stream, standard output by default, is to have colours.

    A terminal has them. `NO_COLOR` takes them away, whatever else is set; `FORCE_COLOR` and
    `CLICOLOR_FORCE` give them to a file or a pipe as well, `CLICOLOR=0` and `TERM=dumb` take them
    from a terminal. An empty variable says nothing.
    """
    said = os.environ.get
    if said("NO_COLOR"):
        return False
    for forced in ("FORCE_COLOR", "CLICOLOR_FORCE"):
        if said(forced):
            return said(forced) not in ("0", "false")
    if said("CLICOLOR") == "0" or said("TERM") == "dumb":
        return False
    return (stream or sys.stdout).isatty()


def fitted(text: str) -> str:
    """Return a list with its lines cut to the terminal; a file or a pipe gets them whole."""
    if not sys.stdout.isatty():
        return text
    room = max(NARROWEST, shutil.get_terminal_size((80, 24)).columns)
    return "".join(f"{cut(line, room)}\n" for line in text.splitlines())
