"""The order of results: that of the cases, whatever finishes first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from pydantic_core import PydanticSerializationError

from judgekit.core.case import Case
from judgekit.core.errors import DatasetError
from judgekit.core.score import Result
from judgekit.core.value import to_json_bytes


class Line(NamedTuple):
    """A case and the JSON text it is written as, in UTF-8."""

    case: Case
    text: bytes


def line_of(case: Case) -> Line:
    """Return the line of a case.

    Raises:
        DatasetError: it holds what UTF-8 has no bytes for.
    """
    try:
        return Line(case, to_json_bytes(case))
    except PydanticSerializationError as exc:
        raise DatasetError(
            "holds half a character (a lone surrogate); decode its text properly",
            where=f"case {case.id!r}",
        ) from exc


class Order:
    """Lets rows finish in any order and leave in the order of the cases.

    Args:
        emit: takes a case with all its results, in the order of the metrics.
        width: results per case.
        ahead: cases that may begin before the first unfinished one has left.
    """

    def __init__(
        self, emit: Callable[[Line, Sequence[Result]], None], width: int, *, ahead: int
    ) -> None:
        self._emit = emit
        self._width = width
        self._ahead = ahead
        self._next = 0
        import asyncio

        self._waiting: dict[int, tuple[Line, list[Result | None], list[int]]] = {}
        self.moved = asyncio.Event()

    def has_room(self, number: int) -> bool:
        """Return whether a case may begin; where not, `moved` is set once there is room."""
        if number - self._next <= self._ahead:
            return True
        self.moved.clear()
        return False

    def put(self, number: int, line: Line, place: int, result: Result) -> None:
        """Take one result of a case; emit what is complete and at its turn."""
        if number not in self._waiting:
            self._waiting[number] = (line, [None] * self._width, [self._width])
        _, results, left = self._waiting[number]
        results[place] = result
        left[0] -= 1
        while (head := self._waiting.get(self._next)) is not None and head[2][0] == 0:
            del self._waiting[self._next]
            self._next += 1
            self._emit(head[0], [r for r in head[1] if r is not None])
            self.moved.set()
