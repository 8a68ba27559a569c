"""Dotted paths into a row, and the mapping from fields of a case to paths."""

from collections.abc import Mapping
from typing import Any, NamedTuple, Self

from judgekit.core.errors import ConfigError
from judgekit.core.suggest import closest, suggest
from judgekit.datasets.field_names import FIELDS, MESSAGES, field_named, split_target
from judgekit.datasets.formatting import kind, listed, quoted
from judgekit.datasets.json_text import to_json_or_text
from judgekit.datasets.row_builder import RowFault


class PathMissing(LookupError):
    """A path has no value; the message describes the row at this point."""


class FieldPath(NamedTuple):
    r"""Keys and list indexes that lead to a value; `optional` if it may be missing.

    `.` separates keys, an integer indexes a list (`-1` is the last item), a backslash escapes the
    next character, and a final `?` makes the path optional. `docs[*].text` is the list of the texts
    of all items.

    >>> FieldPath.parse("response.choices.0.text").find({"response": {"choices": [{"text": "x"}]}})
    'x'
    >>> FieldPath.parse("a\\.b?").keys
    ('a.b',)
    """

    text: str
    keys: tuple[str, ...]
    optional: bool = False

    @classmethod
    def parse(cls, text: str) -> Self:
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
        keys = [part for key in keys for part in _with_star(key)]
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
        return self._find(row, 0, cells=cells)

    def _find(self, row: Any, start: int, *, cells: bool) -> Any:
        value = row
        for depth, key in enumerate(self.keys[start:], start=start):
            if cells:
                value = to_json_or_text(value)
            if key == "*" and isinstance(value, list):
                return [self._find(item, depth + 1, cells=cells) for item in value]
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


def _with_star(key: str) -> tuple[str, ...]:
    return (key[:-3], "*") if key.endswith("[*]") and len(key) > 3 else (key,)


def values_by_path(
    paths: Mapping[str, FieldPath], row: Mapping[str, Any], *, cells: bool
) -> dict[str, Any]:
    """Return the values at the paths of fields in a row, without missing ones.

    Raises:
        RowFault: a path that is not optional has no value.
    """
    values = {}
    for field, path in paths.items():
        try:
            values[field] = path.find(row, cells=cells)
        except PathMissing as exc:
            remedy = "correct the path, or end it with ? if rows may lack it"
            raise RowFault(f"{exc}; {remedy}", field) from exc
    return {field: value for field, value in values.items() if value is not None}


class FieldMap:
    """Reads the fields of a case from paths in a row.

    A target is a field of a case, `messages` for a chat, or one value inside an object, such as
    `metadata.topic`. Its path is dotted (see `FieldPath`). Keys that are not the start of a path
    keep their usual names; all others go to `metadata`.

    >>> fields = FieldMap({"input": "q.text", "metadata.topic": "tags.0?"})
    >>> fields.apply({"q": {"text": "2+2?"}, "answer": "4", "seed": 7})
    {'input': '2+2?', 'answer': '4', 'metadata.seed': 7}
    """

    def __init__(self, fields: Mapping[str, str]) -> None:
        given = dict(fields)
        if given.get("metadata") == REST:
            del given["metadata"]  # what every mapping does with unknown keys
        self._paths = {_target(name, text): _path(name, text) for name, text in given.items()}
        self._roots = {path.keys[0] for path in self._paths.values()}

    def apply(self, row: Mapping[str, Any], *, cells: bool = False) -> dict[str, Any]:
        """Return the row with the field names of a case.

        Raises:
            RowFault: a path that is not optional has no value.
        """
        named = values_by_path(self._paths, row, cells=cells)
        for key, value in row.items():
            if key not in self._roots:
                self._keep(key, value, named)
            elif (rest := self._unread(key, value)) not in (None, {}, []):
                named.setdefault(f"metadata.{key}", rest)
        return named

    def _unread(self, root: str, value: Any) -> Any:
        """Return what no path reads of the value at a root; `None` if nothing is left."""
        paths = [path.keys[1:] for path in self._paths.values() if path.keys[0] == root]
        return _rest_of(value, paths)

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


REST = "rest"
"""The place of `metadata` that stands for all keys without a field."""


def _rest_of(value: Any, paths: list[tuple[str, ...]]) -> Any:
    if () in paths or not isinstance(value, dict | list):
        return None
    items = value.items() if isinstance(value, dict) else enumerate(value)
    kept = {}
    for key, item in items:
        names = {str(key), "*"}
        if isinstance(value, list):
            names.add(str(key - len(value)))
        inner = [path[1:] for path in paths if path[0] in names]
        rest = _rest_of(item, inner) if inner else item
        if rest not in (None, {}, []):
            kept[key] = rest
    return kept if isinstance(value, dict) else list(kept.values())


def _target(name: str, text: Any) -> str:
    if name in FIELDS or name == MESSAGES or split_target(name):
        return name
    if text in FIELDS and not closest(name, FIELDS):
        turned = f"the field comes first: fields: {{{text}: {name}}}"
        raise ConfigError(f"fields: {quoted(name)} is not a field of a case; {turned}")
    known = f"; the fields are {', '.join(FIELDS)}, and names like metadata.topic"
    hint = suggest(name, FIELDS, otherwise=known)
    raise ConfigError(f"fields: {quoted(name)} is not a field of a case{hint}")


def _path(name: str, text: Any) -> FieldPath:
    if not isinstance(text, str):
        raise ConfigError(f"fields: the place of {name} must be text like 'response.text'")
    return FieldPath.parse(text)
