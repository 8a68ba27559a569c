"""The tables of `shapes.json`, indexed for the reader."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

from judgekit.core.sourced import read_tables

Role = Literal["system", "user", "assistant", "tool"]
BlockKind = Literal[
    "text", "json", "blocks", "thought", "call", "result", "unread", "aside", "nothing"
]


class RoleWord(NamedTuple):
    """What a word for a role means."""

    role: Role
    shape: str = ""
    content: str = ""
    """`calls` if the content of such a message is a tool call in JSON."""


class MessageKey(NamedTuple):
    """What a key of a message means."""

    key: str
    use: str
    shape: str = ""
    noun: str = ""


class Block(NamedTuple):
    """What a part of a message means: the paths of its values; the first that exists counts."""

    kind: BlockKind
    name: str
    """The value of `type`, or the key that identifies the part."""
    shape: str = ""
    text: Sequence[str] = ()
    called: str = ""
    """The name of a tool that is named by the type alone."""
    tool: Sequence[str] = ()
    arguments: Sequence[str] = ()
    free: bool = False
    """Whether arguments may be any text; other texts must be JSON."""
    id: Sequence[str] = ()
    result: Sequence[str] = ()
    more: Sequence[str] = ()
    """Further parts of a result beside its value."""
    error: Sequence[str] = ()
    noun: str = ""
    mime: Sequence[str] = ()
    thought: str = ""
    """A flag that makes a text a thought."""
    aside: str = ""

    @property
    def paths(self) -> Sequence[str]:
        """All paths of values."""
        lists = (self.text, self.tool, self.arguments, self.id, self.result, self.error)
        paths = [path for each in (*lists, self.more, self.mime) for path in each]
        return [*paths, self.thought]


class Inline(NamedTuple):
    """A tool call, or its result, inside a text."""

    open: str
    close: str
    kind: Literal["call", "result"]


class Tables(NamedTuple):
    """All tables of the reader."""

    titles: Mapping[str, str]
    """Shape -> its name for people."""
    roles: Mapping[str, RoleWord]
    keys: Mapping[str, MessageKey]
    contents: Sequence[str]
    """The keys of a message that hold its content, in order."""
    typed: Mapping[str, Block]
    patterns: Sequence[tuple[str, str, Block]]
    """Start and end of a type, and the block."""
    keyed: Mapping[str, Block]
    """Key -> block, for parts without a type."""
    neutral: frozenset[str]
    """Keys without content, such as ids, times and counts of tokens; they are not kept."""
    calls: Mapping[str, Sequence[str]]
    inline: Sequence[Inline]
    conversations: Mapping[str, str]
    """Key of a row with messages -> shape."""
    systems: Mapping[str, str]
    """Key of a row with a system prompt -> shape."""
    answers: Sequence[tuple[str, str]]
    """Path of the answer in the response of a server, and its shape."""
    extras: frozenset[str]
    """Further keys of rows with messages; they go to the metadata."""

    def block(self, part: Mapping[str, Any]) -> Block | None:
        """Return what a part is; `None` if its type is unknown."""
        sort = part.get("type")
        if isinstance(sort, str):
            if (known := self.typed.get(sort)) is not None:
                return known
            for start, end, block in self.patterns:
                if sort.startswith(start) and sort.endswith(end):
                    called = sort.removeprefix(start) if block.kind == "call" else ""
                    return block._replace(called=called, name=sort)
            return None
        return next((block for key, block in self.keyed.items() if key in part), None)


@cache
def tables() -> Tables:
    """Return the tables."""
    data = read_tables(Path(__file__).with_name("shapes.json"))
    blocks = [_block(row) for row in data["blocks"]]
    typed = {
        row["type"]: block
        for row, block in zip(data["blocks"], blocks, strict=True)
        if "type" in row
    }
    keys = {
        row["key"]: MessageKey(row["key"], row["as"], row.get("shape", ""), row.get("noun", ""))
        for row in data["keys"]
    }
    places = data["places"]
    return Tables(
        titles={row["name"]: row["title"] for row in data["shapes"]},
        roles={
            row["word"].casefold(): RoleWord(
                row["role"], row.get("shape", ""), row.get("content", "")
            )
            for row in data["roles"]
        },
        keys=keys,
        contents=[key.key for key in keys.values() if key.use == "content"],
        typed={sort: block for sort, block in typed.items() if "*" not in sort},
        patterns=[(*_ends(sort), block) for sort, block in typed.items() if "*" in sort],
        keyed={
            block.name: block
            for row, block in zip(data["blocks"], blocks, strict=True)
            if "key" in row
        },
        neutral=frozenset(key for row in data["neutral"] for key in row["keys"]),
        calls=_paths(data["calls"]),
        inline=[Inline(row["open"], row["close"], row["kind"]) for row in data["inline"]],
        conversations={
            row["key"]: row.get("shape", "") for row in places if row["holds"] == "conversation"
        },
        systems={row["key"]: row.get("shape", "") for row in places if row["holds"] == "system"},
        answers=[(row["path"], row.get("shape", "")) for row in data["answers"]],
        extras=frozenset(row["key"] for row in data["extras"]),
    )


_NO_VALUES = ("type", "key", "name", "source", "verified")
"""Keys of a row that say which part it is about, and where the fact is from."""


def _block(row: Mapping[str, Any]) -> Block:
    values = {key: value for key, value in row.items() if key not in _NO_VALUES}
    return Block(name=row.get("type") or row["key"], tool=row.get("name", ()), **values)


def _paths(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[str]]:
    paths: dict[str, list[str]] = {}
    for row in rows:
        paths.setdefault(row["as"], []).append(row["path"])
    return paths


def _ends(pattern: str) -> tuple[str, str]:
    start, _, end = pattern.partition("*")
    return start, end


def find(value: Any, paths: Sequence[str]) -> Any:
    """Return the first value of several dotted paths that is not null; `None` without one."""
    for path in paths:
        found = value
        for key in path.split("."):
            if isinstance(found, list) and key.isdecimal():
                found = found[int(key)] if int(key) < len(found) else None
            else:
                found = found.get(key) if isinstance(found, dict) else None
            if found is None:
                break
        if found is not None:
            return found
    return None
