"""The result sequencer: results in the order of the cases."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from pydantic_core import PydanticSerializationError

from judgekit.core.case import Case
from judgekit.core.errors import DatasetError
from judgekit.core.score import Result
from judgekit.core.value import to_json_bytes

if TYPE_CHECKING:
    import asyncio


class CaseText(NamedTuple):
    """A case and its JSON text in UTF-8."""

    case: Case
    text: bytes


def case_text(case: Case) -> CaseText:
    """Return a case with its JSON text.

    Raises:
        DatasetError: a text contains a lone surrogate, which UTF-8 cannot encode.
    """
    try:
        return CaseText(case, to_json_bytes(case))
    except PydanticSerializationError as exc:
        raise DatasetError(
            "holds half a character (a lone surrogate); decode its text properly",
            where=f"case {case.id!r}",
        ) from exc


_RESULTS, _BYTES = 8_192, 16_000_000
"""Results and bytes of cases that wait for an unfinished case, beyond `ahead`: a request that the
server refuses for minutes should not stop the others, but memory stays bounded."""


class ResultSequencer:
    """Takes results in any order and emits them in the order of the cases.

    Args:
        emit: called with each case and all its results, in the order of the metrics.
        width: number of results per case.
        ahead: number of cases that may always start before the first unfinished one is emitted.
            Up to `_RESULTS` results and `_BYTES` bytes of cases, more may.
    """

    def __init__(
        self, emit: Callable[[CaseText, Sequence[Result]], None], width: int, *, ahead: int
    ) -> None:
        self._emit = emit
        self._width = width
        self._ahead = ahead
        self._next = 0
        self._waiting: dict[int, tuple[CaseText, dict[int, Result]]] = {}
        self._size = 0
        """Bytes of the waiting cases."""
        self._emitted: asyncio.Event | None = None

    async def room(self, number: int) -> None:
        """Wait until the case with this number may start."""
        while self._full(number - self._next):
            if self._emitted is None:
                import asyncio

                self._emitted = asyncio.Event()
            self._emitted.clear()
            await self._emitted.wait()

    def put(self, number: int, text: CaseText, place: int, result: Result) -> None:
        """Add one result of a case; emit every complete case that is next in order."""
        if number not in self._waiting:
            self._waiting[number] = (text, {})
            self._size += len(text.text)
        self._waiting[number][1][place] = result
        while (head := self._waiting.get(self._next)) is not None and len(head[1]) == self._width:
            del self._waiting[self._next]
            self._size -= len(head[0].text)
            self._next += 1
            self._emit_case(*head)
            if self._emitted is not None:
                self._emitted.set()

    def finish(self) -> None:
        """Emit the complete cases behind unfinished ones; no result follows."""
        for number in sorted(self._waiting):
            text, results = self._waiting.pop(number)
            if len(results) == self._width:
                self._emit_case(text, results)

    def _full(self, ahead: int) -> bool:
        if ahead <= self._ahead:
            return False
        return ahead * self._width > _RESULTS or self._size > _BYTES

    def _emit_case(self, text: CaseText, results: dict[int, Result]) -> None:
        self._emit(text, [results[place] for place in range(self._width)])
