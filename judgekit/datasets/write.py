"""Cases out: JSON Lines to a file that is whole or not there, or to standard output."""

import io
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TextIO

from judgekit.core.case import Case
from judgekit.core.output_file import whole_file


def write_cases(cases: Iterable[Case], path: Path | None) -> int:
    """Write cases as JSON Lines and return how many; `None` is standard output.

    Raises:
        OSError: the file cannot be written; what stood there before stays.
    """
    count = 0
    with case_writer(path) as write:
        for case in cases:
            write(case)
            count += 1
    return count


@contextmanager
def case_writer(path: Path | None) -> Iterator[Callable[[Case], None]]:
    """Open a file of cases to be written one by one; it is there when the block ends well.

    Raises:
        OSError: the file cannot be written; what stood there before stays.
    """
    if path is None:
        yield partial(_write, sys.stdout)
        return
    with whole_file(path) as file:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="\n")
        yield partial(_write, text)
        text.flush()
        text.detach()


def _write(file: TextIO, case: Case) -> None:
    file.write(case.model_dump_json(exclude_defaults=True) + "\n")
