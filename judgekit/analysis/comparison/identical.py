"""Detect runs with the same answers and the same replies: they cannot be compared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from judgekit.analysis.comparison.changes import changes_between
from judgekit.analysis.comparison.differences import EPSILON
from judgekit.analysis.comparison.pairs import ComparedResult

_JUDGING = ("metrics", "judge", "judges", "roles")
"""Parts of a manifest that determine scores."""


def same_judging(base: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    """Return whether two manifests describe the same metrics and the same judges."""
    judging = [
        {name: manifest[name] for name in _JUDGING if name in manifest} for manifest in (base, new)
    ]
    return not changes_between(*judging)


def same_result(base: ComparedResult | None, new: ComparedResult | None) -> bool:
    """Return whether two results have the same requests, values and reasons."""
    if base is None or new is None:
        return base is new
    if (base.state, base.reason, base.keys) != (new.state, new.reason, new.keys):
        return False
    if base.parts.keys() != new.parts.keys() or not _same_value(base.value, new.value):
        return False
    parts = ((part, new.parts[id]) for id, part in base.parts.items())
    return all(a.reason == b.reason and _same_value(a.value, b.value) for a, b in parts)


def _same_value(base: float | None, new: float | None) -> bool:
    if base is None or new is None:
        return base is new
    return abs(base - new) < EPSILON
