"""Base class of values that can be converted to a data frame."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas
    import polars

    from judgekit.datasets.dataframes.table import Table


class Framed(ABC):
    """A value that can be converted to a data frame."""

    @abstractmethod
    def _frame_rows(self) -> Iterable[Mapping[str, Any]]:
        """Return the rows; an entry with several values becomes several columns."""

    def _frame_table(self) -> Table:
        from judgekit.datasets.dataframes.table import Table, kind_of

        rows = []
        for entries in self._frame_rows():
            row: dict[str, Any] = {}
            for name, entry in entries.items():
                values = entry if isinstance(entry, dict) else {"value": entry}
                row |= {name if k == "value" else f"{name}_{k}": v for k, v in values.items()}
            rows.append(row)
        table = Table({})
        for name in dict.fromkeys(name for row in rows for name in row):
            known = [row[name] for row in rows if row.get(name) is not None]
            table.column(name, kind_of(known) if known else "number")
        for row in rows:
            table.add(row)
        return table

    def to_pandas(self) -> pandas.DataFrame:
        """Return the value as a pandas data frame.

        Raises:
            MissingExtra: pandas is not installed.
        """
        from judgekit.datasets.dataframes.libraries import to_pandas_frame

        return to_pandas_frame(self._frame_table())

    def to_polars(self) -> polars.DataFrame:
        """Return the value as a polars data frame; see `to_pandas`.

        Raises:
            MissingExtra: polars is not installed.
        """
        from judgekit.datasets.dataframes.libraries import to_polars_frame

        return to_polars_frame(self._frame_table())
