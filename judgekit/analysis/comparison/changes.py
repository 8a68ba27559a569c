"""What is not the same about the making of two runs, as far as their manifests say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from judgekit.analysis.comparison.comparison import Change

MAX_DEPTH = 12
_LEFT_OUT = {
    "calibration", "gate", "gates", "gates_not_checked", "notice", "card", "rubrics", "thresholds",
}  # fmt: skip
"""Keys that decide no number, or are shown elsewhere."""
MOST = 40
"""Most changes that are listed."""


def changes_between(base: Mapping[str, Any], new: Mapping[str, Any]) -> list[Change]:
    """Return what two manifests say differently, by path."""
    before, after = dict(_flat(base)), dict(_flat(new))
    changes = [
        Change(what=path, base=before.get(path, "none"), new=after.get(path, "none"))
        for path in dict.fromkeys((*before, *after))
        if before.get(path) != after.get(path)
    ]
    if len(changes) > MOST:
        rest = len(changes) - MOST
        changes = [
            *changes[:MOST],
            Change(what="and more", base="", new=f"{rest} further settings"),
        ]
    return changes


def _flat(value: Any, path: str = "", depth: int = 0) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict) and depth < MAX_DEPTH:
        for name, inner in value.items():
            if name not in _LEFT_OUT:
                yield from _flat(inner, f"{path}.{name}" if path else str(name), depth + 1)
    elif isinstance(value, list) and depth < MAX_DEPTH and _all_named(value):
        for inner in value:
            yield from _flat(inner, f"{path}.{inner['name']}", depth + 1)
    elif value is not None:
        text = " ".join(str(value).split())
        yield path, text if len(text) <= 200 else text[:199] + "…"


def _all_named(values: list[Any]) -> bool:
    named = (isinstance(v, dict) and isinstance(v.get("name"), str) for v in values)
    return bool(values) and all(named)
