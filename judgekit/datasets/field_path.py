"""A dotted path into a row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from judgekit.core.errors import ConfigError
from judgekit.datasets.formatting import kind, listed, quoted
from judgekit.datasets.json_text import to_json_or_text
from judgekit.datasets.row_builder import RowFault


class PathMissing(LookupError):
    """A path leads to no value; the message says what the row has there."""


@dataclass(frozen=True)
class FieldPath:
    r"""Keys and list indexes that lead to a value; `optional` if it may be missing.

    `.` separates, a whole number indexes a list (`-1` is the last item), a backslash takes the
    next character as it is, and a final `?` makes the path optional.

    >>> FieldPath.parse("response.choices.0.text").find({"response": {"choices": [{"text": "x"}]}})
    'x'
    >>> FieldPath.parse("a\\.b?").keys
    ('a.b',)
    """

    text: str
    keys: tuple[str, ...]
    optional: bool = False

    @classmethod
    def parse(cls, text: str) -> FieldPath:
        """Parse the text of a path.

        Raises:
            ConfigError: the path or one of its keys is empty.
        """
        keys, key, characters = [], "", iter(text)
        optional = text.endswith("?") and not text.endswith("\\?")
        for character in characters:
            if character == "\\":
                key += next(characters, "")
            elif character == ".":
                keys.append(key)
                key = ""
            else:
                key += character
        keys.append(key[:-1] if optional else key)
        if not all(keys):
            raise ConfigError(
                f"the path {quoted(text)} has an empty key; write it like 'response.text', and a"
                r" literal dot as '\.'"
            )
        return cls(text=text, keys=tuple(keys), optional=optional)

    def find(self, row: Any, *, cells: bool = False) -> Any:
        """Return the value at the path; with `cells`, also inside texts with JSON.

        Raises:
            PathMissing: there is no value, and the path is not optional.
        """
        value = row
        for depth, key in enumerate(self.keys):
            if cells:
                value = to_json_or_text(value)
            try:
                value = value[int(key) if isinstance(value, list) else key]
            except (KeyError, IndexError, TypeError, ValueError) as exc:
                if self.optional:
                    return None
                raise PathMissing(self._missing(value, depth)) from exc
        return value

    def _missing(self, value: Any, depth: int) -> str:
        at = f"at {quoted('.'.join(self.keys[:depth]))} there is" if depth else "the row is"
        if isinstance(value, dict):
            at += f" an object with the keys {listed(value)}" if value else " an empty object"
        elif isinstance(value, list):
            at += f" a list of {len(value)}"
        else:
            at += f" {kind(value)}"
        return f"nothing at {quoted(self.text, limit=100)}: {at}"


def values_by_path(
    paths: Mapping[str, FieldPath], row: Mapping[str, Any], *, cells: bool
) -> dict[str, Any]:
    """Return the values of fields that their paths lead to in a row, without missing ones.

    Raises:
        RowFault: a path that is not optional leads to no value.
    """
    values = {}
    for field, path in paths.items():
        try:
            values[field] = path.find(row, cells=cells)
        except PathMissing as exc:
            remedy = "correct the path, or end it with ? if rows may lack it"
            raise RowFault(f"{exc}; {remedy}", field) from exc
    return {field: value for field, value in values.items() if value is not None}
