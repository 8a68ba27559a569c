"""Writing a run folder, by one run at a time."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, BinaryIO

from judgekit.core.canonical import canonical_json, digest
from judgekit.core.errors import ConfigError
from judgekit.core.output_file import is_link, open_in_place
from judgekit.report.folder import FILES, REPORT, RESULTS, VERSION

_SIGNATURE = b'{"judgekit":"results",'
"""How the results of every run begin."""
_LOOK = 0.2
"""Seconds to wait for the lock of a folder before another run is taken to hold it."""
_BUFFER = 1 << 16
"""Bytes of results that are handed to the operating system at a time."""
_FLUSH_AFTER = 0.5
"""Seconds after which they are handed over, so that readers see progress."""


class ResultsWriter:
    """Writes `results.jsonl` during the run: a header, then each case followed by its rows.

    The folder is new, empty, or of an earlier run; files of that run are removed. No other run
    writes to the folder until this is closed; the lock goes with the process, however that ends.

    Raises:
        ConfigError: the folder cannot be written, it holds files of somebody else, or another run
            is writing to it.
    """

    def __init__(self, folder: Path, *, manifest: dict[str, Any]) -> None:
        self.folder = folder
        with _translated(folder), ExitStack() as unless_claimed:
            check_folder(folder)
            folder.mkdir(parents=True, exist_ok=True)
            # No O_TRUNC, which would empty the file of a run that is still going.
            handle = open_in_place(folder / RESULTS, os.O_RDWR | os.O_CREAT)
            file: BinaryIO = os.fdopen(handle, "r+b", buffering=_BUFFER)
            unless_claimed.callback(file.close)
            _claim(handle, folder)
            # Between the first look and the claim, another program may have written here.
            head = file.read(len(_SIGNATURE))
            _check_results(head, folder)
            self.went_on = bool(head) and not (folder / REPORT).exists()
            """Whether a run was stopped here before its end."""
            for stale in FILES[:-1]:
                (folder / stale).unlink(missing_ok=True)
                for half in folder.glob(f".{stale}.*.new"):
                    half.unlink(missing_ok=True)
            file.seek(0)
            file.truncate()
            unless_claimed.pop_all()
        described = digest(canonical_json(manifest))
        header = {"judgekit": "results", "manifest": described, "version": VERSION}
        file.write(canonical_json(header).encode() + b"\n")
        file.flush()
        self._file, self._flushed = file, time.monotonic()

    def write(self, case: bytes, rows: Iterable[bytes]) -> None:
        """Write one case, given as JSON in UTF-8, and its rows, each a line in UTF-8."""
        lines = [b'{"type":"case","case":%b}' % case, *rows, b""]
        try:
            self._file.write(b"\n".join(lines))
            if time.monotonic() - self._flushed > _FLUSH_AFTER:
                self._file.flush()
                self._flushed = time.monotonic()
        except OSError as exc:
            raise _unwritable(exc, self.folder / RESULTS) from exc

    def flush(self) -> None:
        """Flush the buffer to the operating system.

        Raises:
            ConfigError: it takes no more.
        """
        with _translated(self.folder / RESULTS):
            self._file.flush()

    def close(self) -> None:
        """Close the file, and let others write to the folder."""
        with _translated(self.folder / RESULTS):
            self._file.close()


@contextmanager
def _translated(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as exc:
        raise _unwritable(exc, path) from exc


def _unwritable(exc: OSError, path: Path) -> ConfigError:
    message = f"cannot be written: {exc.strerror}; name another folder"
    return ConfigError(message, where=str(exc.filename or path))


def check_folder(folder: Path) -> None:
    """Raise an error if a run would replace or join foreign files in a folder.

    Nothing is written or made.

    Raises:
        ConfigError: `folder` is a link, a file, or neither new, nor empty, nor a run folder; or a
            file of the run in it is a link or no file.
        OSError: it cannot be read.
    """
    if is_link(folder):
        message = "is a link; name the folder that it leads to, or another one"
        raise ConfigError(message, where=str(folder))
    if not os.path.lexists(folder):
        return
    if not folder.is_dir():
        raise ConfigError("is a file; name a new folder", where=str(folder))
    for name in FILES:
        path = folder / name
        if is_link(path):
            message = f"{name} is a link, and a run writes through no link; name a new folder"
            raise ConfigError(f"{message}, such as {_free(folder)}", where=str(folder))
    results = folder / RESULTS
    try:
        handle = open_in_place(results, os.O_RDONLY)
    except FileNotFoundError:
        _check_results(b"", folder)
        return
    with os.fdopen(handle, "rb") as file:
        _check_results(file.read(len(_SIGNATURE)), folder)


def _check_results(head: bytes, folder: Path) -> None:
    """Refuse a folder if its results do not begin like those of a run.

    A run that was killed at once leaves them empty or cut off, and beside them only what other
    runs left.

    Raises:
        ConfigError: naming a file that no run wrote.
    """
    if head == _SIGNATURE:
        return
    cut_off = _SIGNATURE.startswith(head)
    for entry in sorted(folder.iterdir()):
        if entry.name == RESULTS and cut_off:
            continue
        if not (cut_off and (folder / RESULTS).exists() and _of_a_run(entry.name)):
            raise ConfigError(
                f"holds {entry.name!r} and is not a run folder; a run is written to a new or empty "
                f"folder, such as {_free(folder)}",
                where=str(folder),
            )


def _of_a_run(name: str) -> bool:
    return name in FILES or any(fnmatchcase(name, f".{file}.*.new") for file in FILES)


def _free(folder: Path) -> Path:
    """Return a folder in another one that does not exist yet, to suggest."""
    number = 1
    while os.path.lexists(path := folder / ("run" if number == 1 else f"run-{number}")):
        number += 1
    return path


def _claim(handle: int, folder: Path) -> None:
    """Keep other runs out of a folder for as long as a file of it is open."""
    try:
        import fcntl
    except ImportError:  # Windows has no such lock
        return
    end = time.monotonic() + _LOOK
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as exc:
            if time.monotonic() < end:  # `is_locked` holds it for a moment
                time.sleep(_LOOK / 10)
                continue
            message = "another run is writing here; wait for its end, or name another folder"
            raise ConfigError(message, where=str(folder)) from exc
        except OSError:  # a file system without locks
            return
        return
