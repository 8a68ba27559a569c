"""Several tapes as one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from heapq import merge
from pathlib import Path

from judgekit.cassette.tape import Tape, laid_out, write_lines


def join_tapes(paths: Sequence[Path], into: Path) -> None:
    """Write the records of several tapes as one; of several with one key, that of the first.

    Raises:
        CassetteCorrupt: one of them was damaged.
        CassetteError: the file cannot be written.
    """
    tapes = [Tape(path) for path in paths]
    try:
        parts = {_named(line): line for tape in tapes for line in tape.part_lines()}
        records = merge(*(tape.lines() for tape in tapes), key=_key)
        write_lines(into, laid_out(parts, _once(records)))
    finally:
        for tape in tapes:
            tape.close()


def _named(line: str) -> str:
    return line[9:73]


def _key(line: str) -> str:
    return line[8:72]


def _once(records: Iterable[str]) -> Iterator[str]:
    last = ""
    for record in records:
        if _key(record) != last:
            yield record
        last = _key(record)
