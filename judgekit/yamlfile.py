"""YAML that can only build plain data, and that remembers on which line each value stands."""

from __future__ import annotations

from typing import Any

import yaml

from judgekit.errors import ConfigError, place

MAX_NODES = 200_000
"""Values a file may hold after its aliases are followed: aliases of aliases grow without end."""
MAX_DEPTH = 60

Path = tuple[str | int, ...]

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class Lines:
    """The line of each value of a YAML document, found by its path."""

    def __init__(self, *, file: str, first: int = 1) -> None:
        self.file = file
        self.first = first
        self._lines: dict[Path, int] = {}

    def put(self, path: Path, line: int) -> None:
        """Remember that the value at `path` begins on `line` (counted from 0)."""
        self._lines[path] = line + self.first

    def where(self, *path: str | int) -> str:
        """Return `file:line` of a value, or of the nearest value around it; empty without a file."""
        if not self.file:
            return ""
        steps = tuple(path)
        while steps and steps not in self._lines:
            steps = steps[:-1]
        return place(self.file, self._lines.get(steps, self.first))


def parse_yaml(text: str, *, file: str, first: int = 1) -> tuple[Any, Lines]:
    """Return the data of a YAML text and the lines its values stand on.

    Only mappings with text keys, lists, text, numbers, booleans and null can come out.

    Args:
        text: the YAML.
        file: name to use in messages.
        first: number of the text's first line in that file.

    Raises:
        ConfigError: not YAML, a repeated or non-text key, a tag, or too much of it.
    """
    lines = Lines(file=file, first=first)
    try:
        loader = _Loader(text)
        try:
            node = loader.get_single_node()
        finally:
            loader.dispose()
    except yaml.MarkedYAMLError as exc:
        mark = exc.problem_mark or exc.context_mark
        line = mark.line + first if mark is not None else first
        raise ConfigError(f"not valid YAML: {exc.problem}", where=place(file, line)) from exc
    except (yaml.YAMLError, RecursionError, ValueError) as exc:
        raise ConfigError(f"not valid YAML: {str(exc).splitlines()[0]}", where=file) from exc
    if node is None:
        return None, lines
    return _Builder(loader, lines).build(node, (), 0), lines


class _Builder:
    def __init__(self, loader: Any, lines: Lines) -> None:
        self._resolver = yaml.SafeLoader("")
        self._lines = lines
        self._count = 0

    def build(self, node: yaml.Node, path: Path, depth: int) -> Any:
        self._count += 1
        line = node.start_mark.line
        self._lines.put(path, line)
        where = place(self._lines.file, line + self._lines.first)
        if self._count > MAX_NODES:
            raise ConfigError(
                f"more than {MAX_NODES:,} values once aliases are followed", where=where
            )
        if depth > MAX_DEPTH:
            raise ConfigError(f"nested more than {MAX_DEPTH} deep", where=where)
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, path, depth)
        if isinstance(node, yaml.SequenceNode):
            return [self.build(n, (*path, i), depth + 1) for i, n in enumerate(node.value)]
        return self._scalar(node, where)

    def _mapping(self, node: yaml.MappingNode, path: Path, depth: int) -> dict[str, Any]:
        data: dict[str, Any] = {}
        for key_node, value_node in node.value:
            where = place(self._lines.file, key_node.start_mark.line + self._lines.first)
            key = key_node.value
            if not isinstance(key_node, yaml.ScalarNode) or key_node.tag not in _KEY_TAGS:
                shown = key if isinstance(key, str) else "this key"
                raise ConfigError(
                    f'{shown!r} is not text; write it in quotes: "{shown}"', where=where
                )
            if key in data:
                raise ConfigError(f"{key!r} is given twice", where=where)
            data[key] = self.build(value_node, (*path, key), depth + 1)
            # A message about a key should point at the key, not at what follows it.
            self._lines.put((*path, key), key_node.start_mark.line)
        return data

    def _scalar(self, node: yaml.Node, where: str) -> Any:
        if node.tag not in _SCALAR_TAGS:
            raise ConfigError(f"the tag {node.tag!r} is not allowed; write plain data", where=where)
        if node.tag == _STR or node.tag == _TIMESTAMP:
            return node.value
        try:
            return self._resolver.construct_object(node)
        except (ValueError, yaml.YAMLError) as exc:
            raise ConfigError(f"cannot read {node.value!r}", where=where) from exc


_STR = "tag:yaml.org,2002:str"
_TIMESTAMP = "tag:yaml.org,2002:timestamp"
_SCALAR_TAGS = {
    _STR,
    _TIMESTAMP,
    *(f"tag:yaml.org,2002:{t}" for t in ("int", "float", "bool", "null")),
}
_KEY_TAGS = {_STR}
