"""Hugging Face datasets: the only home of that library. Nothing is fetched unless asked for."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgekit.core.errors import ConfigError, DatasetError, MissingExtra
from judgekit.datasets.dataframes.plain import plain
from judgekit.datasets.dataframes.polars import as_json
from judgekit.datasets.dataframes.table import Column, Table, clean

if TYPE_CHECKING:
    import datasets

_BATCH = 1024


def dataset_of(table: Table) -> datasets.Dataset:
    """Return a data set in memory; objects of any shape are JSON in it.

    Raises:
        MissingExtra: datasets is not installed.
    """
    hf = _library("a Hugging Face data set")
    import pyarrow

    text = pyarrow.string()
    types = {
        "text": text,
        "number": pyarrow.float64(),
        "whole": pyarrow.int64(),
        "yes_no": pyarrow.bool_(),
        "texts": pyarrow.list_(text),
        "json": text,
    }

    def array(column: Column) -> Any:
        values = as_json(column.values) if column.kind == "json" else column.values
        try:
            return pyarrow.array(values, type=types[column.kind])
        except UnicodeEncodeError:
            return pyarrow.array(clean(values), type=types[column.kind])

    made: datasets.Dataset = hf.Dataset(pyarrow.table({c.name: array(c) for c in table}))
    return made


def rows_of(data: Any) -> Iterator[tuple[Any, dict[str, Any]]]:
    """Yield the rows of a data set as plain dicts, each with its number; a stream is streamed.

    Pictures and sounds are not decoded.

    Raises:
        DatasetError: it is no data set, or it is several, or a row cannot be read.
    """
    if isinstance(data, dict):
        names = ", ".join(repr(str(name)) for name in list(data)[:8])
        raise DatasetError(f"these are several splits ({names}); choose one, or say split=...")
    if not hasattr(data, "with_format"):
        what = type(data).__name__
        raise DatasetError(f"expected a Dataset or IterableDataset, found a {what}")
    for number, row in enumerate(_rows(data)):
        yield number, {name: plain(value, padded=_listed(value)) for name, value in row.items()}


def _listed(value: Any) -> bool:
    """Return whether a cell is a list: the objects in it have the keys of all."""
    return isinstance(value, list)


def _rows(data: Any) -> Iterator[dict[str, Any]]:
    if hasattr(data, "__len__"):
        for batch in data.with_format("arrow").iter(batch_size=_BATCH):
            yield from batch.to_pylist()
    else:
        yield from data.with_format(None)


def open_dataset(
    source: str | Path, *, name: str | None, split: str | None, revision: str | None, download: bool
) -> Any:
    """Return a data set saved in a folder, or one of the hub's where that is allowed.

    Raises:
        ConfigError: there is no such folder, and nothing may be fetched; or no such split.
        DatasetError: it cannot be read.
        MissingExtra: datasets is not installed.
    """
    path = Path(source).expanduser()
    if not path.is_dir() and not download:
        raise ConfigError(
            f"from_hf: no such folder: {path}; a data set of the hub is fetched only with"
            " download=True, and files are read by load_cases"
        )
    hf = _library("reading a Hugging Face data set")
    try:
        if path.is_dir():
            data = hf.load_from_disk(str(path))
        else:
            data = hf.load_dataset(
                str(source), name, split=split, revision=revision, streaming=True
            )
            return data if split is not None else _split(data, None)
    except (FileNotFoundError, OSError, ValueError, TypeError) as exc:
        reason = " ".join(str(exc).split())[:200] or type(exc).__name__
        raise DatasetError(f"cannot be read as a data set ({reason})", where=str(source)) from exc
    return _split(data, split)


def _split(data: Any, split: str | None) -> Any:
    """Return one split of several; what has none is returned as it is."""
    if not isinstance(data, dict):
        return data
    names = list(data)
    if split is None and len(names) == 1:
        return data[names[0]]
    if split not in names:
        said = "say which split" if split is None else f"no split {split!r}"
        raise ConfigError(f"from_hf: {said}: split={' or split='.join(map(repr, names[:8]))}")
    return data[split]


def choose_split(data: Any, split: str | None) -> Any:
    """Return the split that is wanted of a data set that was handed over.

    Raises:
        ConfigError: there is no such split.
    """
    return _split(data, split) if split is not None else data


def _library(feature: str) -> Any:
    """Return the library, which is told to send nobody a word about its use."""
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    try:
        import datasets
        from huggingface_hub import constants
    except ImportError as exc:
        raise MissingExtra(feature=feature, extra="datasets") from exc
    constants.HF_HUB_DISABLE_TELEMETRY = True
    return datasets
