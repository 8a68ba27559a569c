"""Convert data frames to cases and back: `from_pandas`, `to_pandas` and others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgekit.core.arguments import checked
from judgekit.core.case import Case
from judgekit.core.case_field import TEXT_LISTS
from judgekit.core.errors import ConfigError
from judgekit.datasets.case_builder import Shape
from judgekit.datasets.dataframes.table import Kind, Table
from judgekit.datasets.field_names import FIELDS, JSON_CELLS
from judgekit.datasets.formatting import quoted
from judgekit.datasets.load import Library, Source, cases_of, library_of, load_cases

if TYPE_CHECKING:
    import datasets
    import pandas
    import polars


@checked
def from_pandas(
    frame: pandas.DataFrame,
    *,
    format: Shape | None = None,
    fields: Mapping[str, str] | None = None,
    limit: int | None = None,
) -> Iterator[Case]:
    """Yield the cases of a data frame, one for each row.

    NaN, NA and NaT are missing values. Lists, arrays and dicts are used directly. Named levels of
    the index are columns. Texts in `history`, `expected`, `labels` and `metadata` are parsed as
    JSON.

    Args:
        frame: a `pandas.DataFrame`.
        format: what one row looks like, as for `load_cases`.
        fields: where fields are, as dotted paths, as for `load_cases`.
        limit: stop after this many cases.

    Raises:
        ConfigError: a setting is wrong, or `frame` is not a pandas data frame.
        DatasetError: a row cannot be read; the message has its index label.
    """
    _check(frame, "pandas", "from_pandas takes a pandas DataFrame")
    return load_cases(frame, format=format, fields=fields, limit=limit)


@checked
def from_polars(
    frame: polars.DataFrame | polars.LazyFrame,
    *,
    format: Shape | None = None,
    fields: Mapping[str, str] | None = None,
    limit: int | None = None,
) -> Iterator[Case]:
    """Yield the cases of a data frame, one for each row; a lazy frame is collected in batches.

    Arguments and errors are those of `from_pandas`; messages have the number of a row, from 0.
    """
    _check(frame, "polars", "from_polars takes a polars DataFrame or LazyFrame")
    return load_cases(frame, format=format, fields=fields, limit=limit)


@checked
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
    """Yield the cases of a Hugging Face data set, one for each row, also from a stream.

    Args:
        source: a `Dataset`, an `IterableDataset`, a dict of splits of these types, a folder written
            by `save_to_disk`, or, with `download=True`, the name of a data set on the hub.
        name: configuration of a data set on the hub.
        split: the name of one split.
        revision: a commit, tag or branch on the hub; only a commit is reproducible.
        format: what one row looks like, as for `load_cases`.
        fields: where fields are, as dotted paths, as for `load_cases`.
        limit: stop after this many cases.
        download: whether to allow downloads from the hub. No telemetry is sent.

    Raises:
        ConfigError: a setting is wrong, or the folder or split does not exist.
        DatasetError: the data set or a row cannot be read; messages have the number of a row, from
            0.
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
    """Return cases as columns, one for each field that occurs in a case."""
    if hasattr(cases, "results"):
        raise ConfigError("this takes cases; a report has its own to_pandas, to_polars and to_hf")
    kinds: dict[str, Kind] = dict.fromkeys(FIELDS, "text")
    kinds |= dict.fromkeys(TEXT_LISTS, "texts")
    kinds |= dict.fromkeys(JSON_CELLS, "json")
    table = Table(kinds)
    for case in cases_of(cases):
        # Defaults are missing values, so unused columns can be omitted.
        table.add(case.model_dump(mode="json", exclude_defaults=True))
    return table.without_empty(keep=("id", "input", "output"))


@checked
def to_pandas(cases: Source) -> pandas.DataFrame:
    """Return cases as a data frame: a column for each field that any of them has.

    `from_pandas` converts the frame back to the same cases. Dicts and lists are stored as Python
    objects.

    Raises:
        MissingExtra: pandas is not installed.
    """
    from judgekit.datasets.dataframes.libraries import to_pandas_frame

    return to_pandas_frame(_table(cases))


@checked
def to_polars(cases: Source) -> polars.DataFrame:
    """Return cases as a data frame: a column for each field that any of them has.

    `from_polars` converts the frame back to the same cases. `history`, `expected`, `labels` and
    `metadata` are stored as JSON texts, because polars has no type for objects with varying keys.

    Raises:
        MissingExtra: polars is not installed.
    """
    from judgekit.datasets.dataframes.libraries import to_polars_frame

    return to_polars_frame(_table(cases))


@checked
def to_hf(cases: Source) -> datasets.Dataset:
    """Return cases as a Hugging Face data set; JSON is stored as in `to_polars`.

    Raises:
        MissingExtra: datasets is not installed.
    """
    from judgekit.datasets.dataframes.libraries import to_hf_dataset

    return to_hf_dataset(_table(cases))
