"""Write cases as JSON Lines, atomically to a file or to standard output."""

import io
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TextIO

from judgekit.core.case import Case
from judgekit.core.errors import ConfigError
from judgekit.core.output_file import whole_file


def write_cases(cases: Iterable[Case], path: Path | None) -> int:
    """Write cases as JSON Lines and return their number; `None` is standard output.

    Raises:
        OSError: the file cannot be written; an existing file is unchanged.
    """
    count = 0
    with case_writer(path) as write:
        for case in cases:
            write(case)
            count += 1
    return count


@contextmanager
def case_writer(path: Path | None) -> Iterator[Callable[[Case], None]]:
    """Open a file to write cases one by one; it is created if the block ends without an error.

    Raises:
        ConfigError: the path is a folder, or in one that does not exist.
        OSError: the file cannot be written; an existing file is unchanged.
    """
    if path is None:
        yield partial(_write, sys.stdout)
        return
    if path.is_dir():
        raise ConfigError("is a folder; name a file", where=str(path))
    if not path.parent.is_dir():
        raise ConfigError("there is no such folder; create it", where=str(path.parent))
    with whole_file(path) as file:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="\n")
        yield partial(_write, text)
        text.flush()
        text.detach()


def _write(file: TextIO, case: Case) -> None:
    file.write(case.model_dump_json(exclude_defaults=True) + "\n")
