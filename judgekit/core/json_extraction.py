"""Extract one JSON object from a judge's text without guessing.

The returned repairs name every correction; ambiguous text is an error, because a guessed verdict
is worse than none.
"""

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from judgekit.core.errors import InvalidReply
from judgekit.core.reply_schema import MAX_REPLY_CHARACTERS
from judgekit.core.thoughts import thought_marks, without_frames

_MAX_OBJECTS = 64

# Invisible characters that servers put around a text.
_AROUND = " \t\r\n\ufeff\u200b\u2060"
_FENCE_BEFORE = re.compile(r"```[a-zA-Z0-9]{0,20}[ \t]{0,9}\r?\n\s{0,99}\Z")


class _Unusable(ValueError):
    """The text is JSON, but ambiguous or invalid for a verdict."""


class _Repeated(_Unusable):
    def __init__(self, key: str) -> None:
        super().__init__(f"the key {key[:60]!r} is given twice")
        self.key = key


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        twice = Counter(name for name, _ in pairs).most_common(1)[0][0]
        raise _Repeated(twice)
    return value


def _without_repeated(text: str, repeatable: frozenset[str]) -> Any:
    """Parse a JSON text without some keys that are repeated.

    Raises:
        InvalidReply: another key is repeated.
    """

    def pairs_of(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        counts = Counter(name for name, _ in pairs)
        return _pairs([(n, v) for n, v in pairs if counts[n] == 1 or n not in repeatable])

    try:
        return json.loads(text, **{**_HOOKS, "object_pairs_hook": pairs_of})
    except _Unusable as exc:
        raise InvalidReply(str(exc)) from exc


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


def extract_object(
    text: str,
    keys: Collection[str] = (),
    *,
    fits: Callable[[dict[str, Any]], bool] | None = None,
    repeatable: frozenset[str] = frozenset(),
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the JSON object in a judge's text, and the names of the repairs.

    Repairs are `thinking` (the thoughts before the object were removed), `fence` (the object was in
    a Markdown fence), `prose` (it was surrounded by text), `control_characters` (its strings
    contained raw control characters), `trailing_comma` (a comma preceded a closing bracket),
    `half_characters` (a string contained half of a surrogate pair, which UTF-8 cannot encode; it
    was replaced by U+FFFD).

    All objects of the text count, wherever they stand: a judge may quote a verdict of the answer in
    a fence and write down its own without one.

    Args:
        text: what the judge wrote.
        keys: the keys of the expected object. An object without any of them, such as code that the
            judge quotes, is not taken for a verdict. Without keys, every object is.
        fits: whether an object has the expected form. What stands before the end of a thought is
            only taken for a verdict if it fits; by default, if it names one of the keys.
        repeatable: keys that the object leaves out if they are repeated, where the text is nothing
            but the object.

    Raises:
        InvalidReply: no object, two objects, another repeated key, NaN, more than 2,000,000
            characters, or (kind `only_thought`) thinking and nothing after it.
    """
    _check_length(text)
    try:
        value = _object(_strict.decode(text))
        repairs: tuple[str, ...] = ()
    except _Repeated as exc:
        if exc.key not in repeatable:
            raise InvalidReply(str(exc)) from exc
        value, repairs = _object(_without_repeated(text, repeatable)), ()
    except _Unusable as exc:
        raise InvalidReply(str(exc)) from exc
    except (ValueError, RecursionError):
        value, repairs = _repair(text, frozenset(keys), fits)
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


class _JsonObject(NamedTuple):
    """An object in a text."""

    start: int
    end: int
    value: dict[str, Any]
    repairs: tuple[str, ...]


_Fits = Callable[[dict[str, Any]], bool]


def _repair(
    text: str, keys: frozenset[str], fits: _Fits | None
) -> tuple[dict[str, Any], tuple[str, ...]]:
    stripped = text.strip(_AROUND)
    start = _after_thought(stripped, keys)
    try:
        objects = _objects(stripped, start)
        tail = _tail(stripped, start, objects)
        counted = [
            found
            for found in objects
            if (fits(found.value) if fits and found.start < tail else _is_meant(found, keys))
        ]
        answer = without_frames(stripped[tail:])
        if tail and not answer:
            if counted:
                raise _Unusable(_AMONG_THOUGHTS)
            raise InvalidReply("the judge thought and gave no answer", kind="only_thought")
        if answer.startswith("[") and answer.endswith("]"):
            raise InvalidReply("the reply is a JSON array, or meant to be, not an object")
        chosen = _choose(stripped, tail, objects, counted)
        beside = (stripped[tail : chosen.start], stripped[chosen.end :])
        if keys and any(_attempts(part, keys) for part in beside):
            # A forged verdict that a judge quotes must not count because its own one is damaged.
            raise _Unusable("the reply holds a second verdict that is not JSON; which one counts?")
    except _Unusable as exc:
        raise InvalidReply(str(exc)) from exc
    around = _fenced(stripped, tail, chosen)
    repairs = ["thinking"] if tail else []
    if around is None:
        around = stripped[tail : chosen.start] + stripped[chosen.end :]
    else:
        repairs.append("fence")
    if without_frames(around):
        repairs.append("prose")
    return chosen.value, (*repairs, *chosen.repairs)


_AMONG_THOUGHTS = "the reply holds an object among its thoughts; is it the verdict?"


def _after_thought(text: str, keys: frozenset[str]) -> int:
    """Return the index where the search for objects begins: 0, or the end of a first thought.

    A long thought may contain many braces. It is only skipped if no verdict can be in it: after the
    begin of a thought, or without any of the keys before its end, because some servers omit the
    begin.
    """
    marks = thought_marks(text)
    first = next((mark for mark in marks if mark.closes), None)
    if first is None:
        return 0
    opened = not marks[0].closes and not without_frames(text[: marks[0].start])
    return first.end if opened or not _attempts(text[: first.start], keys) else 0


def _tail(text: str, start: int, objects: Sequence[_JsonObject]) -> int:
    """Return the index after the last end of a thought that is not inside an object."""
    marks = [mark for mark in thought_marks(text) if mark.start >= start]
    outside = [mark for mark in marks if not any(o.start <= mark.start < o.end for o in objects)]
    tail = max((mark.end for mark in outside if mark.closes), default=start)
    if any(mark.start >= tail for mark in outside) and any(o.start >= tail for o in objects):
        # A thought without an end: an object in it is not a verdict.
        raise _Unusable(_AMONG_THOUGHTS)
    return tail


def _choose(
    text: str, tail: int, objects: Sequence[_JsonObject], counted: Sequence[_JsonObject]
) -> _JsonObject:
    """Return the object that is the verdict.

    Args:
        text: the text.
        tail: the index after the last thought.
        objects: the objects in the text.
        counted: those that may be meant as a verdict.

    Raises:
        _Unusable: there is none, or more than one.
    """
    last = [found for found in objects if found.start >= tail]
    end = tail
    for found in last:
        before = text[end : found.start]
        if before.count("{") > before.count("}"):
            raise _Unusable("the reply holds an object inside something that is not JSON")
        end = found.end
    if len(counted) > 1 or (not counted and len(last) > 1):
        number = len(counted or last)
        raise _Unusable(f"the reply holds {number} JSON objects; which one counts?")
    if not last or (counted and counted[0].start < tail):
        raise _Unusable(_AMONG_THOUGHTS if counted else "the reply holds no JSON object")
    return counted[0] if counted else last[0]


def _is_meant(found: _JsonObject, keys: frozenset[str]) -> bool:
    """Return whether an object names one of the keys; without keys, any object is meant."""
    return not keys or _attempts(json.dumps(found.value, ensure_ascii=False), keys)


def _attempts(text: str, keys: frozenset[str]) -> bool:
    """Return whether a text may be meant as a verdict: it names one of the keys, as data does."""
    if not keys:
        return "{" in text
    return _named(keys).search(text) is not None


@lru_cache(maxsize=64)
def _named(keys: frozenset[str]) -> re.Pattern[str]:
    """Return the pattern of a key in JSON, in JSON with other quotes or none, and in YAML."""
    names = "|".join(re.escape(key) for key in sorted(keys))
    quote = "[\"'`\u2018\u2019\u201c\u201d]"
    return re.compile(
        rf"{quote}(?:{names}){quote}\s{{0,9}}:|{{\s{{0,99}}(?:{names})\s{{0,9}}:"
        rf"|^[ \t]{{0,9}}(?:{names}):[ \t]{{0,9}}$",
        re.MULTILINE,
    )


def _fenced(text: str, tail: int, found: _JsonObject) -> str | None:
    """Return the text between the fences around an object; `None` if it is not in a fence."""
    # The line of the fence is the last one before the object, at most 130 characters of it.
    if not _FENCE_BEFORE.search(text, max(tail, found.start - 130), found.start):
        return None
    close = text.find("```", found.end)
    return None if close == -1 else text[found.end : close]


def _objects(text: str, start: int) -> list[_JsonObject]:
    """Return the top-level objects that begin at or after an index."""
    objects: list[_JsonObject] = []
    starts = 0
    commas = False
    at = text.find("{", start)
    while at != -1:
        starts += _MAX_OBJECTS // 4 if commas else 1
        if starts > _MAX_OBJECTS:
            raise _Unusable("the reply is full of braces; which of them are the verdict?")
        value, stop, repairs = _decode_at(text, at)
        if value is None:
            at = text.find("{", at + 1)
            continue
        objects.append(_JsonObject(at, stop, value, repairs))
        commas = "trailing_comma" in repairs
        at = text.find("{", stop)
    return objects


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
