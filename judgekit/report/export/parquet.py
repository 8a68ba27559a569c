"""A run as Parquet; needs the `parquet` extra."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgekit.core.errors import ConfigError, MissingExtra
from judgekit.report.export.target import written
from judgekit.report.table import EXPORTED, exported_rows

if TYPE_CHECKING:
    from judgekit.report.report import Report

ROWS = 4096
"""Rows of a group; more than that are never held."""


def check() -> None:
    """Raise an error before the run if the export could not be written after it.

    Raises:
        MissingExtra: pyarrow is not installed.
    """
    try:
        import pyarrow.parquet  # noqa: F401
    except ImportError as exc:
        raise MissingExtra(feature="writing Parquet", extra="parquet") from exc


def write(report: Report, path: Path) -> None:
    """Write a run as Parquet, a row per case and metric, a group of rows at a time.

    Raises:
        MissingExtra: pyarrow is not installed.
        ConfigError: the file cannot be written, or the results cannot be read.
    """
    check()
    import pyarrow
    from pyarrow.parquet import ParquetWriter

    types = {
        "text": pyarrow.string(),
        "number": pyarrow.float64(),
        "whole": pyarrow.int64(),
        "yes_no": pyarrow.bool_(),
    }
    schema = pyarrow.schema([(name, types[kind]) for name, kind in EXPORTED.items()])
    try:
        with written(path) as file, ParquetWriter(file, schema) as out:
            rows = exported_rows(report)
            while group := list(islice(_whole(rows), ROWS)):
                out.write_table(pyarrow.Table.from_pylist(group, schema=schema))
    except pyarrow.ArrowException as exc:
        raise ConfigError(f"cannot be written: {exc}", where=str(path)) from exc


def _whole(rows: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield rows with lone surrogates in texts replaced."""
    for row in rows:
        yield {
            name: value.encode("utf-8", "replace").decode() if isinstance(value, str) else value
            for name, value in row.items()
        }
