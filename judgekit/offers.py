"""What installed packages offer, by the names of their entry points; nothing is imported.

The standard library reads the entry points of every package to find those of one group, and
where `importlib_metadata` was loaded (litellm does), one package with a malformed line makes
that fail for all. Here a package is read only if it names the group, and as it is written.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import Distribution, EntryPoint, PackageNotFoundError, distribution
from importlib.metadata import distributions as installed
from typing import Any, NamedTuple

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
        return EntryPoint(self.name, self.value, "").load()


def offers(group: str) -> list[Offer]:
    """Return what installed packages offer in a group, in the order of the search path."""
    found: list[Offer] = []
    for package in installed():
        text = _text_of(package)
        if f"[{group}]" in text and (points := list(_points(text, group))):
            name = package.metadata["Name"] or ""
            if _counts(name, text):
                found += [Offer(point, value, name) for point, value in points]
    return found


def _text_of(package: Distribution) -> str:
    try:
        return package.read_text(FILE) or ""
    except UnicodeDecodeError:
        return ""  # not a file any installer writes


def _counts(name: str, text: str) -> bool:
    """Return whether a package is not hidden by another copy of it, earlier on the path."""
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
