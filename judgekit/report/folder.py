"""The run folder: everything a run said, in files that need nothing else.

`results.jsonl`, `report.json` and `tape.jsonl` are the same bytes for the same inputs;
`run.json` holds what depends on the occasion; `report.html` is the page.
"""

from __future__ import annotations

import json
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

VERSION = 1
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


class ResultsWriter:
    """Writes `results.jsonl` as results come: a header, then each case followed by its rows."""

    def __init__(self, folder: Path, *, manifest: dict[str, Any]) -> None:
        self.folder = folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for stale in (REPORT, TAPE, RUN, PAGE, AGREEMENT):
                (folder / stale).unlink(missing_ok=True)
            self._file: BinaryIO = (folder / RESULTS).open("wb", buffering=_BUFFER)
        except OSError as exc:
            raise ConfigError(f"cannot be written: {exc.strerror}", where=str(folder)) from exc
        header = {
            "judgekit": "results",
            "manifest": digest(canonical_json(manifest)),
            "version": VERSION,
        }
        self._file.write(canonical_json(header).encode() + b"\n")
        self._file.flush()
        self._flushed = time.monotonic()
        _hold(self._file)

    def write(self, case: bytes, rows: Iterable[bytes]) -> None:
        """Write one case, given as JSON in UTF-8, and its rows, each a line in UTF-8."""
        lines = [b'{"type":"case","case":%b}' % case, *rows, b""]
        try:
            self._file.write(b"\n".join(lines))
            if time.monotonic() - self._flushed > _SEEN:
                self._file.flush()
                self._flushed = time.monotonic()
        except OSError as exc:
            raise ConfigError(
                f"cannot be written: {exc.strerror}", where=str(self.folder / RESULTS)
            ) from exc

    def flush(self) -> None:
        """Hand what was written to the operating system."""
        self._file.flush()

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def _hold(file: BinaryIO) -> None:
    """Hold a file as long as it is open, so that others can tell a run from what is left of one."""
    with suppress(ImportError, OSError):  # no such locks here: others go by when it was written
        import fcntl

        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)


def is_held(path: Path) -> bool | None:
    """Return whether a run is writing a file; `None` where that cannot be told."""
    try:
        import fcntl

        with path.open("rb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return True
            return False
    except (ImportError, OSError):
        return None


def write_json(path: Path, value: Any) -> None:
    """Write a value as indented JSON with sorted keys.

    Raises:
        ConfigError: the file cannot be written.
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, sort_keys=True, indent=1)
    try:
        path.write_text(text + "\n", encoding="utf-8")
    except OSError as exc:
        raise ConfigError(f"cannot be written: {exc.strerror}", where=str(path)) from exc


def read_json(path: Path) -> Any:
    """Read a JSON file of a run folder.

    Raises:
        ConfigError: it is missing or not JSON.
    """
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as exc:
        raise ConfigError(
            f"not a run folder: {path.name} is missing; make one with `judgekit run --out`",
            where=str(path.parent),
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
