"""Read cases from a JSON document: a list, or an object with a list."""

from collections.abc import Iterator
from typing import Any, BinaryIO

from judgekit.core.case import Case
from judgekit.core.errors import ConfigError, DatasetError, place
from judgekit.core.yaml_file import parse_yaml
from judgekit.datasets.formatting import kind, listed, quoted
from judgekit.datasets.json_text import json_fault, parse_json, repeated_key
from judgekit.datasets.messages.reader import looks_like_messages
from judgekit.datasets.messages.tables import tables
from judgekit.datasets.row_builder import RowBuilder
from judgekit.datasets.stream import not_utf8, read_whole

LIST_KEYS = ("cases", "data", "rows")
"""Keys of an object that may contain the list of cases."""
OTHERS_KEYS = ("samples", "items", "examples", "conversations", "results")
"""Keys of other tools, which are used if none of the keys above has a list."""


def read_json(
    stream: BinaryIO, *, name: str, builder: RowBuilder
) -> Iterator[tuple[str | int, Case]]:
    """Yield the case of every item with its location; the document is read into memory.

    Raises:
        DatasetError: the document cannot be read, or an item is not a case.
    """
    data = read_whole(stream, name=name)
    if not data.strip():
        return
    rows = _rows(_parse(data, name), name)
    del data
    for number, row in enumerate(rows, start=1):
        where = f"row {number}"
        yield where, builder.build(row, where=f"{name}: {where}")


def read_yaml(
    stream: BinaryIO, *, name: str, builder: RowBuilder
) -> Iterator[tuple[str | int, Case]]:
    """Yield the case of every item of a YAML document with its location.

    Raises:
        DatasetError: the document cannot be read, or an item is not a case.
    """
    data = read_whole(stream, name=name)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as exc:
        where = place(name, data.count(b"\n", 0, exc.start) + 1)
        raise not_utf8(exc, data, offset=0, where=where) from exc
    try:
        document, _ = parse_yaml(text, file=name)
    except ConfigError as exc:
        raise DatasetError(str(exc)) from exc
    if document is None:
        return
    for number, row in enumerate(_rows(document, name), start=1):
        where = f"row {number}"
        yield where, builder.build_python(row, where=f"{name}: {where}", advice="correct the row")


def _parse(data: bytes, name: str) -> Any:
    try:
        document = parse_json(data)
        if (repeated := repeated_key(data)) is not None:
            raise DatasetError(_twice(repeated), where=name)
        return document
    except ValueError as exc:
        try:
            data.decode("utf-8")
        except UnicodeDecodeError as wrong:
            where = place(name, data.count(b"\n", 0, wrong.start) + 1)
            raise not_utf8(wrong, data, offset=0, where=where) from wrong
        fault = json_fault(exc, data)
        hint = "correct the document"
        if "trailing" in str(exc):
            hint = "put the cases in one list, or name a file of JSON Lines .jsonl"
        message = f"not JSON: {fault.what}, at column {fault.column}; {hint}"
        raise DatasetError(message, where=place(name, fault.line)) from exc


def _twice(key: str) -> str:
    return f"the key {quoted(key)} is there twice in one object; remove one"


def _rows(document: Any, name: str) -> list[Any]:
    if isinstance(document, list):
        return document
    names = ", ".join((*LIST_KEYS, *OTHERS_KEYS))
    expected = f"a list of cases, or an object with one list under {names}"
    if not isinstance(document, dict):
        raise DatasetError(f"found {kind(document)}; write {expected}", where=name)
    lists = {key: rows for key, rows in document.items() if isinstance(rows, list)}
    keys = [key for key in LIST_KEYS if key in lists]
    keys = keys or [key for key in OTHERS_KEYS if key in lists]
    chats = any(looks_like_messages(document.get(key)) for key in tables().conversations)
    if chats and (not keys or looks_like_messages(lists[keys[0]])):
        return [document]  # one row with messages
    if len(keys) == 1:
        return lists[keys[0]]
    if keys:
        message = f"found lists under {listed(keys)}; keep the one that holds the cases"
    else:
        message = f"found an object with the keys {listed(document)}; write {expected}"
    raise DatasetError(message, where=name)
