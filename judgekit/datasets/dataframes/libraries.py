"""Use pandas, polars and Hugging Face datasets; each is imported on first use, only here."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import UUID

from judgekit.core.canonical import canonical_json
from judgekit.core.errors import ConfigError, DatasetError, needs_extra
from judgekit.datasets.dataframes.table import Column, Table, clean

if TYPE_CHECKING:
    import datasets
    import pandas
    import polars

Rows = Iterator[tuple[Any, dict[str, Any]]]
"""Rows as plain dicts, each with its index label or its number from 0."""

_BATCH = 1024
_PANDAS_TYPES = {"text": "string", "number": "Float64", "whole": "Int64", "yes_no": "boolean"}
"""Column types that support missing values: a missing score is not NaN."""


# -- to a library ------------------------------------------------------------------


def to_pandas_frame(table: Table) -> pandas.DataFrame:
    """Return a pandas data frame; objects and lists are stored as Python objects.

    Raises:
        MissingExtra: pandas is not installed.
    """
    with needs_extra("a pandas DataFrame", "pandas"):
        import pandas as pd

    def series(column: Column, values: list[Any]) -> Any:
        dtype = _PANDAS_TYPES.get(column.kind)
        return pd.Series(values, dtype=object) if dtype is None else pd.array(values, dtype=dtype)

    return pd.DataFrame(_built(table, series), index=pd.RangeIndex(len(table)))


def to_polars_frame(table: Table) -> polars.DataFrame:
    """Return a polars data frame; objects with varying keys become JSON.

    Raises:
        MissingExtra: polars is not installed.
    """
    with needs_extra("a polars DataFrame", "polars"):
        import polars as pl
    types: dict[str, Any] = {
        "text": pl.String, "number": pl.Float64, "whole": pl.Int64, "yes_no": pl.Boolean,
        "texts": pl.List(pl.String), "json": pl.String,
    }  # fmt: skip

    def series(column: Column, values: list[Any]) -> Any:
        return pl.Series(column.name, _flat(column, values), dtype=types[column.kind])

    return pl.DataFrame(list(_built(table, series).values()))


def to_hf_dataset(table: Table) -> datasets.Dataset:
    """Return a data set in memory; objects with varying keys become JSON.

    Raises:
        MissingExtra: datasets is not installed.
    """
    hf = _hf("a Hugging Face data set")
    import pyarrow as pa

    types = {
        "text": pa.string(), "number": pa.float64(), "whole": pa.int64(), "yes_no": pa.bool_(),
        "texts": pa.list_(pa.string()), "json": pa.string(),
    }  # fmt: skip

    def array(column: Column, values: list[Any]) -> Any:
        return pa.array(_flat(column, values), type=types[column.kind])

    dataset: datasets.Dataset = hf.Dataset(pa.table(_built(table, array)))
    return dataset


def _built(table: Table, build: Callable[[Column, list[Any]], Any]) -> dict[str, Any]:
    """Return the columns of a table, built by a library, by name."""
    columns = {}
    for column in table:
        try:
            columns[column.name] = build(column, column.values)
        except UnicodeEncodeError:  # half of a surrogate pair
            columns[column.name] = build(column, clean(column.values))
    return columns


def _flat(column: Column, values: list[Any]) -> list[Any]:
    if column.kind != "json":
        return values
    return [None if value is None else canonical_json(value) for value in values]


# -- from a library ----------------------------------------------------------------


def pandas_rows(frame: Any) -> Rows:
    """Yield the rows of a pandas data frame; named levels of the index are columns.

    Raises:
        DatasetError: it is not a data frame, or two of its columns have the same name.
    """
    import pandas as pd

    if not isinstance(frame, pd.DataFrame):
        raise DatasetError(
            f"expected a pandas DataFrame, found a pandas {type(frame).__name__};"
            " make one with .to_frame()"
        )
    levels = [name for name in frame.index.names if name is not None]
    if levels and not set(levels) & set(frame.columns):
        labels, frame = list(frame.index), frame.reset_index()
    else:
        labels = frame.index
    names = list(frame.columns)
    for name in names:
        if not isinstance(name, str):
            raise DatasetError(
                f"the column {name!r} has no text for a name; rename it with .rename(columns=...)"
            )
        if names.count(name) > 1:
            raise DatasetError(f"two columns are named {name[:60]!r}; rename or drop one")
    for start in range(0, len(frame), _BATCH):
        part = frame.iloc[start : start + _BATCH]
        columns = [map(plain, part.iloc[:, place].tolist()) for place in range(len(names))]
        rows = zip(*columns, strict=True)
        for label, values in zip(labels[start : start + _BATCH], rows, strict=bool(names)):
            yield label, dict(zip(names, values, strict=True))


def polars_rows(frame: Any) -> Rows:
    """Yield the rows of a polars data frame; a lazy frame is collected in batches.

    Raises:
        DatasetError: it is not a data frame, or its source cannot be read.
    """
    import polars as pl

    if not isinstance(frame, pl.DataFrame | pl.LazyFrame):
        what = type(frame).__name__
        raise DatasetError(f"expected a polars DataFrame or LazyFrame, found a {what}")
    try:
        parts = _polars_parts(frame) if isinstance(frame, pl.LazyFrame) else (frame,)
        slices = (each for part in parts for each in part.iter_slices(_BATCH))
        yield from enumerate(_unpadded(row) for each in slices for row in each.to_dicts())
    except (pl.exceptions.PolarsError, OSError) as exc:
        reason = " ".join(str(exc).split())[:200]
        raise DatasetError(f"the lazy frame cannot be read: {reason}") from exc


def _polars_parts(frame: Any) -> Iterator[Any]:
    try:
        batches = frame.collect_batches
    except AttributeError:  # before polars 1.31
        yield frame.collect()
    else:
        yield from batches(chunk_size=_BATCH, maintain_order=True)


def hf_rows(data: Any) -> Rows:
    """Yield the rows of a Hugging Face data set, also of a stream.

    Images and audio are not decoded.

    Raises:
        DatasetError: it is not a data set or has several splits, or a row cannot be read.
    """
    import datasets as hf

    if isinstance(data, dict):
        names = ", ".join(repr(str(name)) for name in list(data)[:8])
        raise DatasetError(f"these are several splits ({names}); choose one, or say split=...")
    if not isinstance(data, hf.Dataset | hf.IterableDataset):
        what = type(data).__name__
        raise DatasetError(f"expected a Dataset or IterableDataset, found a {what}")
    rows: Iterator[dict[str, Any]] = iter(data.with_format(None))
    if isinstance(data, hf.Dataset):
        batches = data.with_format("arrow").iter(batch_size=_BATCH)
        rows = (row for batch in batches for row in batch.to_pylist())
    yield from enumerate(map(_unpadded, rows))


ROWS: Mapping[str, Callable[[Any], Rows]] = {
    "pandas": pandas_rows,
    "polars": polars_rows,
    "datasets": hf_rows,
}


def _unpadded(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row as plain Python; objects in a typed list have the keys of all objects."""
    return {name: plain(value, padded=isinstance(value, list)) for name, value in row.items()}


def plain(value: Any, *, padded: bool = False) -> Any:
    """Return a value of a data frame as plain Python.

    NaN, NA and NaT become `None`; arrays become lists; durations and UUIDs become texts. The caller
    rejects all other values that are not JSON.

    Args:
        value: a cell, or a value inside one.
        padded: whether objects come from a typed list, in which each object has the keys of all;
            keys without a value are removed.
    """
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float):
        return float(value) if value == value else None  # noqa: PLR0124 - NaN is not itself
    kind = type(value)
    if kind.__name__ in ("NAType", "NaTType") and kind.__module__.startswith("pandas"):
        return None
    if isinstance(value, Mapping):
        items = {key: plain(item, padded=padded) for key, item in value.items()}
        return {k: v for k, v in items.items() if v is not None} if padded else items
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(item, padded=padded) for item in value]
    if isinstance(value, (timedelta, UUID)):
        return str(value)
    return _numpy_value(value) if kind.__module__ == "numpy" else value


def _numpy_value(value: Any) -> Any:
    if value.dtype.kind in "mM":  # as numbers, times have no unit
        return _times(value.astype(str).tolist())
    if value.dtype.kind == "O" or value.ndim:
        # Lists from Parquet files are arrays; objects in them are padded.
        return [plain(item, padded=True) for item in value.tolist()]
    return plain(value.item())


def _times(texts: Any) -> Any:
    if isinstance(texts, list):
        return [_times(text) for text in texts]
    return None if texts == "NaT" else texts


# -- Hugging Face data sets --------------------------------------------------------


def open_hf_dataset(
    source: str | Path, *, name: str | None, split: str | None, revision: str | None, download: bool
) -> Any:
    """Return a data set from a folder, or from the hub if `download` allows it.

    Raises:
        ConfigError: the folder does not exist and downloads are not allowed, or the split does not
            exist.
        DatasetError: it cannot be read.
        MissingExtra: datasets is not installed.
    """
    path = Path(source).expanduser()
    if not path.is_dir() and not download:
        raise ConfigError(
            f"from_hf: no such folder: {path}; a data set of the hub is fetched only with"
            " download=True, and files are read by load_cases"
        )
    hf = _hf("reading a Hugging Face data set")
    try:
        if path.is_dir():
            return choose_split(hf.load_from_disk(str(path)), split)
        data = hf.load_dataset(str(source), name, split=split, revision=revision, streaming=True)
    except (FileNotFoundError, OSError, ValueError, TypeError) as exc:
        reason = " ".join(str(exc).split())[:200] or type(exc).__name__
        raise DatasetError(f"cannot be read as a data set ({reason})", where=str(source)) from exc
    return data if split is not None else choose_split(data, None)


def choose_split(data: Any, split: str | None) -> Any:
    """Return one of several splits, or a data set without splits unchanged.

    Raises:
        ConfigError: the split does not exist, or there are several and `split` is `None`.
    """
    if not isinstance(data, dict):
        return data
    names = list(data)
    if split is None and len(names) == 1:
        return data[names[0]]
    if split not in names:
        problem = "say which split" if split is None else f"no split {split!r}"
        raise ConfigError(f"from_hf: {problem}: split={' or split='.join(map(repr, names[:8]))}")
    return data[split]


def _hf(feature: str) -> Any:
    """Return the library with its telemetry switched off."""
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    with needs_extra(feature, "datasets"):
        import datasets
        from huggingface_hub import constants
    constants.HF_HUB_DISABLE_TELEMETRY = True
    return datasets
