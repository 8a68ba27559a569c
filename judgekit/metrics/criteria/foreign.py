"""Criteria in the form of other tools: what is read as it is, and what must be written otherwise.

A field that would change the verdict is never left out without a word.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any

_ANOTHER_SCALE = "score: {min: ..., max: ...}"
_WORDS = "levels: {word: value from 0 to 1}"
_NEGATED = "negate: true, or negative points"
_CHANGING: Mapping[str, tuple[str, str]] = {
    "scale": (_ANOTHER_SCALE, "habit: bounds of a number"),
    "range": (_ANOTHER_SCALE, "habit: bounds of a number"),
    "score_range": (_ANOTHER_SCALE, "habit: bounds of a number"),
    "min_score": (_ANOTHER_SCALE, "habit: bounds of a number"),
    "max_score": (_ANOTHER_SCALE, "habit: bounds of a number"),
    "max_points": ("points, or a score with its bounds", "habit: points of a task"),
    "scoring": (_WORDS, "habit: what each number of points means"),
    "score_descriptions": (_WORDS, "Prometheus: rubric with score1_description"),
    "rating_scale": (_WORDS, "habit: what each rating means"),
    "options": ("choice: {word: value from 0 to 1}", "habit: the answers to choose from"),
    "is_negative": (_NEGATED, "habit: a property that is not wanted"),
    "is_penalty": (_NEGATED, "habit: a property that is not wanted"),
    "penalty": (_NEGATED, "habit: a property that is not wanted"),
    "reverse": (_NEGATED, "judgekit: a criterion of a rubric"),
    "reversed": (_NEGATED, "habit: a property that is not wanted"),
    "inverse": (_NEGATED, "habit: a property that is not wanted"),
    "inverted": (_NEGATED, "habit: a property that is not wanted"),
}
"""Field that would change the verdict -> what to write instead, and where it is from."""
_CHANGING_WORDS: Mapping[tuple[str, str], str] = {
    **{("type", word): _NEGATED for word in ("negative", "penalty", "pitfall")},
    **{("polarity", word): _NEGATED for word in ("negative", "-")},
    **{("sign", word): _NEGATED for word in ("negative", "-")},
    **{("type", word): _ANOTHER_SCALE for word in ("scale", "rating", "number", "range")},
    **{("type", word): _WORDS for word in ("ordinal", "categorical", "multiple_choice", "enum")},
}
"""Field and its word -> what to write instead."""
_NEUTRAL: tuple[Any, ...] = (None, False, 0, "", [], {})


def changing_field(entry: Mapping[str, Any], texts: Collection[str], read: Collection[str]) -> str:
    """Return what is wrong with an item that has a field of another tool; empty if nothing is.

    Args:
        entry: the item.
        texts: names of the text of a criterion.
        read: names of all fields that are read.
    """
    for name, value in entry.items():
        if name in read and name not in ("min", "max"):
            continue
        if name in _CHANGING and value not in _NEUTRAL:
            return f"{name} would change the verdict; write {_CHANGING[name][0]}"
        word = value.casefold() if isinstance(value, str) else None
        if word is not None and (advice := _CHANGING_WORDS.get((name, word))) is not None:
            return f"{name}: {value} would change the verdict; write {advice}"
        if _is_list_of_criteria(value, texts):
            return f"has criteria under {name!r}; write them under 'of'"
    return ""


def missing_field(entry: Mapping[str, Any], wanted: str, read: Collection[str]) -> str:
    """Return the end of a message about an item without a text or points: where they may be."""
    kind: Any = str if wanted == "criterion" else int | float
    known = ("type", *read)
    close = [
        str(name)
        for name, value in entry.items()
        if name not in known and isinstance(value, kind) and not isinstance(value, bool)
    ]
    if not close:
        return f"; add {wanted}" + (": 1" if wanted == "points" else "")
    return f"; is it {' or '.join(map(repr, close[:3]))}? Rename it to {wanted}"


def listed_criteria(value: Any, texts: Collection[str], root: Collection[str]) -> Any:
    """Return the list of items in other forms; another value as it is.

    They are JSON in a text, as in a cell of a table, and a mapping of ids. The root of a tree stays
    as it is.

    Args:
        value: the criteria of a case.
        texts: names of the text of a criterion.
        root: names of the criteria below a node.

    Raises:
        ValueError: the criteria are elsewhere in it; the message says where.
    """
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            raise ValueError("is a text that is no JSON; write a list, or JSON in a cell") from None
    if not isinstance(value, Mapping) or any(isinstance(value.get(n), list) for n in root):
        return value
    items = list(value.items())
    if items and all(_is_criterion(item, texts) for _, item in items):
        return [{"id": str(name), **item} for name, item in items]
    for name, inside in items:
        if _is_list_of_criteria(inside, texts):
            raise ValueError(f"has its list under {name!r}; map that with fields in the suite")
    return value


def _is_criterion(value: Any, texts: Collection[str]) -> bool:
    return isinstance(value, Mapping) and any(isinstance(value.get(name), str) for name in texts)


def _is_list_of_criteria(value: Any, texts: Collection[str]) -> bool:
    return isinstance(value, list) and any(_is_criterion(one, texts) for one in value)
