"""The user's mapping from fields of a case to paths in a row."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from judgekit.core.errors import ConfigError
from judgekit.core.suggest import suggest
from judgekit.datasets.field_names import FIELDS, MESSAGES, field_named, split_target
from judgekit.datasets.field_path import FieldPath, values_by_path
from judgekit.datasets.formatting import quoted
from judgekit.datasets.row_builder import RowFault


class FieldMap:
    """Reads the fields of a case from paths in a row.

    A target is a field of a case, `messages` for a chat, or one value inside an object such as
    `metadata.topic`. Its path is dotted (see `FieldPath`). Keys that no path starts with keep
    their usual names; all others go to `metadata`.

    >>> fields = FieldMap({"input": "q.text", "metadata.topic": "tags.0?"})
    >>> fields.apply({"q": {"text": "2+2?"}, "answer": "4", "seed": 7})
    {'input': '2+2?', 'answer': '4', 'metadata.seed': 7}
    """

    def __init__(self, fields: Mapping[str, str]) -> None:
        self._paths = {_target(name): _path(name, text) for name, text in fields.items()}
        self._roots = {path.keys[0] for path in self._paths.values()}

    def apply(self, row: Mapping[str, Any], *, cells: bool = False) -> dict[str, Any]:
        """Return the row with the field names of a case.

        Raises:
            RowFault: a path that is not optional leads to no value.
        """
        named = values_by_path(self._paths, row, cells=cells)
        for key, value in row.items():
            if key not in self._roots:
                self._keep(key, value, named)
        return named

    def source(self, key: str) -> str:
        """Return the source of a value: its path, or its key."""
        path = self._paths.get(key)
        return path.text if path else key

    def _keep(self, key: str, value: Any, named: dict[str, Any]) -> None:
        field = MESSAGES if key == MESSAGES else field_named(key)
        usual = field is not None and field not in self._paths
        name = key if usual or split_target(key) else f"metadata.{key}"
        if name in named:
            first = quoted(self.source(name))
            problem = f"given twice, by {first} and by {quoted(key)}; remove one from the row"
            raise RowFault(problem, name)
        named[name] = value


def _target(name: str) -> str:
    if name in FIELDS or name == MESSAGES or split_target(name):
        return name
    known = f"; the fields are {', '.join(FIELDS)}, and names like metadata.topic"
    hint = suggest(name, FIELDS, otherwise=known)
    raise ConfigError(f"fields: {quoted(name)} is not a field of a case{hint}")


def _path(name: str, text: Any) -> FieldPath:
    if not isinstance(text, str):
        raise ConfigError(f"fields: the place of {name} must be text like 'response.text'")
    return FieldPath.parse(text)
