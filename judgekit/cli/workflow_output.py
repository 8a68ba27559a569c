"""Output in GitHub Actions: texts of cases, judges and files are never read as commands.

A runner takes a line of either stream for a command if it begins with `::`, or has `##[` anywhere
(`ActionCommand.cs` of actions/runner). While a command line runs there, its streams are replaced
by streams that put a space into these marks, whatever part of the program prints them.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO

_BREAKS = re.compile(r"([\r\n\v\f\x1c-\x1e\x85\u2028\u2029])")


class WorkflowStream:
    """A text stream without commands; other attributes are those of the inner stream.

    Args:
        inner: the stream to write to.
    """

    def __init__(self, inner: TextIO) -> None:
        self.inner = inner
        self._head = self._tail = ""
        """The first two characters of the line, after white space, and its last two."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def write(self, text: str) -> int:
        """Write a text; return its length."""
        self.inner.write("".join(self._safe(text)))
        return len(text)

    def writelines(self, lines: Any) -> None:
        """Write several texts."""
        for line in lines:
            self.write(line)

    def _safe(self, text: str) -> Iterator[str]:
        for part in _BREAKS.split(text):
            if _BREAKS.fullmatch(part):
                self._head = self._tail = ""
                yield part
            elif part:
                yield self._safe_part(part)

    def _safe_part(self, part: str) -> str:
        head = self._head
        self._head = (head + part.lstrip() if not head else head + part)[:2]
        if self._head == "::" and head in ("", ":"):
            at = part.index(":") + (not head)
            part = f"{part[:at]} {part[at:]}"
        # In a line of JSON, the mark is escaped, so that the value is the same.
        opened = "\\u005b" if self._head[:1] in ("{", "[", '"') else " ["
        marked = (self._tail + part).replace("##[", f"##{opened}")
        part = marked[len(self._tail) :]
        self._tail = part[-2:] if len(part) > 1 else (self._tail + part)[-2:]
        return part


@contextmanager
def without_commands() -> Iterator[None]:
    """Replace the standard streams during the body, if it runs in GitHub Actions."""
    if os.environ.get("GITHUB_ACTIONS", "").lower() in ("", "0", "false"):
        yield
        return
    before = sys.stdout, sys.stderr
    streams: Any = tuple(map(WorkflowStream, before))
    sys.stdout, sys.stderr = streams
    try:
        yield
    finally:
        if (sys.stdout, sys.stderr) == streams:
            sys.stdout, sys.stderr = before


def print_command(line: str, *, error: bool = False) -> None:
    """Print a command of judgekit itself on standard output, or on standard error."""
    stream: Any = sys.stderr if error else sys.stdout
    print(line, file=stream.inner if isinstance(stream, WorkflowStream) else stream, flush=True)
