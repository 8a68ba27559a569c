"""What a manifest says of the making of a metric; whatever it holds, it is only data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

MAX_DEPTH = 12


def rubrics_of(manifest: Mapping[str, Any], metric: str) -> set[tuple[str, str]]:
    """Return the rubrics a metric was made with, and their digests."""
    return {
        (str(made["rubric"]), str(made["digest"]))
        for made in _made_with(_entry(manifest, metric), 0)
        if made.get("rubric") and made.get("digest")
    }


def judges_of(manifest: Mapping[str, Any], metric: str) -> set[str]:
    """Return the models a metric asks."""
    made = _made_with(_entry(manifest, metric), 0)
    return {str(one["model"]) for one in made if one.get("model")}


def _entry(manifest: Mapping[str, Any], metric: str) -> Any:
    entries = manifest.get("metrics")
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, dict) and entry.get("name") == metric:
            return entry
    return None


def _made_with(value: Any, depth: int) -> Iterator[dict[str, Any]]:
    if depth > MAX_DEPTH:
        return
    if isinstance(value, dict):
        made = value.get("made_with")
        if isinstance(made, dict):
            yield made
        for name, inner in value.items():
            if name != "made_with":
                yield from _made_with(inner, depth + 1)
    elif isinstance(value, list):
        for inner in value:
            yield from _made_with(inner, depth + 1)
