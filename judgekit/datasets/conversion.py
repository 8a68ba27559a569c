"""Cases from data frames and back: `from_pandas`, `to_pandas` and the others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgekit.core.case import Case
from judgekit.core.errors import ConfigError
from judgekit.datasets.case_builder import Shape
from judgekit.datasets.dataframes.table import Kind, Table
from judgekit.datasets.field_names import FIELDS, JSON_CELLS, TEXT_LISTS
from judgekit.datasets.formatting import quoted
from judgekit.datasets.load import Library, Source, cases_of, library_of, load_cases

if TYPE_CHECKING:
    import datasets
    import pandas
    import polars


def from_pandas(
    frame: pandas.DataFrame,
    *,
    format: Shape | None = None,
    fields: Mapping[str, str] | None = None,
    limit: int | None = None,
) -> Iterator[Case]:
    """Yield the cases of a data frame, one for each row.

    NaN, NA and NaT are missing values; lists, arrays and dicts are read as they are; levels of
    the index that have a name are columns. Texts in `history`, `expected`, `labels` and
    `metadata` hold JSON.

    Args:
        frame: a `pandas.DataFrame`.
        format: what one row looks like, as for `load_cases`.
        fields: where fields are, as dotted paths, as for `load_cases`.
        limit: stop after this many cases.

    Raises:
        ConfigError: a setting is wrong, or this is no data frame of pandas.
        DatasetError: a row cannot be read; it is named by its label in the index.
    """
    _check(frame, "pandas", "from_pandas takes a pandas DataFrame")
    return load_cases(frame, format=format, fields=fields, limit=limit)


def from_polars(
    frame: polars.DataFrame | polars.LazyFrame,
    *,
    format: Shape | None = None,
    fields: Mapping[str, str] | None = None,
    limit: int | None = None,
) -> Iterator[Case]:
    """Yield the cases of a data frame, one for each row; a lazy one is collected in batches.

    Takes and raises what `from_pandas` does; rows are named by their number, from 0.
    """
    _check(frame, "polars", "from_polars takes a polars DataFrame or LazyFrame")
    return load_cases(frame, format=format, fields=fields, limit=limit)


def from_hf(
    source: datasets.Dataset | datasets.IterableDataset | str | Path,
    *,
    name: str | None = None,
    split: str | None = None,
    revision: str | None = None,
    format: Shape | None = None,
    fields: Mapping[str, str] | None = None,
    limit: int | None = None,
    download: bool = False,
) -> Iterator[Case]:
    """Yield the cases of a Hugging Face data set, one for each row; a stream is streamed.

    Args:
        source: a `Dataset`, an `IterableDataset`, several splits of them, a folder that
            `save_to_disk` wrote, or, with `download=True`, the name of a data set of the hub.
        name: configuration of a data set of the hub.
        split: the name of one split.
        revision: a commit, tag or branch of the hub; a commit is the same tomorrow.
        format: what one row looks like, as for `load_cases`.
        fields: where fields are, as dotted paths, as for `load_cases`.
        limit: stop after this many cases.
        download: whether downloads from the hub are allowed. No telemetry is sent.

    Raises:
        ConfigError: a setting is wrong, there is no such folder or split.
        DatasetError: the data set or a row cannot be read; rows are named by number, from 0.
        MissingExtra: datasets is not installed.
    """
    from judgekit.datasets.dataframes.libraries import choose_split, open_hf_dataset

    if isinstance(source, str | Path):
        data = open_hf_dataset(source, name=name, split=split, revision=revision, download=download)
    else:
        _check(source, "datasets", "from_hf takes a Dataset, an IterableDataset, or a folder")
        data = choose_split(source, split) if split is not None else source
    return load_cases(data, format=format, fields=fields, limit=limit)


def _check(frame: Any, library: Library, usage: str) -> None:
    if library_of(frame) != library:
        raise ConfigError(f"{usage}, not {quoted(type(frame).__name__)}")


def _table(cases: Source) -> Table:
    """Return cases as columns, one for each field that any of them has."""
    if hasattr(cases, "results"):
        raise ConfigError("this takes cases; a report has its own to_pandas, to_polars and to_hf")
    kinds: dict[str, Kind] = dict.fromkeys(FIELDS, "text")
    kinds |= dict.fromkeys(TEXT_LISTS, "texts")
    kinds |= dict.fromkeys(JSON_CELLS, "json")
    table = Table(kinds)
    for case in cases_of(cases):
        # Defaults are missing values, so that unused columns can be left out.
        table.add(case.model_dump(mode="json", exclude_defaults=True))
    return table.without_empty(keep=("id", "input", "output"))


def to_pandas(cases: Source) -> pandas.DataFrame:
    """Return cases as a data frame: a column for each field that any of them has.

    `from_pandas` returns the same cases. Objects and lists stay Python objects.

    Raises:
        MissingExtra: pandas is not installed.
    """
    from judgekit.datasets.dataframes.libraries import to_pandas_frame

    return to_pandas_frame(_table(cases))


def to_polars(cases: Source) -> polars.DataFrame:
    """Return cases as a data frame: a column for each field that any of them has.

    `from_polars` returns the same cases. `history`, `expected`, `labels` and `metadata` are
    JSON in it, as tables have no type for objects of varying keys.

    Raises:
        MissingExtra: polars is not installed.
    """
    from judgekit.datasets.dataframes.libraries import to_polars_frame

    return to_polars_frame(_table(cases))


def to_hf(cases: Source) -> datasets.Dataset:
    """Return cases as a Hugging Face data set, with JSON where `to_polars` has it.

    Raises:
        MissingExtra: datasets is not installed.
    """
    from judgekit.datasets.dataframes.libraries import to_hf_dataset

    return to_hf_dataset(_table(cases))
