"""Where an export goes: a file that is written whole or not at all, or a device as it comes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from judgekit.errors import ConfigError


@contextmanager
def written(path: Path) -> Iterator[BinaryIO]:
    """Open a file to write; what stood there before still stands when writing fails.

    Raises:
        ConfigError: it cannot be written.
    """
    if path.exists() and not path.is_file() and not path.is_dir():
        # A pipe or a device, such as /dev/stdout: a rename would put a file in its place.
        with translated(path), path.open("wb") as stream:
            yield stream
        return
    beside = path.with_name(f".{path.name}.{os.getpid()}.new")
    with translated(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_dir():
            raise ConfigError("is a folder; name a file", where=str(path))
        with suppress(FileNotFoundError):
            beside.unlink()
        try:
            # "x": never through a link that someone put there.
            with beside.open("xb") as file:
                yield file
            beside.replace(path)
        except BaseException:
            with suppress(OSError):
                beside.unlink(missing_ok=True)
            raise


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Turn what writing may raise into one line.

    Raises:
        ConfigError: writing failed.
    """
    try:
        yield
    except OSError as exc:
        reason = exc.strerror or type(exc).__name__
        raise ConfigError(f"cannot be written: {reason}", where=str(path)) from exc
