"""Read cases from files, standard input, tables and Python objects.

This package also has field mapping, selection, shards and perturbed copies. It imports `core`.

Start with `load`, which turns a file, a table or rows into cases, and `case_builder`, which maps
the keys of a row to the fields of a case.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgekit.core.lazy_names import LazyNames

if TYPE_CHECKING:
    from judgekit.datasets.case_builder import Shape as Shape
    from judgekit.datasets.conversion import from_hf as from_hf
    from judgekit.datasets.conversion import from_pandas as from_pandas
    from judgekit.datasets.conversion import from_polars as from_polars
    from judgekit.datasets.conversion import to_hf as to_hf
    from judgekit.datasets.conversion import to_pandas as to_pandas
    from judgekit.datasets.conversion import to_polars as to_polars
    from judgekit.datasets.ids import IdSet as IdSet
    from judgekit.datasets.ids import derive_id as derive_id
    from judgekit.datasets.load import Container as Container
    from judgekit.datasets.load import load_cases as load_cases

_names = LazyNames(
    __name__,
    {
        "judgekit.datasets.case_builder": ["Shape"],
        "judgekit.datasets.conversion": [
            "from_hf",
            "from_pandas",
            "from_polars",
            "to_hf",
            "to_pandas",
            "to_polars",
        ],
        "judgekit.datasets.ids": ["IdSet", "derive_id"],
        "judgekit.datasets.load": ["Container", "load_cases"],
    },
)

if not TYPE_CHECKING:
    __all__ = list(_names.homes)
    __getattr__ = _names.get
    __dir__ = _names.dir
