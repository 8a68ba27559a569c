"""The results of a run as lines: each case with the lines of its rows, not parsed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from judgekit.core.errors import ConfigError, place
from judgekit.core.input_file import bounded_lines
from judgekit.report.folder import MAX_LINE, RESULTS, check_header
from judgekit.report.lookup import CASE


class CaseBlock(NamedTuple):
    """The lines of a case in a file of results."""

    number: int
    """The number of its first line, from 1."""
    case: bytes
    rows: list[bytes]


def read_blocks(folder: Path) -> Iterator[CaseBlock]:
    """Yield the cases of a run as lines, in order; a truncated last line is ignored.

    Raises:
        ConfigError: not the results of a run.
    """
    path = folder / RESULTS
    try:
        with path.open("rb") as file:
            yield from _blocks(bounded_lines(file, most=MAX_LINE), path)
    except (OSError, UnicodeDecodeError) as exc:
        raise ConfigError(f"cannot be read: {exc}", where=str(path)) from exc


def _blocks(lines: Iterator[bytes], path: Path) -> Iterator[CaseBlock]:
    block: CaseBlock | None = None
    number = 0
    for number, line in enumerate(lines, start=1):
        if number == 1:
            check_header(line.decode(), place(path, 1))
        elif not line.endswith(b"\n"):
            break
        elif line.startswith(CASE):
            if block is not None:
                yield block
            block = CaseBlock(number, line, [])
        elif block is None:
            raise ConfigError("not a result judgekit wrote", where=place(path, number))
        else:
            block.rows.append(line)
    if number == 0:
        raise ConfigError("is empty: the run was stopped before it began", where=str(path))
    if block is not None:
        yield block
