"""One JSON object out of whatever text a judge gave, or a clear refusal to guess.

Every liberty taken is named in the returned repairs; text that could be read in two ways is
an error, because a guessed verdict is worse than none.
"""

from __future__ import annotations

import json
import re
from typing import Any

from judgekit.errors import InvalidReply

MAX_REPLY_CHARACTERS = 2_000_000
_MAX_OBJECTS = 64

_FENCE = re.compile(r"```[a-zA-Z0-9]*[ \t]*\r?\n(.*?)```", re.DOTALL)
_THINKING = re.compile(r"\A\s*<(think|thinking|reasoning)>.*?</\1>", re.DOTALL | re.IGNORECASE)


class _RepeatedKey(ValueError):
    pass


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise _RepeatedKey(f"the key {twice!r} is given twice")
    return value


def _constant(name: str) -> Any:
    raise _RepeatedKey(f"{name} is not a JSON number")


_strict = json.JSONDecoder(object_pairs_hook=_pairs, parse_constant=_constant)
_lenient = json.JSONDecoder(object_pairs_hook=_pairs, parse_constant=_constant, strict=False)


def extract_object(text: str) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the JSON object in a judge's text, and the repairs it took to find it.

    Repairs are `thinking` (a leading thinking block was left out), `fence` (it stood in a
    Markdown fence), `prose` (there was text around it), `control_characters` (raw control
    characters stood inside its strings), `half_characters` (a string held half of a surrogate
    pair, which no file can hold; U+FFFD stands for it).

    Raises:
        InvalidReply: no object, two objects, a repeated key, NaN, or more than 2,000,000
            characters.
    """
    if len(text) > MAX_REPLY_CHARACTERS:
        raise InvalidReply(f"the reply has {len(text):,} characters, too many to be a verdict")
    try:
        value = _object(_strict.decode(text))
        repairs: tuple[str, ...] = ()
    except _RepeatedKey as exc:
        raise InvalidReply(str(exc)) from exc
    except (ValueError, RecursionError):
        value, repairs = _repair(text)
    return _without_halves(value, repairs) if "\\u" in text else (value, repairs)


def _without_halves(
    value: dict[str, Any], repairs: tuple[str, ...]
) -> tuple[dict[str, Any], tuple[str, ...]]:
    plain = json.dumps(value, ensure_ascii=False)
    whole = plain.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if whole == plain:
        return value, repairs
    return json.loads(whole), (*repairs, "half_characters")


def _object(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InvalidReply(f"the reply is a JSON {_json_word(value)}, not an object")
    return value


def _json_word(value: Any) -> str:
    words = {list: "array", str: "string", bool: "boolean", type(None): "null"}
    return words.get(type(value), "number")


def _repair(text: str) -> tuple[dict[str, Any], tuple[str, ...]]:
    repairs: list[str] = []
    stripped = text.lstrip("﻿").strip()
    if thinking := _THINKING.match(stripped):
        stripped = stripped[thinking.end() :].strip()
        repairs.append("thinking")
    blocks = _FENCE.findall(stripped)
    if len(blocks) == 1 and blocks[0].lstrip().startswith("{"):
        stripped = blocks[0].strip()
        repairs.append("fence")
    try:
        candidates, lenient, around = _objects(stripped)
    except _RepeatedKey as exc:
        raise InvalidReply(str(exc)) from exc
    if not candidates:
        raise InvalidReply("the reply holds no JSON object")
    if len(candidates) > 1:
        raise InvalidReply(f"the reply holds {len(candidates)} JSON objects; which one counts?")
    if around:
        repairs.append("prose")
    if lenient:
        repairs.append("control_characters")
    return candidates[0], tuple(repairs)


def _objects(text: str) -> tuple[list[dict[str, Any]], bool, bool]:
    """Return the top-level objects, whether leniency was needed, and whether text stood around."""
    found: list[dict[str, Any]] = []
    lenient = False
    end = 0
    around = False
    starts = 0
    at = text.find("{")
    while at != -1 and starts < _MAX_OBJECTS:
        starts += 1
        value, stop, loose = _decode_at(text, at)
        if value is None:
            at = text.find("{", at + 1)
            continue
        around = around or bool(text[end:at].strip())
        found.append(value)
        lenient = lenient or loose
        end = stop
        at = text.find("{", stop)
    return found, lenient, around or bool(text[end:].strip())


def _decode_at(text: str, at: int) -> tuple[dict[str, Any] | None, int, bool]:
    for decoder in (_strict, _lenient):
        try:
            value, stop = decoder.raw_decode(text, at)
        except _RepeatedKey:
            raise
        except (ValueError, RecursionError):
            continue
        return value, stop, decoder is _lenient
    return None, at, False
