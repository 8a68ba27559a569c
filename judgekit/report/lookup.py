"""Read single cases of a run folder by the offsets of their first lines."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from pydantic import ValidationError

from judgekit.core.case import Case
from judgekit.core.errors import ConfigError
from judgekit.core.input_file import bounded_lines
from judgekit.core.score import Row
from judgekit.report.folder import MAX_LINE, RESULTS, Scored, checked_row, read_placed

CASE = b'{"type":"case"'
"""How the line of a case begins."""


class ResultsLookup:
    """The results of a run folder, opened to read cases in any order.

    Raises:
        OSError: the file cannot be opened.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / RESULTS
        self._file = self._path.open("rb")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, at: TracebackType | None
    ) -> None:
        self._file.close()

    def at(self, offset: int) -> Scored:
        """Return the case whose line begins at an offset in bytes, with its rows.

        Raises:
            ConfigError: no line of a case begins there, or it is not a result judgekit wrote.
        """
        try:
            self._file.seek(max(0, offset - 1))
            if offset < 1 or self._file.read(1) != b"\n":
                raise ValueError("not the begin of a line")
            lines = bounded_lines(self._file, most=MAX_LINE)
            first = next(lines, b"")
            if not first.startswith(CASE) or not first.endswith(b"\n"):
                raise ValueError("not a case")
            case = Case.model_validate(json.loads(first)["case"])
            rows = []
            for line in lines:
                if line.startswith(CASE) or not line.endswith(b"\n"):
                    break
                rows.append(checked_row(Row.model_validate_json(line), case))
        except (ValidationError, ValueError, KeyError, RecursionError, OSError) as exc:
            where = f"{self._path}, byte {offset:,}"
            raise ConfigError("not a result judgekit wrote; run it again", where=where) from exc
        return Scored(case, tuple(rows))


class RunResults:
    """The results of a report: cases with their rows, in memory or in a run folder.

    Args:
        listed: the results in memory, if they are there.
        folder: the run folder, if there is one.
        cases: the number of cases in the report.
    """

    def __init__(self, listed: Sequence[Scored] | None, *, folder: Path | None, cases: int) -> None:
        self._listed, self._folder, self._cases = listed, folder, cases

    def placed(self) -> Iterator[tuple[int, Scored]]:
        """Yield all cases, in input order, each with a place for `at`.

        Raises:
            ConfigError: the run folder has other results.
        """
        if self._listed is not None:
            yield from enumerate(self._listed)
        elif self._folder is not None:
            count = 0
            for count, placed in enumerate(read_placed(self._folder), start=1):  # noqa: B007
                yield placed
            if count != self._cases:
                raise ConfigError(
                    f"holds {count} cases where the report has {self._cases}: "
                    "it was cut off or changed; run it again",
                    where=str(self._folder / RESULTS),
                )

    def at(self, places: Iterable[int]) -> Iterator[Scored]:
        """Yield the cases at places from `placed`, in the order of the places.

        Raises:
            ConfigError: the run folder has changed since.
        """
        if self._listed is not None:
            yield from map(self._listed.__getitem__, places)
        elif self._folder is not None:
            with ResultsLookup(self._folder) as results:
                yield from map(results.at, places)
