"""Read all rows of a file of cases, with their errors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple, cast

from judgekit.core.case import Case, Message
from judgekit.core.errors import DatasetError
from judgekit.datasets.case_builder import Shape
from judgekit.datasets.chat_rows import MessageReader
from judgekit.datasets.field_names import MESSAGES
from judgekit.datasets.json_text import parse_json
from judgekit.datasets.load import read_file
from judgekit.datasets.row_builder import RowBuilder, RowFault
from judgekit.datasets.stream import STDIN
from judgekit.datasets.turn_rows import SessionTurn


class CheckedRow(NamedTuple):
    """A row of a file."""

    at: str | int
    """Its line, or a text such as `row 3`."""
    item: Case | SessionTurn | DatasetError
    """Its content, or the error."""
    has_id: bool = True
    messages: Sequence[Message] | None = None
    """All messages in order, if it is a chat."""


def checked_rows(source: str, *, shape: Shape | None) -> Iterator[CheckedRow]:
    """Yield every row of a file.

    Raises:
        DatasetError: the file cannot be read, or has no rows.
    """
    path = None if source == "-" else Path(source)
    name = STDIN if path is None else source
    for at, row in read_file(path, name, shape=shape or "auto", wrap=_CheckingBuilder)():
        yield cast(CheckedRow, row)._replace(at=at)


class _CheckingBuilder(RowBuilder):
    """Returns the error of a row instead of raising it."""

    def __init__(self, inner: RowBuilder) -> None:
        self._inner = inner

    def read(self, row: Any) -> Any:
        return self._inner.read(row)

    def build(self, row: Any, *, where: str) -> CheckedRow:
        try:
            item = self._inner.build(row, where=where)
        except DatasetError as exc:
            return CheckedRow(0, exc)
        return CheckedRow(0, item, row.get("id") is not None, _messages(row))

    def unreadable(self, error: DatasetError) -> CheckedRow:
        return CheckedRow(0, error)

    def build_python(self, row: Any, *, where: str, advice: str) -> Any:
        try:
            return super().build_python(row, where=where, advice=advice)
        except DatasetError as exc:
            return CheckedRow(0, exc)


def _messages(row: dict[str, Any]) -> list[Message] | None:
    messages = row.get(MESSAGES)
    if isinstance(messages, str):
        with suppress(ValueError):
            messages = parse_json(messages)
    if not isinstance(messages, list):
        return None
    reader = MessageReader()
    with suppress(RowFault):
        return [reader.read(item, field=MESSAGES) for item in messages]
    return None
