"""Tape lines of the replies of this process, so that the end of a run need not read the store."""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TextIO

from judgekit.core.output_file import nameless_file


class NewLines:
    """Tape lines by key, in a file without a name; memory holds their keys only.

    The store has every reply as well. When the disk is full, this keeps nothing.

    Args:
        folder: where the file is made with the first line.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file: TextIO | None = None
        self._end = 0
        self._starts: dict[str, int] = {}
        self._parts: dict[str, str] = {}
        """The part lines of all lines, by digest."""
        self._closed = False

    def put(self, key: str, line: str, parts: Mapping[str, str]) -> None:
        """Keep a line; it replaces an earlier line of the key."""
        if self._closed:
            return
        data = f"{line}\n".encode()
        try:
            if self._file is None:
                self._file = nameless_file(self._folder)
                weakref.finalize(self, self._file.close)  # a cassette need not be closed
            self._file.buffer.write(data)
        except OSError:
            self.close()
            return
        self._starts[key] = self._end
        self._parts.update(parts)
        self._end += len(data)

    def get(self, key: str) -> tuple[str, Mapping[str, str]] | None:
        """Return a line and the part lines of all lines; `None` if it is not here."""
        start = self._starts.get(key)
        if start is None or self._file is None:
            return None
        try:
            self._file.buffer.seek(start)
            line = self._file.buffer.readline().decode()
            self._file.buffer.seek(self._end)
        except OSError:
            self.close()
            return None
        return line[:-1], self._parts

    def close(self) -> None:
        """Delete the file."""
        self._closed = True
        self._starts.clear()
        self._parts.clear()
        if self._file is not None:
            with suppress(OSError):
                self._file.close()
