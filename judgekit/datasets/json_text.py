"""Strict JSON parsing with readable errors."""

import json
import math
import re
from collections.abc import Mapping
from datetime import date, time
from decimal import Decimal
from typing import Any, NamedTuple

from pydantic_core import from_json

from judgekit.datasets.formatting import kind, quoted

MAX_DEPTH = 200
"""Maximum nesting depth, the limit of pydantic's parser."""

_MAX_INTEGER_BITS = 14_000
"""Maximum number of digits; a little less than the 4,300 that Python converts to text."""

_PLACE = r"(?P<what>.*) at line (?P<line>\d+) column (?P<column>\d+)$"

_WORDS = (
    ("EOF while parsing", "it ends too early"),
    ("key must be a string", "a key without double quotes"),
    ("hex escape", r"a broken \u escape, or half of a surrogate pair"),
    ("surrogate", r"half of a surrogate pair in a \u escape"),
    ("control character", "a control character inside a text, which JSON requires to be escaped"),
    ("recursion limit", f"nested more than {MAX_DEPTH} levels deep"),
    ("trailing characters", "something after the end of the value"),
)


class JsonFault(NamedTuple):
    """An error in a JSON text and its location; line and column count from 1."""

    what: str
    line: int
    column: int


def parse_json(data: bytes | str) -> Any:
    """Parse one JSON value; reject NaN, infinities, lone surrogates and deep nesting.

    Raises:
        ValueError: it is not JSON; `json_fault` returns the location.

    >>> parse_json(b'{"a": [1, 2.5]}')
    {'a': [1, 2.5]}
    """
    return from_json(data, allow_inf_nan=False)


def repeated_key(data: bytes | str) -> str | None:
    """Return a key that occurs twice in one object of a JSON text; `None` without one.

    Parsers keep the last value in silence.

    >>> repeated_key('{"a": {"b": 1}, "b": 2}') is None, repeated_key('{"a": 1, "a": 2}')
    (True, 'a')
    """
    text = data.decode("utf-8", "replace") if isinstance(data, bytes) else data
    # The strings of the text in order; those before a colon are the keys.
    keys = [key for key, colon in _STRINGS.findall(text) if colon]
    if len(set(keys)) == len(keys) and not any("\\" in key for key in keys):
        return None
    try:
        json.loads(text, object_pairs_hook=_unique)
    except _RepeatedKey as exc:
        return str(exc)
    except (ValueError, RecursionError):
        return None
    return None


_STRINGS = re.compile(r'"([^"\\]*+(?:\\.[^"\\]*+)*+)"(\s*+:)?', re.DOTALL)


class _RepeatedKey(Exception):
    """An object has a key twice."""


def _unique(pairs: list[tuple[str, Any]]) -> None:
    names = [name for name, _ in pairs]
    if len(set(names)) < len(names):
        raise _RepeatedKey(next(name for name in names if names.count(name) > 1))


def to_json_or_text(value: Any) -> Any:
    """Return the parsed JSON of a text, or the value itself if it is not JSON text."""
    if not isinstance(value, str):
        return value
    try:
        return parse_json(value)
    except ValueError:
        return value


def json_fault(exc: ValueError, data: bytes) -> JsonFault:
    """Return the fault behind a ValueError of `parse_json`."""
    match = re.match(_PLACE, str(exc), re.DOTALL)
    if not match:
        return JsonFault(quoted(exc, limit=120), 1, 1)
    what, line, column = match["what"], int(match["line"]), int(match["column"])
    start = 0
    for _ in range(line - 1):
        start = data.find(b"\n", start) + 1
    rest = data[start + max(column - 1, 0) :][:10]
    if rest.startswith((b"NaN", b"Inf", b"-Inf")):
        words = "NaN or an infinity, which JSON lacks (write null)"
    elif b"\x00" in rest[:1]:
        words = "a NUL byte"
    else:
        words = next((text for sign, text in _WORDS if sign in what), what)
    # The parser counts bytes; editors count characters.
    before = data[start : start + column].decode("utf-8", "replace")
    return JsonFault(words, line, max(len(before), 1))


class NotJson(ValueError):
    """A Python value that JSON cannot represent; `path` is its location."""

    def __init__(self, message: str, *, path: str) -> None:
        super().__init__(message)
        self.path = path


def to_json(value: Any, *, path: str = "", depth: int = 0) -> Any:
    """Convert a Python value to plain JSON; dates, decimals and bytes become texts or numbers.

    Raises:
        NotJson: it contains NaN, an infinity, a lone surrogate, or an object of another type.

    >>> to_json({"day": date(2025, 1, 31), "pair": (1, 2)})
    {'day': '2025-01-31', 'pair': [1, 2]}
    """
    if depth > MAX_DEPTH:
        raise NotJson(f"nested more than {MAX_DEPTH} levels deep", path=path[:60])

    if isinstance(value, Mapping):
        return {_key(key, path): _item(key, item, path, depth) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_item(index, item, path, depth) for index, item in enumerate(value)]
    return _scalar(value, path)


def _item(key: object, item: Any, path: str, depth: int) -> Any:
    return to_json(item, path=f"{path}.{key}" if path else str(key), depth=depth + 1)


def _key(key: object, path: str) -> str:
    if not isinstance(key, str):
        raise NotJson(f"the key {quoted(key)} is {kind(key)}, not text", path=path)
    return str(_text(key, path))


def _text(text: str, path: str) -> str:
    if not text.isascii():
        try:
            text.encode("utf-8")
        except UnicodeEncodeError as exc:
            raise NotJson("half of a surrogate pair in the text", path=path) from exc
    return text


def _scalar(value: Any, path: str) -> Any:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str(_text(value, path))
    if isinstance(value, int):
        if value.bit_length() > _MAX_INTEGER_BITS:
            raise NotJson("a number of more than 4,000 digits", path=path)
        return int(value)
    if isinstance(value, float | Decimal):
        number = float(value)
        if not math.isfinite(number):
            raise NotJson(f"{number} is not a JSON number, use None", path=path)
        return number
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, bytes):
        try:
            return value.decode("utf-8")
        except UnicodeDecodeError as exc:
            raise NotJson("bytes that are not UTF-8 text", path=path) from exc
    if type(value).__module__ == "numpy":
        return to_json(value.tolist(), path=path)
    raise NotJson(f"{kind(value)} is not a JSON value", path=path)
