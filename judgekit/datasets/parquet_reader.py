"""Read cases from Parquet, in batches; needs the `parquet` extra."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from judgekit.core.case import Case
from judgekit.core.errors import DatasetError, needs_extra
from judgekit.datasets.row_builder import RowBuilder

_BATCH_ROWS = 512

_PANDAS_INDEX = re.compile(r"__index_level_\d+__")


def read_parquet(path: Path, *, builder: RowBuilder) -> Iterator[tuple[str | int, Case]]:
    """Yield the case of every row with its location.

    Raises:
        MissingExtra: pyarrow is not installed.
        DatasetError: the file cannot be read, or a row is not a case.
    """
    number = 0
    for batch in _batches(path):
        for values in batch:
            number += 1
            where = f"row {number}"
            advice = "convert the column to text or numbers"
            yield where, builder.build_python(values, where=f"{path}: {where}", advice=advice)


def _batches(path: Path) -> Iterator[list[dict[str, Any]]]:
    with needs_extra("reading Parquet", "parquet"):
        import pyarrow
        from pyarrow.parquet import ParquetFile
    try:
        with ParquetFile(path) as file:
            names = [name for name in file.schema_arrow.names if not _PANDAS_INDEX.fullmatch(name)]
            for batch in file.iter_batches(batch_size=_BATCH_ROWS, columns=names):
                yield _unpadded(batch.to_pylist())
    except (pyarrow.ArrowException, OSError, ValueError) as exc:
        reason = " ".join(str(exc).split())[:200] or type(exc).__name__
        message = f"cannot be read as Parquet ({reason}); write the file again"
        raise DatasetError(message, where=str(path)) from exc


def _unpadded(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Remove null keys of messages: every struct in a column has the keys of all structs."""
    for row in rows:
        for key, value in row.items():
            if isinstance(value, list) and value and isinstance(value[0], dict):
                row[key] = [_without_nulls(item) for item in value]
    return rows


def _without_nulls(item: Any) -> Any:
    if isinstance(item, dict):
        return {key: _without_nulls(value) for key, value in item.items() if value is not None}
    return [_without_nulls(value) for value in item] if isinstance(item, list) else item
