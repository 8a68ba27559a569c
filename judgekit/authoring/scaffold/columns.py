"""The columns of a file of cases: look at them, guess their fields, and read `--map`."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple
from unicodedata import normalize

from judgekit.core.case_field import FIELD_BY_NAME
from judgekit.core.errors import ConfigError, DatasetError
from judgekit.core.sourced import checked_tables
from judgekit.core.suggest import suggest
from judgekit.core.yaml_file import package_data
from judgekit.datasets.csv_reader import DELIMITERS
from judgekit.datasets.field_names import FIELDS, MESSAGES, field_named
from judgekit.datasets.load import read_file
from judgekit.datasets.row_builder import RowBuilder

LOOKED_AT = 200
"""Number of rows to look at."""
_BEGIN = 1 << 20
"""Number of bytes to look at for the encoding."""
_EXAMPLE = 200
_WORDS = Path(__file__).with_name("columns.yaml")
TARGETS = (*FIELDS, MESSAGES)
"""What a column may be."""


class CaseColumn(NamedTuple):
    """A column of a table, or a key of objects."""

    name: str
    example: str
    """The first value, on one line and cut; empty if there is none."""
    filled: int
    """Number of rows with a value, of those looked at."""


class CasesTable(NamedTuple):
    """The begin of a file of cases, before it is known what its columns are."""

    path: Path
    columns: tuple[CaseColumn, ...]
    rows: int
    """Number of rows looked at."""
    settings: dict[str, str]
    """Settings of the reader that the file needs: `delimiter`, `encoding`."""

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return [column.name for column in self.columns]


class _RawRows(RowBuilder):
    """Keeps rows as they are."""

    def read(self, row: Any) -> Any:
        return row

    def unreadable(self, error: DatasetError) -> Any:
        raise error


def look_at(path: Path, **settings: Any) -> CasesTable:
    """Return the columns of a file, with its delimiter and encoding if they are unusual.

    Args:
        path: CSV, JSON Lines, JSON, YAML, Parquet or Excel.
        settings: settings of `read_file` that are known.

    Raises:
        DatasetError: the file cannot be read, or its rows are no objects.
        MissingExtra: the file is Parquet or Excel, and its extra is not installed.
    """
    known = {name: value for name, value in settings.items() if value is not None}
    if path.is_file():
        known = {**_detected(path), **known}
    rows = list(islice(_rows(path, known), LOOKED_AT))
    names = list(dict.fromkeys(name for row in rows for name in row))
    columns = []
    for name in names:
        values = [row[name] for row in rows if row.get(name) not in (None, "")]
        example = " ".join(str(values[0])[:_EXAMPLE].split()) if values else ""
        columns.append(CaseColumn(name, example, len(values)))
    return CasesTable(path, tuple(columns), len(rows), known)


def _rows(path: Path, settings: Mapping[str, Any]) -> Iterable[dict[str, Any]]:
    read: Any = read_file(path, str(path), shape="auto", wrap=lambda _: _RawRows(), **settings)
    for at, row in read():
        if not isinstance(row, dict):
            where = f"{path}:{at}" if isinstance(at, int) else f"{path}: {at}"
            raise DatasetError("a row is an object with the fields of a case", where=where)
        yield row


def _detected(path: Path) -> dict[str, str]:
    """Return the encoding of a text file that is not Unicode, and an unusual delimiter."""
    ending = path.suffix.lower()
    if ending not in (".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".yaml", ".yml"):
        return {}
    with path.open("rb") as file:
        begin = file.read(_BEGIN)
    wide = begin.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    found = {}
    try:
        text = codecs.getincrementaldecoder("utf-16" if wide else "utf-8")().decode(begin)
    except UnicodeDecodeError:
        # What Excel writes in Western Europe and America as plain CSV.
        found["encoding"] = "cp1252"
        text = begin.decode("cp1252", "replace")
    head = text.partition("\n")[0]
    if ending == ".csv" and "|" in head and not any(mark in head for mark in DELIMITERS):
        found["delimiter"] = "|"
    return found


# -- guesses -----------------------------------------------------------------------


def guess_fields(columns: Sequence[CaseColumn]) -> dict[str, str]:
    """Return column -> field, as far as the headers show it; each at most once.

    >>> columns = [CaseColumn(name, "", 0) for name in ("Question", "Expected answer", "Answer")]
    >>> guess_fields(columns)
    {'Question': 'input', 'Expected answer': 'reference', 'Answer': 'output'}
    """
    fits = []
    for place, column in enumerate(columns):
        for field, words in _words().items():
            if (length := _fit(column.name, field, words)) > 0:
                fits.append((-length, place, column.name, field))
    guessed: dict[str, str] = {}
    for _, _, name, field in sorted(fits):
        if name not in guessed and field not in guessed.values():
            guessed[name] = field
    return {column.name: guessed[column.name] for column in columns if column.name in guessed}


def _fit(name: str, field: str, words: Sequence[str]) -> int:
    """Return how well a header fits a field: the length of its longest word in the header."""
    if (known := field_named(name)) is not None:
        return 1000 if known == field else 0
    plain = f" {_plain(name)} "
    return max((len(word) for word in words if f" {word} " in plain), default=0)


def _plain(text: str) -> str:
    letters = normalize("NFKD", text).encode("ascii", "ignore").decode().casefold()
    return " ".join(re.findall("[a-z0-9]+", letters))


@cache
def _words() -> dict[str, tuple[str, ...]]:
    rows = checked_tables(package_data(_WORDS), file=_WORDS.name)["words"]
    return {row["field"]: tuple(row["words"]) for row in rows}


# -- from column to field ----------------------------------------------------------


def mapped(flags: Iterable[str], table: CasesTable, guessed: Mapping[str, str]) -> dict[str, str]:
    """Return column -> field from `--map COLUMN=FIELD` flags, and from guesses for the rest.

    `COLUMN=` leaves a column to the metadata. A column may be a path into an object, such as
    `response.text`.

    Raises:
        ConfigError: a flag is wrong, or two columns are one field.
    """
    chosen: dict[str, str] = {}
    for flag in flags:
        column, field = _parse(flag, table)
        if column in chosen:
            raise ConfigError(f"--map: the column {column!r} is given twice")
        if field and field in chosen.values():
            raise ConfigError(f"--map: two columns are given for {field!r}; choose one")
        chosen[column] = field
    taken = set(chosen.values())
    rest = {c: f for c, f in guessed.items() if c not in chosen and f not in taken}
    return {column: field for column, field in {**rest, **chosen}.items() if field}


def _parse(flag: str, table: CasesTable) -> tuple[str, str]:
    column, equals, field = flag.rpartition("=")
    if not equals or not column:
        raise ConfigError(f"--map {flag}: write it as COLUMN=FIELD, such as question=input")
    if not _is_target(field) and field and _is_target(column):
        column, field = field, column  # the other way round is clear, too
    # Names that files have for a field, such as answer, are no other field.
    field = field if _is_target(field) else field_named(field) or field
    if field and not _is_target(field):
        raise ConfigError(f"--map {flag}: a case has no field {field!r}{suggest(field, TARGETS)}")
    names = table.names
    exact = {_plain(name): name for name in names}
    if column not in names and column.partition(".")[0] not in names:
        if _plain(column) not in exact or not _plain(column):
            raise ConfigError(
                f"--map {flag}: {table.path} has no column {column!r}{suggest(column, names)}"
            )
        column = exact[_plain(column)]
    return column, field


def _is_target(name: str) -> bool:
    field, dot, inside = name.partition(".")
    if not dot:
        return name in TARGETS
    return bool(inside) and field in FIELD_BY_NAME and FIELD_BY_NAME[field].kind == "object"


def fields_of(mapping: Mapping[str, str], table: CasesTable) -> dict[str, str] | None:
    """Return the setting `fields` of a reader, or `None` if the file needs none."""
    names = set(table.names)
    if all(column == field for column, field in mapping.items()) and all(
        field_named(name) for name in names
    ):
        return None
    filled = {column.name: column.filled for column in table.columns}
    fields = {}
    for column, field in mapping.items():
        if column in names:
            # A header is one key, with whatever signs it has; an object may lack it.
            path = re.sub(r"([\\.?])", r"\\\1", column)
            fields[field] = path if filled[column] == table.rows else f"{path}?"
        else:
            fields[field] = column
    return fields or {"metadata": "rest"}


def columns_text(table: CasesTable, mapping: Mapping[str, str], *, width: int = 80) -> str:
    """Return the columns with their fields and examples, as a table of text."""
    from judgekit.core.display.parts import DisplayTable
    from judgekit.core.display.text import to_text

    rows = [
        (" ".join(c.name.split()), mapping.get(c.name, "metadata"), c.example or "(empty)")
        for c in table.columns
    ]
    return (
        to_text([DisplayTable(("column", "field", "example"), rows, lines=1)], width=width) + "\n"
    )
