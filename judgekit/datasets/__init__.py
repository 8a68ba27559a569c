"""Cases in: files, standard input and Python objects, in the shapes people have."""

from __future__ import annotations

from judgekit.datasets.builder import Shape
from judgekit.datasets.ids import IdSet, derive_id
from judgekit.datasets.load import Container, load_cases
from judgekit.datasets.mastra import assistant_text, system_text, user_text

__all__ = [
    "Container",
    "IdSet",
    "Shape",
    "assistant_text",
    "derive_id",
    "load_cases",
    "system_text",
    "user_text",
]
