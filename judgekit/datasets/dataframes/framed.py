"""The base of values with rows for a data frame."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas
    import polars

    from judgekit.datasets.dataframes.table import Table


class Framed(ABC):
    """A value that is also a data frame."""

    @abstractmethod
    def _frame_table(self) -> Table:
        """Return the rows of the data frame."""

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
