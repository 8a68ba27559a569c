"""Convert a row to a case or a turn, with the location of the row in every error."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from judgekit.core.case import Message
from judgekit.core.errors import DatasetError
from judgekit.datasets.json_text import NotJson, to_json


class RowFault(ValueError):
    """A row is invalid; the message says how to fix it, and `field` names the wrong field."""

    def __init__(self, message: str, field: str | None = None) -> None:
        super().__init__(message)
        self.field = field


@contextmanager
def row_at(where: str) -> Iterator[None]:
    """Add the location of a row to its errors.

    Raises:
        DatasetError: replaces a `RowFault`.
    """
    try:
        yield
    except RowFault as exc:
        raise DatasetError(str(exc), where=where, field=exc.field) from exc


class RowNote(NamedTuple):
    """What `cases lint` says of a row that can be read."""

    rule: str
    field: str | None
    message: str


class RowBuilder(ABC):
    """Converts rows to cases or to turns of sessions."""

    row_notes: Sequence[RowNote] = ()
    """What there is to say of the last row."""
    messages: Sequence[Message] | None = None
    """The messages of the last row in the order of its source, if it holds some."""

    @property
    def plain(self) -> bool:
        """Whether a row that is already a case can be used unchanged."""
        return False

    @abstractmethod
    def read(self, row: Any) -> Any:
        """Return the case or turn in a row of JSON values.

        Raises:
            RowFault: the row is not an object, or its content is invalid.
        """

    def build(self, row: Any, *, where: str) -> Any:
        """Return the case or turn in a row of JSON values.

        Raises:
            DatasetError: the row is not an object, or its content is invalid.
        """
        with row_at(where):
            return self.read(row)

    def unreadable(self, error: DatasetError) -> Any:
        """Return a replacement for a row that cannot be parsed; by default, raise the error.

        Raises:
            DatasetError: the error.
        """
        raise error

    def build_python(self, row: Any, *, where: str, advice: str) -> Any:
        """Return the case or turn in a row of Python values.

        Raises:
            DatasetError: as in `build`, or a value is not JSON; `advice` is the advice in the
                message.
        """
        try:
            values = to_json(row)
        except NotJson as exc:
            raise DatasetError(f"{exc}; {advice}", where=where, field=exc.path or None) from exc
        return self.build(values, where=where)
