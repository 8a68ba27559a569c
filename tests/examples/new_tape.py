"""A new tape for the recordings of an example."""

from __future__ import annotations

from pathlib import Path


def new_tape(path: Path, *, like: Path) -> Path:
    """Begin a tape under the generation of built-in rubrics of another one.

    Args:
        path: the file to write.
        like: the committed tape, whose first line names the generation.
    """
    path.write_bytes(like.read_bytes().splitlines(keepends=True)[0])
    return path
