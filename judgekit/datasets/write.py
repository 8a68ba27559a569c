"""Cases out: JSON Lines to a file that is whole or not there, or to standard output."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TextIO

from judgekit.case import Case


def write_cases(cases: Iterable[Case], path: Path | None) -> int:
    """Write cases as JSON Lines and return how many; `None` is standard output.

    Raises:
        OSError: the file cannot be written; what stood there before stays.
    """
    if path is None:
        return _write(cases, sys.stdout)
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        partial.unlink(missing_ok=True)
        # "x": never through a link that someone put there.
        with partial.open("x", encoding="utf-8", newline="\n") as file:
            count = _write(cases, file)
        partial.replace(path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
    return count


def _write(cases: Iterable[Case], file: TextIO) -> int:
    count = 0
    for case in cases:
        file.write(case.model_dump_json(exclude_defaults=True) + "\n")
        count += 1
    return count
