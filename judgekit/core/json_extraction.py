"""Extract one JSON object from a judge's text without guessing.

The returned repairs name every correction; ambiguous text is an error, because a guessed verdict
is worse than none.
"""

import json
import math
import re
from collections import Counter
from typing import Any

from judgekit.core.errors import InvalidReply
from judgekit.core.reply_schema import MAX_REPLY_CHARACTERS

_MAX_OBJECTS = 64

# Few replies need a repair, so the patterns are compiled on first use.
_FENCE = r"```[a-zA-Z0-9]*[ \t]*\r?\n(.*?)```"
_TAGS = "think|thinking|reasoning"
# Some servers send the closing tag of a thinking block without the opening one.
_THINKING = rf"\A(?:<({_TAGS})>.*?</\1>|[^{{]*?</(?:{_TAGS})>)"
_THOUGHT = f"</?(?:{_TAGS})>"


class _Unusable(ValueError):
    """The text is JSON, but ambiguous or invalid for a verdict."""


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        twice = Counter(name for name, _ in pairs).most_common(1)[0][0]
        raise _Unusable(f"the key {twice[:60]!r} is given twice")
    return value


def _constant(name: str) -> Any:
    raise _Unusable(f"{name} is not a JSON number")


def _float(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise _Unusable(f"{text[:20]} is too large for a number")
    return value


_HOOKS: Any = {"object_pairs_hook": _pairs, "parse_constant": _constant, "parse_float": _float}
_strict = json.JSONDecoder(**_HOOKS)
_lenient = json.JSONDecoder(**_HOOKS, strict=False)


def strict_object(text: str) -> dict[str, Any]:
    """Parse a text that is exactly one JSON object, without any repair.

    Raises:
        InvalidReply: the text is not JSON, not an object, too long, or repeats a key.
    """
    _check_length(text)
    try:
        return _object(_strict.decode(text))
    except _Unusable as exc:
        raise InvalidReply(str(exc)) from exc
    except (ValueError, RecursionError) as exc:
        raise InvalidReply("the reply is not JSON") from exc


def _check_length(text: str) -> None:
    if len(text) > MAX_REPLY_CHARACTERS:
        raise InvalidReply(f"the reply has {len(text):,} characters, too many to be a verdict")


def extract_object(text: str) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the JSON object in a judge's text, and the names of the repairs.

    Repairs are `thinking` (a leading thinking block was removed), `fence` (the object was in a
    Markdown fence), `prose` (it was surrounded by text), `control_characters` (its strings
    contained raw control characters), `trailing_comma` (a comma preceded a closing bracket),
    `half_characters` (a string contained half of a surrogate pair, which UTF-8 cannot encode; it
    was replaced by U+FFFD).

    Raises:
        InvalidReply: no object, two objects, a repeated key, NaN, more than 2,000,000 characters,
            or (kind `only_thought`) thinking and nothing after it.
    """
    _check_length(text)
    try:
        value = _object(_strict.decode(text))
        repairs: tuple[str, ...] = ()
    except _Unusable as exc:
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
    if thinking := re.match(_THINKING, stripped, re.DOTALL | re.IGNORECASE):
        stripped = stripped[thinking.end() :].strip()
        if not stripped:
            raise InvalidReply("the judge thought and gave no answer", kind="only_thought")
        repairs.append("thinking")
    blocks = re.findall(_FENCE, stripped, re.DOTALL)
    if len(blocks) == 1 and blocks[0].lstrip().startswith("{"):
        stripped = blocks[0].strip()
        repairs.append("fence")
    if stripped.startswith("[") and stripped.endswith("]"):
        raise InvalidReply("the reply is a JSON array, or meant to be, not an object")
    try:
        candidates, loose, around = _objects(stripped)
    except _Unusable as exc:
        raise InvalidReply(str(exc)) from exc
    if not candidates:
        raise InvalidReply("the reply holds no JSON object")
    if len(candidates) > 1:
        raise InvalidReply(f"the reply holds {len(candidates)} JSON objects; which one counts?")
    if re.search(_THOUGHT, around, re.IGNORECASE):
        # A thought may quote `</think>` and continue after it; an object in it is not a verdict.
        raise InvalidReply("the reply holds an object among its thoughts; is it the verdict?")
    if around.strip():
        repairs.append("prose")
    return candidates[0], (*repairs, *loose)


def _objects(text: str) -> tuple[list[dict[str, Any]], tuple[str, ...], str]:
    """Return the top-level objects, the repairs inside them, and the text around them."""
    objects: list[dict[str, Any]] = []
    repairs: tuple[str, ...] = ()
    end = 0
    around = []
    starts = 0
    at = text.find("{")
    while at != -1:
        starts += 1 if "trailing_comma" not in repairs else _MAX_OBJECTS // 4
        if starts > _MAX_OBJECTS:
            raise _Unusable("the reply is full of braces; which of them are the verdict?")
        value, stop, loose = _decode_at(text, at)
        if value is None:
            at = text.find("{", at + 1)
            continue
        before = text[end:at]
        if before.count("{") > before.count("}"):
            raise _Unusable("the reply holds an object inside something that is not JSON")
        around.append(before)
        objects.append(value)
        repairs = loose
        end = stop
        at = text.find("{", stop)
    return objects, repairs, " ".join((*around, text[end:]))


def _decode_at(text: str, at: int) -> tuple[dict[str, Any] | None, int, tuple[str, ...]]:
    """Return the object that begins at an index, the index of its end, and the repairs."""
    stopped: list[int] = []
    if (decoded := _decoded(text, at, stopped)) is not None:
        return decoded
    commas = any(_before_bracket(text, place) for place in stopped)
    return _without_commas(text, at) if commas else (None, at, ())


def _decoded(
    text: str, at: int, stopped: list[int]
) -> tuple[dict[str, Any], int, tuple[str, ...]] | None:
    """Return an object, its end and the repair, or append the failing index to a list."""
    for decoder, repair in ((_strict, ()), (_lenient, ("control_characters",))):
        try:
            value, end = decoder.raw_decode(text, at)
        except _Unusable:
            raise
        except json.JSONDecodeError as exc:
            stopped.append(exc.pos)
        except (ValueError, RecursionError):
            continue
        else:
            return value, end, repair
    return None


_CLOSED_AFTER_COMMA = re.compile(r",\s*[}\]]")


def _before_bracket(text: str, at: int) -> bool:
    """Return whether parsing stopped at a comma before a closing bracket."""
    if text[at : at + 1] == ",":
        return _CLOSED_AFTER_COMMA.match(text, at) is not None
    return text[at : at + 1] in ("}", "]") and text[:at].rstrip().endswith(",")


# Strings are matched whole, so commas inside them are kept. An unterminated string is matched too;
# otherwise the pattern would try every quotation mark inside it.
_COMMAS = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)|,(?=\s*[}\]])', re.DOTALL)


def _without_commas(text: str, at: int) -> tuple[dict[str, Any] | None, int, tuple[str, ...]]:
    removed: list[int] = []

    def keep(match: re.Match[str]) -> str:
        if match.group() != ",":
            return match.group()
        removed.append(match.start())
        return ""

    mended = _COMMAS.sub(keep, text[at:])
    if (decoded := _decoded(mended, 0, [])) is None:
        return None, at, ()
    value, end, repair = decoded
    inside = sum(place - number < end for number, place in enumerate(removed))
    return value, at + end + inside, (*repair, "trailing_comma")
