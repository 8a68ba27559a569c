"""A table: columns of one kind each, in order."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from judgekit.core.canonical import canonical_json
from judgekit.core.errors import ConfigError

Kind = Literal["text", "number", "whole", "yes_no", "texts", "json"]
"""The kind of a column's values, in addition to `None` for missing ones. `texts`: lists of texts.
`json`: other objects and lists, for which some libraries have no type."""


class Column(NamedTuple):
    """One column of a table."""

    name: str
    kind: Kind
    values: list[Any]


class Table:
    """Columns in order, filled row by row; a new column has missing values in earlier rows.

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
        """Add a column if it does not exist.

        Raises:
            ConfigError: the column exists and is of another kind.
        """
        known = self._columns.get(name)
        if known is None:
            self._columns[name] = Column(name, kind, [None] * self._rows)
        elif known.kind != kind:
            raise ConfigError(f"two columns would be named {name!r}; give the metric another name")

    def add(self, row: Mapping[str, Any]) -> None:
        """Add a row; columns that it does not contain are missing."""
        get = row.get
        for name, _, values in self._columns.values():
            values.append(get(name))
        self._rows += 1

    def fill(self, name: str, kind: Kind, values: list[Any]) -> None:
        """Add a whole column, with one value per row."""
        self._columns[name] = Column(name, kind, values)

    def without_empty(self, keep: Sequence[str] = ()) -> "Table":
        """Return the table without empty columns, except those in `keep`."""
        left = Table({})
        left._rows = self._rows
        left._columns = {
            name: column
            for name, column in self._columns.items()
            if name in keep or any(value is not None for value in column.values)
        }
        return left


def kind_of(values: list[Any]) -> Kind:
    """Return the common kind of JSON values; `text` for several kinds.

    >>> kind_of([1, None, 2.5]), kind_of([True, 1]), kind_of([["a"]]), kind_of([{}, [1]])
    ('number', 'text', 'texts', 'json')
    """
    types = {type(value) for value in values if value is not None}
    if types == {bool}:
        return "yes_no"
    if types == {int} and all(abs(value) < 2**63 for value in values if value is not None):
        return "whole"
    if types and types <= {int, float}:
        # A float column represents integers up to 2 ** 53 exactly.
        return "number" if all(abs(n) <= 2**53 for n in values if isinstance(n, int)) else "text"
    if types == {list} and all(isinstance(v, str) for each in values if each for v in each):
        return "texts"
    return "json" if types and types <= {list, dict} else "text"


def spelled(values: list[Any]) -> list[str | None]:
    """Return values of several kinds as texts; other values than texts become JSON."""
    return [v if v is None or isinstance(v, str) else canonical_json(v) for v in values]


def clean(values: list[Any]) -> list[Any]:
    """Return texts, or lists of texts, as valid UTF-8: half of a surrogate pair becomes `?`."""
    return [
        value.encode("utf-8", "replace").decode()
        if isinstance(value, str)
        else clean(value)
        if isinstance(value, list)
        else value
        for value in values
    ]
