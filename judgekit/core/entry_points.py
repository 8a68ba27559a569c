"""Find the entry points of installed packages without importing the packages.

The standard library parses the entry points of every package. If `importlib_metadata` is loaded
(litellm does that), a malformed line in one package breaks all lookups. Here only packages that
name the group are parsed.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from judgekit.core.errors import ConfigError

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


def load_offer(offer: Offer, what: str) -> Any:
    """Import the target of an entry point for a user who named it.

    Args:
        offer: the entry point.
        what: what the user named, for the message.

    Raises:
        ConfigError: the target is not installed, or its import fails.
    """
    target = offer.value.partition(":")[0].strip()
    try:
        return offer.load()
    except Exception as exc:
        # An entry point outlives its module if a package was removed in part.
        if isinstance(exc, ModuleNotFoundError) and f"{target}.".startswith(f"{exc.name}."):
            problem = f"is not installed: {offer.package} names {offer.value}, which does not exist"
            raise ConfigError(f"{what} {problem}; install {offer.package} again") from exc
        line = " ".join(str(exc).split()) or type(exc).__name__
        raise ConfigError(f"{what} cannot be loaded from {offer.value}: {line}") from exc


def only_offer(group: str, name: str, what: str) -> Offer:
    """Return the one entry point of a name.

    Args:
        group: the group of entry points.
        name: the name in the group.
        what: what the user named, for the message.

    Raises:
        ConfigError: no package offers it, or several offer different targets.
    """
    matches = [offer for offer in offers(group) if offer.name == name]
    if not matches:
        message = f"{what} is not installed: no package has {name!r} in its entry points {group}"
        raise ConfigError(f"{message}; install one that has")
    if len({offer.value for offer in matches}) > 1:
        packages = ", ".join(offer.package for offer in matches)
        raise ConfigError(f"{what} is offered by several packages: {packages}; uninstall one")
    return matches[0]


def offers(group: str) -> list[Offer]:
    """Return the entry points of a group, in the order of the search path."""
    return [offer for found, offer in offers_under(group) if found == group]


def offers_under(prefix: str) -> list[tuple[str, Offer]]:
    """Return the entry points of all groups whose name begins with a prefix, and their groups."""
    from importlib.metadata import distributions

    matches: list[tuple[str, Offer]] = []
    for package in distributions():
        text = _text_of(package)
        if f"[{prefix}" in text and (points := list(_points(text, prefix))):
            name = package.metadata["Name"] or ""
            if _counts(name, text):
                matches += [(group, Offer(point, value, name)) for group, point, value in points]
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


def _points(text: str, prefix: str) -> Iterator[tuple[str, str, str]]:
    """Yield group, name and target of the entry points in groups with a prefix."""
    group = ""
    for line in map(str.strip, text.splitlines()):
        if line.startswith("["):
            group = line[1:-1] if line.endswith("]") else ""
        elif group.startswith(prefix) and line and not line.startswith("#"):
            name, _, value = line.partition("=")
            yield group, name.strip(), value.strip()
