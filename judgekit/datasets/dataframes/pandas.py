"""pandas: the only home of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from judgekit.core.errors import DatasetError, MissingExtra
from judgekit.datasets.dataframes.plain import plain
from judgekit.datasets.dataframes.table import Column, Table, clean

if TYPE_CHECKING:
    import pandas

_DTYPES = {"text": "string", "number": "Float64", "whole": "Int64", "yes_no": "boolean"}
"""Types that have a missing value of their own: a score that is not there is no NaN."""
_BATCH = 1024


def frame_of(table: Table) -> pandas.DataFrame:
    """Return a data frame.

    Raises:
        MissingExtra: pandas is not installed.
    """
    try:
        import pandas as pd
    except ImportError as exc:
        raise MissingExtra(feature="a pandas DataFrame", extra="pandas") from exc

    def series(column: Column) -> Any:
        dtype = _DTYPES.get(column.kind, object)
        if dtype is object:
            return pd.Series(column.values, dtype=object)
        try:
            return pd.Series(pd.array(column.values, dtype=dtype))
        except UnicodeEncodeError:
            return pd.Series(pd.array(clean(column.values), dtype=dtype))

    columns = {column.name: series(column) for column in table}
    return pd.DataFrame(columns, index=pd.RangeIndex(len(table)))


def rows_of(frame: Any) -> Iterator[tuple[Any, dict[str, Any]]]:
    """Yield the rows of a data frame as plain dicts, each with its label in the index.

    Levels of the index that have a name are columns.

    Raises:
        DatasetError: it is no data frame, or its columns cannot be told apart by name.
    """
    if type(frame).__name__ == "Series" or not hasattr(frame, "iloc"):
        what = f"a pandas {type(frame).__name__}"
        raise DatasetError(f"expected a pandas DataFrame, found {what}; {_HOW}")
    levels = [name for name in frame.index.names if name is not None]
    if levels and not set(levels) & set(frame.columns):
        labels, frame = list(frame.index), frame.reset_index()
    else:
        labels = frame.index
    names = _names(list(frame.columns))
    for start in range(0, len(frame), _BATCH):
        part = frame.iloc[start : start + _BATCH]
        columns = [
            [plain(value) for value in part.iloc[:, place].tolist()] for place in range(len(names))
        ]
        for label, values in zip(labels[start : start + _BATCH], zip(*columns), strict=True):  # noqa: B905 - columns of one frame
            yield label, dict(zip(names, values, strict=True))


_HOW = "make one with .to_frame()"


def _names(columns: list[Any]) -> list[str]:
    for name in columns:
        if not isinstance(name, str):
            raise DatasetError(
                f"the column {name!r} has no text for a name; rename it with .rename(columns=...)"
            )
        if columns.count(name) > 1:
            raise DatasetError(f"two columns are named {name[:60]!r}; rename or drop one")
    return columns
