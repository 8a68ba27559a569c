"""The run folder: all results of a run in self-contained files, written by one run at a time.

`results.jsonl`, `report.json` and `tape.jsonl` have the same bytes for the same inputs. `run.json`
contains the facts of one execution; `report.html` is the page. `report.json` is written last: if it
exists, the run finished and all other files are complete.
"""

from __future__ import annotations

import json
import math
import os
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, TextIO

from pydantic import ValidationError

from judgekit.core.canonical import canonical_json, digest
from judgekit.core.case import Case
from judgekit.core.distribution import Distribution
from judgekit.core.errors import ConfigError, place
from judgekit.core.input_file import bounded_lines, nearby, read_text
from judgekit.core.output_file import is_link, open_in_place, whole_file
from judgekit.core.score import Row, Score

RESULTS = "results.jsonl"
REPORT = "report.json"
TAPE = "tape.jsonl"
RUN = "run.json"
PAGE = "report.html"
AGREEMENT = "agree.json"
PLACES = "places"
"""Key of `run.json`: locations of cases with a derived id."""
BELOW = "below"
"""Key of `run.json`: the number of cases that miss a threshold."""
SHARD = "shard.json"
"""Only in a shard: the positions of its cases in the data set."""
INDEX = "results.index"
"""Only of a very large run, written by `judgekit view`: the order of its cases."""
FILES = (REPORT, PAGE, TAPE, RUN, SHARD, AGREEMENT, INDEX, RESULTS)
"""Files of a run folder, in the order in which a new run removes them: `report.json`, which marks a
complete run, first."""

VERSION = 1
MAX_JSON = 256 * 2**20
"""Maximum size of a JSON file of a run folder, in bytes."""
MAX_LINE = 128 * 2**20
"""Maximum length of a line of results, in characters: a case of 64 MB after escaping."""

_SIGNATURE = b'{"judgekit":"results",'
"""The first bytes of all results files."""
_LOOK = 0.2
"""Seconds to wait for the lock of a folder before reporting that another run has it."""
_BUFFER = 1 << 16
"""Size of the write buffer, in bytes."""
_FLUSH_AFTER = 0.5
"""Seconds after which the buffer is written, so readers see progress."""


class Scored(NamedTuple):
    """A case and its rows, one for each metric."""

    case: Case
    rows: tuple[Row, ...]

    def __repr__(self) -> str:
        return f"Scored(case={self.case!r}, rows={list(self.rows)!r})"

    def _repr_html_(self) -> str:
        return self._repr_mimebundle_()["text/html"]

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        from judgekit.core.display.html import bundle
        from judgekit.core.display.result import scored_parts

        return bundle(scored_parts(self.case, self.rows))

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        from judgekit.core.display.html import pretty

        pretty(printer, self)


def check_finished(folder: Path) -> None:
    """Raise an error if the run of a folder did not finish.

    Raises:
        ConfigError: the run did not finish; the message says what to do.
    """
    if (folder / RESULTS).exists() and not (folder / REPORT).exists():
        raise ConfigError(
            "the run is still going, or was stopped before its end; "
            "run it again: what it kept is not asked again",
            where=str(folder),
        )


def is_locked(path: Path) -> bool | None:
    """Return whether a run is writing a file; `None` if the system does not support locks."""
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
    """Write a value atomically as indented JSON with sorted keys.

    Raises:
        ConfigError: the file cannot be written.
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, sort_keys=True, indent=1)
    try:
        with whole_file(path) as file:
            file.write(f"{text}\n".encode())
    except OSError as exc:
        raise ConfigError(f"cannot be written: {exc.strerror}", where=str(path)) from exc


def read_json(path: Path) -> Any:
    """Read a JSON file of a run folder.

    Raises:
        ConfigError: it is missing or not JSON.
    """
    try:
        text = read_text(path, most=MAX_JSON)
        value = json.loads(text, parse_constant=_finite, parse_float=_finite)
        if "\\ud" in text.lower():  # perhaps half of a surrogate pair, which no page can show
            json.dumps(value, ensure_ascii=False).encode()
        return value
    except FileNotFoundError as exc:
        check_finished(path.parent)
        raise _no_run(path) from exc
    except NotADirectoryError as exc:
        message = "is a file; name the folder of a run, such as runs/suite"
        raise ConfigError(message, where=str(path.parent)) from exc
    except (OSError, ValueError, RecursionError) as exc:
        raise ConfigError(f"cannot be read: {exc}", where=str(path)) from exc


def _no_run(path: Path) -> ConfigError:
    """Return the error about a folder without a file that every run has."""
    hint = "" if path.parent.exists() else nearby(path.parent)
    hint = hint or "; `judgekit run` writes one to runs/NAME"
    return ConfigError(f"not a run folder: {path.name} is missing{hint}", where=str(path.parent))


def _finite(text: str) -> float:
    if not math.isfinite(number := float(text)):
        raise ValueError(f"{text} is no finite number")
    return number


def read_results(folder: Path) -> Iterator[Scored]:
    """Yield the cases of a run with their rows, in order.

    A truncated last line of a killed run is ignored; its case has only the complete rows.

    Raises:
        ConfigError: not the results of a run.
    """
    return (scored for _, scored in read_placed(folder))


def read_placed(folder: Path) -> Iterator[tuple[int, Scored]]:
    """Yield what `read_results` yields, each with the offset of its first line, in bytes.

    Raises:
        ConfigError: not the results of a run.
    """
    path = folder / RESULTS
    try:
        # Without the translation of line ends, which would shift the offsets.
        with path.open(encoding="utf-8", newline="\n") as lines:
            yield from parse_results(lines, path)
    except FileNotFoundError as exc:
        raise _no_run(path) from exc
    except (OSError, UnicodeDecodeError) as exc:
        raise ConfigError(f"cannot be read: {exc}", where=str(path)) from exc


def read_manifest_digest(folder: Path) -> str | None:
    """Return the digest of a run's manifest; `None` if the results do not contain one.

    Raises:
        ConfigError: not the results of a run.
    """
    path = folder / RESULTS
    try:
        with path.open(encoding="utf-8") as lines:
            header = check_header(lines.readline(MAX_LINE), place(path, 1))
    except (OSError, UnicodeDecodeError) as exc:
        raise ConfigError("not a run folder: it has no results", where=str(folder)) from exc
    known = header.get("manifest")
    return known if isinstance(known, str) else None


def parse_results(lines: TextIO, path: Path) -> Iterator[tuple[int, Scored]]:
    """Yield the cases of an open file of results with their rows, each with its offset.

    Raises:
        ConfigError: not the results of a run.
    """
    case: Case | None = None
    rows: list[Row] = []
    number = begin = end = 0
    for number, line in enumerate(bounded_lines(lines, most=MAX_LINE), start=1):
        where = place(path, number)
        at, end = end, end + (len(line) if line.isascii() else len(line.encode()))
        if number == 1:
            check_header(line, where)
            continue
        if not line.endswith("\n"):
            break
        try:
            if line.startswith('{"type":"case"'):
                if case is not None:
                    yield begin, Scored(case, tuple(rows))
                begin, rows = at, []
                case = Case.model_validate(json.loads(line)["case"])
            else:
                rows.append(checked_row(Row.model_validate_json(line), case))
        except (ValidationError, ValueError, KeyError, RecursionError) as exc:
            raise ConfigError("not a result judgekit wrote", where=where) from exc
    if number == 0:
        raise ConfigError("is empty: the run was stopped before it began", where=str(path))
    if case is not None:
        yield begin, Scored(case, tuple(rows))


_ROUNDED = 1e-3
"""Largest difference of a sum of probabilities from 1."""
_MOST_VALUE = 1e15
"""Largest value of a metric: lengths and counts are far smaller."""


def checked_row(row: Row, case: Case | None) -> Row:
    """Return a row that belongs to the case before it and has possible values.

    Raises:
        ValueError: it does not.
    """
    if case is None or row.case != case.id:
        raise ValueError("a row of another case")
    if isinstance(row.result, Score):
        values = (row.result.value, *(part.value for part in row.result.parts))
        if any(value is not None and abs(value) > _MOST_VALUE for value in values):
            raise ValueError("a value that no metric has")
        if not all(_is_possible(part.distribution) for part in row.result.parts):
            raise ValueError("probabilities that are none")
    return row


def _is_possible(distribution: Distribution | None) -> bool:
    if distribution is None:
        return True
    probabilities = distribution.probabilities
    if len(probabilities) != len(distribution.labels) or min(probabilities) < 0:
        return False
    return abs(math.fsum(probabilities) - 1) < _ROUNDED


def check_header(line: str, where: str) -> dict[str, Any]:
    """Return the header of a file of results, its first line.

    Raises:
        ConfigError: not the results of a run, or of another version.
    """
    try:
        header = json.loads(line)
    except (ValueError, RecursionError) as exc:
        raise ConfigError("not the results of a run", where=where) from exc
    if not isinstance(header, dict) or header.get("judgekit") != "results":
        raise ConfigError("not the results of a run", where=where)
    if header.get("version") != VERSION:
        raise ConfigError("written by another version of judgekit", where=where)
    return header


# -- writing -----------------------------------------------------------------------


class ResultsWriter:
    """Writes `results.jsonl` during the run: a header, then each case followed by its rows.

    The folder is new, empty, or of an earlier run, whose files are removed. No other run can write
    to the folder until this object is closed; the lock is released when the process ends.

    Raises:
        ConfigError: the folder cannot be written, it contains foreign files, or another run is
            writing to it.
    """

    def __init__(self, folder: Path, *, manifest: dict[str, Any]) -> None:
        self.folder = folder
        with _translated(folder), ExitStack() as unless_claimed:
            check_folder(folder)
            folder.mkdir(parents=True, exist_ok=True)
            # Without O_TRUNC, which would empty the file of a running run.
            handle = open_in_place(folder / RESULTS, os.O_RDWR | os.O_CREAT)
            file: BinaryIO = os.fdopen(handle, "r+b", buffering=_BUFFER)
            unless_claimed.callback(file.close)
            _claim(handle, folder)
            # Another program may have written to the folder between the check and the lock.
            head = file.read(len(_SIGNATURE))
            _check_results(head, folder)
            self.went_on = bool(head) and not (folder / REPORT).exists()
            """Whether an earlier run in this folder did not finish."""
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
            ConfigError: the data cannot be written.
        """
        with _translated(self.folder / RESULTS):
            self._file.flush()

    def close(self) -> None:
        """Close the file and unlock the folder."""
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
    """Check that a run would not replace foreign files in a folder or be mixed with them.

    Nothing is written.

    Raises:
        ConfigError: `folder` is a link, a file, or a folder with foreign files; or a run file in it
            is not a regular file.
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
    """Check that the results in a folder begin like those of a run.

    After an early kill, the results are empty or truncated; the other files are then those of
    earlier runs.

    Raises:
        ConfigError: a file was not written by a run; the message names it.
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
    """Return a new folder inside another one, for a suggestion."""
    number = 1
    while os.path.lexists(path := folder / ("run" if number == 1 else f"run-{number}")):
        number += 1
    return path


def _claim(handle: int, folder: Path) -> None:
    """Lock a folder against other runs while one of its files is open."""
    try:
        import fcntl
    except ImportError:  # Windows has no such lock
        return
    end = time.monotonic() + _LOOK
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as exc:
            if time.monotonic() < end:  # `is_locked` also takes the lock for a moment
                time.sleep(_LOOK / 10)
                continue
            message = "another run is writing here; wait for its end, or name another folder"
            raise ConfigError(message, where=str(folder)) from exc
        except OSError:  # a file system without locks
            return
        return
