"""Format untrusted names and values for messages: on one line, shortened."""

from collections.abc import Iterable
from typing import Any


def quoted(text: object, *, limit: int = 60) -> str:
    r"""Return a name in quotes, on one line, shortened.

    >>> quoted("two\nlines")
    "'two\\nlines'"
    """
    shown = str(text)
    return repr(shown if len(shown) <= limit else shown[: limit - 1] + "…")


def listed(names: Iterable[object], *, most: int = 8) -> str:
    """Return names in quotes, separated by commas; the end of a long list is a count.

    >>> listed(["id", "input"])
    "'id', 'input'"
    """
    every = list(names)
    shown = ", ".join(quoted(name, limit=40) for name in every[:most])
    return f"{shown} and {len(every) - most} more" if len(every) > most else shown


def kind(value: Any) -> str:
    """Return the JSON type of a value.

    >>> kind([]), kind(1.5), kind(None)
    ('a list', 'a number', 'null')
    """
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    for types, name in _KINDS:
        if isinstance(value, types):
            return name
    return f"a Python {type(value).__name__}"


_KINDS: tuple[tuple[type | tuple[type, ...], str], ...] = (
    ((int, float), "a number"),
    (str, "text"),
    ((list, tuple), "a list"),
    (dict, "an object"),
)
