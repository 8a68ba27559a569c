"""The target of an export, a file or a device, and the marks of characters that mislead in it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from judgekit.core.errors import ConfigError
from judgekit.core.output_file import whole_file


@contextmanager
def written(path: Path) -> Iterator[BinaryIO]:
    """Open a file to write; an existing file is kept if writing fails.

    Raises:
        ConfigError: it cannot be written.
    """
    if path.exists() and not path.is_file() and not path.is_dir():
        # A pipe or a device, such as /dev/stdout: a rename would replace it by a file.
        with translated(path), path.open("wb") as stream:
            yield stream
        return
    with translated(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_dir():
            raise ConfigError("is a folder; name a file", where=str(path))
        with whole_file(path) as file:
            yield file


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Translate writing errors to one line.

    Raises:
        ConfigError: writing failed.
    """
    try:
        yield
    except OSError as exc:
        reason = exc.strerror or type(exc).__name__
        raise ConfigError(f"cannot be written: {reason}", where=str(path)) from exc


# Control characters, surrogates, invisible marks, direction overrides, line separators, tags and
# noncharacters: XML 1.0 forbids some of them, and the others mislead readers.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff"
    "\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff\U000e0000-\U000e01ef]"
)


def named(text: str) -> str:
    r"""Return a text with invisible characters as code points; tabs and line ends are kept.

    >>> named("a\x07b\u202ec")
    'a⟨U+0007⟩b⟨U+202E⟩c'
    """
    if text.isascii() and text.replace("\n", "").isprintable():
        return text
    return _UNSEEN.sub(lambda found: f"⟨U+{ord(found[0]):04X}⟩", text)


def one_line(text: str, *, most: int = 1000) -> str:
    """Return a text on one line, with invisible characters as code points, cut to a length."""
    line = " ".join(named(text).split())
    return line if len(line) <= most else line[: most - 1] + "…"
