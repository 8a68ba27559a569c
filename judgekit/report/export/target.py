"""The target of an export: a file, written atomically, or a device."""

from __future__ import annotations

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
