"""What installed packages offer, by the names of their entry points; nothing is imported.

The standard library reads the entry points of every package to find those of one group, and
where `importlib_metadata` was loaded (litellm does), one package with a malformed line makes
that fail for all. Here a package is read only if it names the group, and as it is written.

Mostly none does. That is seen by a look at the files, before the standard library, which knows
every way to install a package, is loaded to read them.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from importlib.machinery import PathFinder
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from importlib.metadata import Distribution

FILE = "entry_points.txt"


class Offer(NamedTuple):
    """One thing a package offers under a name."""

    name: str
    value: str
    """Where it stands: `package.module:attribute`, or what the package wrote instead."""
    package: str

    def load(self) -> Any:
        """Import what is offered.

        Raises:
            Exception: whatever the package raises.
        """
        from importlib.metadata import EntryPoint

        return EntryPoint(self.name, self.value, "").load()


def offers(group: str) -> list[Offer]:
    """Return what installed packages offer in a group, in the order of the search path."""
    if not _named(f"[{group}]".encode()):
        return []
    from importlib.metadata import distributions

    found: list[Offer] = []
    for package in distributions():
        text = _text_of(package)
        if f"[{group}]" in text and (points := list(_points(text, group))):
            name = package.metadata["Name"] or ""
            if _counts(name, text):
                found += [Offer(point, value, name) for point, value in points]
    return found


def _named(heading: bytes) -> bool:
    """Return whether a package on the search path has a heading, or may have one unseen."""
    others = (finder for finder in sys.meta_path if finder is not PathFinder)
    if any(hasattr(finder, "find_distributions") for finder in others):
        return True
    if any(Path(place).is_file() for place in sys.path):
        return True  # an archive of packages
    return any(heading in _bytes_of(folder) for place in sys.path for folder in _packages(place))


def _packages(place: str) -> list[str]:
    """Return the folders that describe the packages of a place."""
    try:
        with os.scandir(place or ".") as entries:
            return [e.path for e in entries if e.name.lower().endswith((".dist-info", "egg-info"))]
    except (OSError, ValueError):
        return []


def _bytes_of(folder: str) -> bytes:
    try:
        with open(f"{folder}/{FILE}", "rb") as file:  # noqa: PTH123 - there are hundreds of them
            return file.read()
    except OSError:
        return b""


def _text_of(package: Distribution) -> str:
    try:
        return package.read_text(FILE) or ""
    except UnicodeDecodeError:
        return ""  # not a file any installer writes


def _counts(name: str, text: str) -> bool:
    """Return whether a package is not hidden by another copy of it, earlier on the path."""
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        return _text_of(distribution(name)) == text
    except (PackageNotFoundError, ValueError):
        return True  # nothing of that name, so nothing hides it


def _points(text: str, group: str) -> Iterator[tuple[str, str]]:
    inside = False
    for line in map(str.strip, text.splitlines()):
        if line.startswith("["):
            inside = line == f"[{group}]"
        elif inside and line and not line.startswith("#"):
            name, _, value = line.partition("=")
            yield name.strip(), value.strip()


__all__ = ["Offer", "offers"]
