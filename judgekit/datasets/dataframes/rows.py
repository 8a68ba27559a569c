"""Rows of data frames to cases, and cases to columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from judgekit.core.case import Case
from judgekit.core.errors import DatasetError
from judgekit.datasets.dataframes.libraries import ROWS
from judgekit.datasets.dataframes.library import Library
from judgekit.datasets.dataframes.table import Kind, Table
from judgekit.datasets.field_names import FIELDS, JSON_CELLS, TEXT_LISTS
from judgekit.datasets.formatting import quoted
from judgekit.datasets.row_builder import RowBuilder


def read_frame(
    frame: Any, library: Library, *, builder: RowBuilder
) -> Iterator[tuple[str | int, Case]]:
    """Yield the case of every row with its place: its label in the index, or its number.

    Raises:
        DatasetError: it is not a data frame, has no rows, or a row is not a case.
    """
    empty = True
    for label, values in ROWS[library](frame):
        empty = False
        where = f"row {quoted(label) if isinstance(label, str) else str(label)[:60]}"
        advice = "convert the column to texts, numbers, lists or dicts"
        yield where, builder.build_python(values, where=where, advice=advice)
    if empty:
        raise DatasetError("there are no rows in it", where=f"the {type(frame).__name__}")


def case_table(cases: Iterable[Case]) -> Table:
    """Return cases as columns, one for each field that any of them has."""
    kinds: dict[str, Kind] = dict.fromkeys(FIELDS, "text")
    kinds |= dict.fromkeys(TEXT_LISTS, "texts")
    kinds |= dict.fromkeys(JSON_CELLS, "json")
    table = Table(kinds)
    for case in cases:
        # Defaults are missing values, so that unused columns can be left out.
        table.add(case.model_dump(mode="json", exclude_defaults=True))
    return table.without_empty(keep=("id", "input", "output"))
