"""Find the entry points of installed packages without importing the packages.

The standard library parses the entry points of every package. If `importlib_metadata` is loaded
(litellm does that), a malformed line in one package breaks all lookups. Here only packages that
name the group are parsed.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from importlib.metadata import Distribution

FILE = "entry_points.txt"


class Offer(NamedTuple):
    """An entry point of a package."""

    name: str
    value: str
    """Its target, usually `package.module:attribute`."""
    package: str

    def load(self) -> Any:
        """Import the target.

        Raises:
            Exception: the import failed.
        """
        from importlib.metadata import EntryPoint

        return EntryPoint(self.name, self.value, "").load()


def offers(group: str) -> list[Offer]:
    """Return the entry points of a group, in the order of the search path."""
    from importlib.metadata import distributions

    matches: list[Offer] = []
    for package in distributions():
        text = _text_of(package)
        if f"[{group}]" in text and (points := list(_points(text, group))):
            name = package.metadata["Name"] or ""
            if _counts(name, text):
                matches += [Offer(point, value, name) for point, value in points]
    return matches


def _text_of(package: "Distribution") -> str:
    try:
        return package.read_text(FILE) or ""
    except UnicodeDecodeError:
        return ""  # no installer writes such a file


def _counts(name: str, text: str) -> bool:
    """Return whether a package is the first one of its name on the path."""
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        return _text_of(distribution(name)) == text
    except (PackageNotFoundError, ValueError):
        return True  # no other package has this name


def _points(text: str, group: str) -> Iterator[tuple[str, str]]:
    inside = False
    for line in map(str.strip, text.splitlines()):
        if line.startswith("["):
            inside = line == f"[{group}]"
        elif inside and line and not line.startswith("#"):
            name, _, value = line.partition("=")
            yield name.strip(), value.strip()
