"""Read cases from files, standard input, tables and Python objects.

This package also has field mapping, selection, shards and perturbed copies. It imports `core`.

Start with `load`, which turns a file, a table or rows into cases, and `case_builder`, which maps
the keys of a row to the fields of a case.
"""

from judgekit.datasets.case_builder import Shape
from judgekit.datasets.ids import IdSet, derive_id
from judgekit.datasets.load import Container, load_cases

__all__ = [
    "Container",
    "IdSet",
    "Shape",
    "derive_id",
    "load_cases",
]
