"""The run folder: everything a run said, in files that need nothing else.

`results.jsonl`, `report.json` and `tape.jsonl` are the same bytes for the same inputs;
`run.json` holds what depends on the occasion; `report.html` is the page. `report.json` comes last:
where it is, the run came to its end, and all the others are whole.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, TextIO

from pydantic import ValidationError

from judgekit.canonical import canonical_json, digest
from judgekit.case import Case
from judgekit.errors import ConfigError, place
from judgekit.score import Row

RESULTS = "results.jsonl"
REPORT = "report.json"
TAPE = "tape.jsonl"
RUN = "run.json"
PAGE = "report.html"
AGREEMENT = "agree.json"
SHARD = "shard.json"
"""Of a run that is one of several parts: where its cases stood among all."""
FILES = (REPORT, PAGE, TAPE, RUN, SHARD, AGREEMENT, RESULTS)
"""All that may be in a run folder, in the order in which a new run removes it: the word that a run
is whole goes first."""

VERSION = 1
_LOOK = 0.2
"""Seconds after which a folder that is held is held by a run."""
_BUFFER = 1 << 16
"""Bytes of results that are handed to the operating system at a time."""
_SEEN = 0.5
"""Seconds after which they are handed over all the same, for whoever looks on."""


class Scored(NamedTuple):
    """A case and what every metric said of it."""

    case: Case
    rows: tuple[Row, ...]

    def __repr__(self) -> str:
        return f"Scored(case={self.case!r}, rows={list(self.rows)!r})"

    def _repr_html_(self) -> str:
        return self._repr_mimebundle_()["text/html"]

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        from judgekit.display.bundle import bundle
        from judgekit.display.result import scored_parts

        return bundle(scored_parts(self.case, self.rows))

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        from judgekit.display.bundle import pretty

        pretty(printer, self)


class ResultsWriter:
    """Writes `results.jsonl` as results come: a header, then each case followed by its rows.

    What an earlier run left in the folder is removed. Nobody else writes to the folder until this
    is closed; the lock goes with the process, however that ends.

    Raises:
        ConfigError: the folder cannot be written, or another run is writing to it.
    """

    def __init__(self, folder: Path, *, manifest: dict[str, Any]) -> None:
        self.folder = folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
            # Not "wb", which would empty the file of a run that is still going.
            handle = os.open(folder / RESULTS, os.O_RDWR | os.O_CREAT, 0o666)
            self._file: BinaryIO = os.fdopen(handle, "r+b", buffering=_BUFFER)
        except OSError as exc:
            raise ConfigError(f"cannot be written: {exc.strerror}", where=str(folder)) from exc
        try:
            _claim(handle, folder)
            self.went_on = self._file.seek(0, os.SEEK_END) > 0 and not (folder / REPORT).exists()
            """Whether a run was stopped here before its end."""
            for stale in FILES[:-1]:
                (folder / stale).unlink(missing_ok=True)
                for half in folder.glob(f".{stale}.*.new"):
                    half.unlink(missing_ok=True)
            self._file.seek(0)
            self._file.truncate()
        except OSError as exc:
            self._file.close()
            raise ConfigError(f"cannot be written: {exc.strerror}", where=str(folder)) from exc
        except ConfigError:
            self._file.close()
            raise
        header = {
            "judgekit": "results",
            "manifest": digest(canonical_json(manifest)),
            "version": VERSION,
        }
        self._file.write(canonical_json(header).encode() + b"\n")
        self._file.flush()
        self._flushed = time.monotonic()

    def write(self, case: bytes, rows: Iterable[bytes]) -> None:
        """Write one case, given as JSON in UTF-8, and its rows, each a line in UTF-8."""
        lines = [b'{"type":"case","case":%b}' % case, *rows, b""]
        try:
            self._file.write(b"\n".join(lines))
            if time.monotonic() - self._flushed > _SEEN:
                self._file.flush()
                self._flushed = time.monotonic()
        except OSError as exc:
            raise self._unwritable(exc) from exc

    def flush(self) -> None:
        """Hand what was written to the operating system.

        Raises:
            ConfigError: it takes no more.
        """
        try:
            self._file.flush()
        except OSError as exc:
            raise self._unwritable(exc) from exc

    def _unwritable(self, exc: OSError) -> ConfigError:
        where = str(self.folder / RESULTS)
        return ConfigError(f"cannot be written: {exc.strerror}", where=where)

    def close(self) -> None:
        """Close the file, and let others write to the folder."""
        try:
            self._file.close()
        except OSError as exc:
            raise self._unwritable(exc) from exc


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
            if time.monotonic() < end:  # who asks whether a run is writing holds it for a moment
                time.sleep(_LOOK / 10)
                continue
            message = "another run is writing here; wait for its end, or name another folder"
            raise ConfigError(message, where=str(folder)) from exc
        except OSError:  # a file system without locks
            return
        return


def check_finished(folder: Path) -> None:
    """Refuse the folder of a run that did not come to its end.

    Raises:
        ConfigError: saying what to do.
    """
    if (folder / RESULTS).exists() and not (folder / REPORT).exists():
        raise ConfigError(
            "the run is still going, or was stopped before its end; "
            "run it again: what it kept is not asked again",
            where=str(folder),
        )


def is_held(path: Path) -> bool | None:
    """Return whether a run is writing a file; `None` where that cannot be told."""
    try:
        import fcntl

        with path.open("rb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return True
            return False
    except (ImportError, OSError):
        return None


def write_json(path: Path, value: Any) -> None:
    """Write a value as indented JSON with sorted keys: the whole file or nothing.

    Raises:
        ConfigError: the file cannot be written.
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, sort_keys=True, indent=1)
    beside = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        beside.unlink(missing_ok=True)
        # "x": never through a link that someone put there.
        with beside.open("x", encoding="utf-8") as file:
            file.write(text + "\n")
        beside.replace(path)
    except OSError as exc:
        with suppress(OSError):
            beside.unlink(missing_ok=True)
        raise ConfigError(f"cannot be written: {exc.strerror}", where=str(path)) from exc


def read_json(path: Path) -> Any:
    """Read a JSON file of a run folder.

    Raises:
        ConfigError: it is missing or not JSON.
    """
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as exc:
        check_finished(path.parent)
        raise ConfigError(
            f"not a run folder: {path.name} is missing; make one with `judgekit run --out`",
            where=str(path.parent),
        ) from exc
    except NotADirectoryError as exc:
        raise ConfigError(
            "is a file; a run is the folder it is in", where=str(path.parent)
        ) from exc
    except (OSError, ValueError, RecursionError) as exc:
        raise ConfigError(f"cannot be read: {exc}", where=str(path)) from exc


def read_results(folder: Path) -> Iterator[Scored]:
    """Yield the cases of a run with their rows, in order.

    A last line cut off by a kill is left out; the case it belongs to comes with what it has.

    Raises:
        ConfigError: not the results of a run.
    """
    path = folder / RESULTS
    try:
        with path.open(encoding="utf-8") as lines:
            yield from _parse(lines, path)
    except FileNotFoundError as exc:
        raise ConfigError(f"not a run folder: {RESULTS} is missing", where=str(folder)) from exc
    except (OSError, UnicodeDecodeError) as exc:
        raise ConfigError(f"cannot be read: {exc}", where=str(path)) from exc


def read_manifest_digest(folder: Path) -> str | None:
    """Return the digest of what decided the numbers of a run; `None` when it does not say.

    Raises:
        ConfigError: not the results of a run.
    """
    path = folder / RESULTS
    try:
        with path.open(encoding="utf-8") as lines:
            header = _check_header(lines.readline(), place(path, 1))
    except (OSError, UnicodeDecodeError) as exc:
        raise ConfigError("not a run folder: it has no results", where=str(folder)) from exc
    found = header.get("manifest")
    return found if isinstance(found, str) else None


def _parse(lines: TextIO, path: Path) -> Iterator[Scored]:
    case: Case | None = None
    rows: list[Row] = []
    number = 0
    for number, line in enumerate(lines, start=1):
        where = place(path, number)
        if number == 1:
            _check_header(line, where)
            continue
        if not line.endswith("\n"):
            break
        try:
            if line.startswith('{"type":"case"'):
                if case is not None:
                    yield Scored(case, tuple(rows))
                case, rows = Case.model_validate(json.loads(line)["case"]), []
            else:
                rows.append(Row.model_validate_json(line))
        except (ValidationError, ValueError, KeyError, RecursionError) as exc:
            raise ConfigError("not a result judgekit wrote", where=where) from exc
    if number == 0:
        raise ConfigError("is empty: the run was stopped before it began", where=str(path))
    if case is not None:
        yield Scored(case, tuple(rows))


def _check_header(line: str, where: str) -> dict[str, Any]:
    try:
        header = json.loads(line)
    except (ValueError, RecursionError) as exc:
        raise ConfigError("not the results of a run", where=where) from exc
    if not isinstance(header, dict) or header.get("judgekit") != "results":
        raise ConfigError("not the results of a run", where=where)
    if header.get("version") != VERSION:
        raise ConfigError("written by another version of judgekit", where=where)
    return header
