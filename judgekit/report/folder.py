"""The run folder: all results of a run in self-contained files.

`results.jsonl`, `report.json` and `tape.jsonl` are the same bytes for the same inputs;
`run.json` holds what depends on the occasion; `report.html` is the page. `report.json` comes last:
where it is, the run came to its end, and all the others are whole.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, TextIO

from pydantic import ValidationError

from judgekit.core.case import Case
from judgekit.core.errors import ConfigError, place
from judgekit.core.input_file import bounded_lines, read_text
from judgekit.core.output_file import whole_file
from judgekit.core.score import Row

RESULTS = "results.jsonl"
REPORT = "report.json"
TAPE = "tape.jsonl"
RUN = "run.json"
PAGE = "report.html"
AGREEMENT = "agree.json"
PLACES = "places"
"""Key of `run.json`: places of cases with a derived id."""
SHARD = "shard.json"
"""Only of a shard: the positions of its cases among all."""
FILES = (REPORT, PAGE, TAPE, RUN, SHARD, AGREEMENT, RESULTS)
"""Files of a run folder, in the order in which a new run removes them: `report.json`, which marks a
complete run, first."""

VERSION = 1
MAX_JSON = 256 * 2**20
"""Bytes a JSON file of a run folder may have."""
MAX_LINE = 128 * 2**20
"""The longest line of results, in characters: a case of 64 MB after escaping."""


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
        ConfigError: saying what to do.
    """
    if (folder / RESULTS).exists() and not (folder / REPORT).exists():
        raise ConfigError(
            "the run is still going, or was stopped before its end; "
            "run it again: what it kept is not asked again",
            where=str(folder),
        )


def is_locked(path: Path) -> bool | None:
    """Return whether a run is writing a file; `None` if the system cannot tell."""
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
        return json.loads(
            read_text(path, most=MAX_JSON), parse_constant=_finite, parse_float=_finite
        )
    except FileNotFoundError as exc:
        check_finished(path.parent)
        raise ConfigError(
            f"not a run folder: {path.name} is missing; `judgekit run` writes one to runs/NAME",
            where=str(path.parent),
        ) from exc
    except NotADirectoryError as exc:
        raise ConfigError(
            "is a file; name the folder of a run, such as runs/suite", where=str(path.parent)
        ) from exc
    except (OSError, ValueError, RecursionError) as exc:
        raise ConfigError(f"cannot be read: {exc}", where=str(path)) from exc


def _finite(text: str) -> float:
    if not math.isfinite(number := float(text)):
        raise ValueError(f"{text} is no finite number")
    return number


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
    """Return the digest of the manifest of a run; `None` if the results do not hold one.

    Raises:
        ConfigError: not the results of a run.
    """
    path = folder / RESULTS
    try:
        with path.open(encoding="utf-8") as lines:
            header = _check_header(lines.readline(MAX_LINE), place(path, 1))
    except (OSError, UnicodeDecodeError) as exc:
        raise ConfigError("not a run folder: it has no results", where=str(folder)) from exc
    digest = header.get("manifest")
    return digest if isinstance(digest, str) else None


def _parse(lines: TextIO, path: Path) -> Iterator[Scored]:
    case: Case | None = None
    rows: list[Row] = []
    number = 0
    for number, line in enumerate(bounded_lines(lines, most=MAX_LINE), start=1):
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
