"""polars: the only home of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from judgekit.core.canonical import canonical_json
from judgekit.core.errors import DatasetError, MissingExtra
from judgekit.datasets.dataframes.plain import plain
from judgekit.datasets.dataframes.table import Column, Table, clean

if TYPE_CHECKING:
    import polars

_BATCH = 1024


def frame_of(table: Table) -> polars.DataFrame:
    """Return a data frame; objects of any shape are JSON in it.

    Raises:
        MissingExtra: polars is not installed.
    """
    try:
        import polars as pl
    except ImportError as exc:
        raise MissingExtra(feature="a polars DataFrame", extra="polars") from exc
    types: dict[str, Any] = {
        "text": pl.String,
        "number": pl.Float64,
        "whole": pl.Int64,
        "yes_no": pl.Boolean,
        "texts": pl.List(pl.String),
        "json": pl.String,
    }

    def series(column: Column) -> Any:
        values = as_json(column.values) if column.kind == "json" else column.values
        try:
            return pl.Series(column.name, values, dtype=types[column.kind])
        except UnicodeEncodeError:
            return pl.Series(column.name, clean(values), dtype=types[column.kind])

    return pl.DataFrame([series(column) for column in table])


def as_json(values: list[Any]) -> list[str | None]:
    """Return objects and lists as JSON texts."""
    return [None if value is None else canonical_json(value) for value in values]


def rows_of(frame: Any) -> Iterator[tuple[Any, dict[str, Any]]]:
    """Yield the rows of a data frame, or of a lazy one, as plain dicts, each with its number.

    A lazy frame is collected in batches, so that it need not fit into memory.

    Raises:
        DatasetError: it is no data frame, or what it is made of cannot be read.
    """
    number = 0
    for part in _parts(frame):
        for row in part.to_dicts():
            yield number, {name: plain(value, padded=_listed(value)) for name, value in row.items()}
            number += 1


def _listed(value: Any) -> bool:
    """Return whether a cell is a list: the objects in it have the keys of all."""
    return isinstance(value, list)


def _parts(frame: Any) -> Iterator[Any]:
    import polars as pl

    if isinstance(frame, pl.LazyFrame):
        try:
            yield from _batches(frame)
        except (pl.exceptions.PolarsError, OSError) as exc:
            reason = " ".join(str(exc).split())[:200]
            raise DatasetError(f"the lazy frame cannot be read: {reason}") from exc
    elif isinstance(frame, pl.DataFrame):
        yield from frame.iter_slices(_BATCH)
    else:
        what = type(frame).__name__
        raise DatasetError(f"expected a polars DataFrame or LazyFrame, found a {what}")


def _batches(frame: Any) -> Iterator[Any]:
    if not hasattr(frame, "collect_batches"):  # an older polars
        yield from frame.collect().iter_slices(_BATCH)
        return
    batches = frame.collect_batches(chunk_size=_BATCH, maintain_order=True)
    for batch in batches:
        yield from batch.iter_slices(_BATCH)
