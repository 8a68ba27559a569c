"""Cases in: files, standard input and Python objects, in the shapes people have."""

from __future__ import annotations

from judgekit.datasets.builder import Shape
from judgekit.datasets.ids import IdSet, derive_id
from judgekit.datasets.load import Container, load_cases

__all__ = [
    "Container",
    "IdSet",
    "Shape",
    "derive_id",
    "load_cases",
]
