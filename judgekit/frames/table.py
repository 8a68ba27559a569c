"""A table: columns of one kind each, in order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from judgekit.errors import ConfigError

Kind = Literal["text", "number", "whole", "yes_no", "texts", "json"]
"""What the values of a column are, beside `None` for missing ones. `texts`: lists of texts.
`json`: objects and lists of any shape, which some libraries have no type for."""


class Column(NamedTuple):
    """One column of a table."""

    name: str
    kind: Kind
    values: list[Any]


class Table:
    """Columns in order, filled row by row; a column that comes up late is missing before.

    >>> table = Table({"case": "text"})
    >>> table.add({"case": "a"})
    >>> table.column("length", "number")
    >>> table.add({"case": "b", "length": 2.0})
    >>> [column.values for column in table]
    [['a', 'b'], [None, 2.0]]
    """

    def __init__(self, kinds: Mapping[str, Kind]) -> None:
        self._columns = {name: Column(name, kind, []) for name, kind in kinds.items()}
        self._rows = 0

    def __iter__(self) -> Iterator[Column]:
        return iter(self._columns.values())

    def __len__(self) -> int:
        return self._rows

    @property
    def names(self) -> Sequence[str]:
        """The names of the columns."""
        return tuple(self._columns)

    def column(self, name: str, kind: Kind) -> None:
        """Add a column unless it is there.

        Raises:
            ConfigError: it is there, and of another kind.
        """
        known = self._columns.get(name)
        if known is None:
            self._columns[name] = Column(name, kind, [None] * self._rows)
        elif known.kind != kind:
            raise ConfigError(f"two columns would be named {name!r}; give the metric another name")

    def add(self, row: Mapping[str, Any]) -> None:
        """Add a row; a column that it does not name is missing in it."""
        get = row.get
        for name, _, values in self._columns.values():
            values.append(get(name))
        self._rows += 1

    def without_empty(self, keep: Sequence[str] = ()) -> Table:
        """Return the table without columns that are missing throughout, but for some."""
        left = Table({})
        left._rows = self._rows
        left._columns = {
            name: column
            for name, column in self._columns.items()
            if name in keep or any(value is not None for value in column.values)
        }
        return left


def clean(values: list[Any]) -> list[Any]:
    """Return texts, or lists of them, as UTF-8 takes them: half of a surrogate pair is a `?`."""
    return [
        value.encode("utf-8", "replace").decode()
        if isinstance(value, str)
        else clean(value)
        if isinstance(value, list)
        else value
        for value in values
    ]
