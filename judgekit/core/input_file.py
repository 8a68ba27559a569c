"""Files read whole: regular files only, and never more than a limit."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import IO, AnyStr

from judgekit.core.errors import ConfigError

MAX_PLAIN = 64 * 2**20
"""Bytes of a file that is one text."""


class Unreadable(OSError):
    """A file is none that is read whole; the message says why and what to do."""

    def __str__(self) -> str:
        return str(self.strerror)


def read_bytes(path: Path, *, most: int) -> bytes:
    """Return the bytes of a regular file.

    Args:
        path: the file.
        most: bytes it may have. The limit holds for what is read, whatever the size is said to
            be: a device says 0, and a file may grow.

    Raises:
        Unreadable: it is larger, or no regular file.
        OSError: it cannot be opened or read.
    """
    # O_NONBLOCK: a named pipe, which is refused below, is not waited for.
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    with os.fdopen(os.open(path, flags), "rb") as file:
        opened = os.fstat(file.fileno())
        if not stat.S_ISREG(opened.st_mode):
            message = "not a regular file but a device or a pipe; name a file"
            raise Unreadable(errno.EINVAL, message, str(path))
        data = b"" if opened.st_size > most else file.read(most + 1)
    if max(len(data), opened.st_size) > most:
        raise Unreadable(errno.EFBIG, f"larger than {most:,} bytes; make it smaller", str(path))
    return data


def read_text(path: Path, *, most: int) -> str:
    """Return the text of a regular file in UTF-8, without a byte order mark.

    Line ends are LF, as where Python reads text.

    Raises:
        Unreadable: it is larger than `most` bytes, or no regular file.
        OSError: it cannot be opened or read.
        UnicodeDecodeError: it is not UTF-8.
    """
    text = read_bytes(path, most=most).decode("utf-8-sig")
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def read_prompt(path: Path, *, flag: str) -> str:
    """Return the text of a file that a flag names, without space around it.

    Args:
        path: the file.
        flag: the flag, for messages.

    Raises:
        ConfigError: the file cannot be read, or is not UTF-8.
    """
    try:
        return read_text(path, most=MAX_PLAIN).strip()
    except (OSError, UnicodeDecodeError) as exc:
        raise ConfigError(f"{flag}: cannot be read: {exc}; name a UTF-8 text file") from exc


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file, which is read in parts."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def bounded_lines(file: IO[AnyStr], *, most: int) -> Iterator[AnyStr]:
    """Yield the lines of an open file, with their ends.

    Raises:
        Unreadable: a line is longer than `most` characters, or bytes.
    """
    for number, line in enumerate(iter(lambda: file.readline(most + 1), file.read(0)), start=1):
        if len(line) > most:
            message = f"line {number} is longer than {most:,} characters; shorten or delete it"
            raise Unreadable(errno.EFBIG, message, file.name)
        yield line
