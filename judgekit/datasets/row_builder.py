"""From a row to a case or a turn, with the place of the row in every error."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from judgekit.core.errors import DatasetError
from judgekit.datasets.json_text import NotJson, to_json


class RowFault(ValueError):
    """A row is not as it must be; the message says what to do, and `field` is at fault."""

    def __init__(self, message: str, field: str | None = None) -> None:
        super().__init__(message)
        self.field = field


@contextmanager
def row_at(where: str) -> Iterator[None]:
    """Add the place of a row to its faults.

    Raises:
        DatasetError: in place of a `RowFault`.
    """
    try:
        yield
    except RowFault as exc:
        raise DatasetError(str(exc), where=where, field=exc.field) from exc


class RowBuilder(ABC):
    """Turns rows into cases, or into turns of sessions."""

    @property
    def plain(self) -> bool:
        """Whether a row that is a case already can be taken as it is."""
        return False

    @abstractmethod
    def read(self, row: Any) -> Any:
        """Return what a row of JSON values holds.

        Raises:
            RowFault: the row is not an object, or something in it is wrong.
        """

    def build(self, row: Any, *, where: str) -> Any:
        """Return what a row of JSON values holds.

        Raises:
            DatasetError: the row is not an object, or something in it is wrong.
        """
        with row_at(where):
            return self.read(row)

    def unreadable(self, error: DatasetError) -> Any:
        """Return what takes the place of a row that is not even one; by default, stop there.

        Raises:
            DatasetError: the error.
        """
        raise error

    def build_python(self, row: Any, *, where: str, advice: str) -> Any:
        """Return what a row of Python values holds.

        Raises:
            DatasetError: as `build`, or a value is not JSON; `advice` says what to give instead.
        """
        try:
            values = to_json(row)
        except NotJson as exc:
            raise DatasetError(f"{exc}; {advice}", where=where, field=exc.path or None) from exc
        return self.build(values, where=where)
