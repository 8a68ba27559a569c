"""Paths as reports show them: from where one stands, with `/`."""

from __future__ import annotations

import os
from pathlib import Path


def shown_path(file: str) -> str:
    """Return a path relative to the working folder, when it lies in it; else as it was given."""
    path = Path(file)
    here = Path.cwd()
    if path.is_absolute() and path.is_relative_to(here):
        path = path.relative_to(here)
    return path.as_posix()


def relative_path(file: str) -> str:
    """Return a path relative to the working folder, wherever it lies."""
    return Path(os.path.relpath(file)).as_posix()
