"""A table: columns of one kind each, in order."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from judgekit.core.canonical import canonical_json
from judgekit.core.errors import ConfigError

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

    def fill(self, name: str, kind: Kind, values: list[Any]) -> None:
        """Add a whole column, of as many values as there are rows."""
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
    """Return the one kind that values of any JSON are of; `text` where they are of several.

    >>> kind_of([1, None, 2.5]), kind_of([True, 1]), kind_of([["a"]]), kind_of([{}, [1]])
    ('number', 'text', 'texts', 'json')
    """
    types = {type(value) for value in values if value is not None}
    if types == {bool}:
        return "yes_no"
    if types == {int} and all(abs(value) < 2**63 for value in values if value is not None):
        return "whole"
    if types and types <= {int, float}:
        # A column of floats holds whole numbers up to 2 ** 53 as they are.
        return "number" if all(abs(n) <= 2**53 for n in values if isinstance(n, int)) else "text"
    if types == {list} and all(isinstance(v, str) for each in values if each for v in each):
        return "texts"
    return "json" if types and types <= {list, dict} else "text"


def spelled(values: list[Any]) -> list[str | None]:
    """Return values of several kinds as texts: what is none is JSON."""
    return [v if v is None or isinstance(v, str) else canonical_json(v) for v in values]


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
