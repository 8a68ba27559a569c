"""Whether two runs are one set of recorded answers: then there is nothing to compare."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from judgekit.analysis.comparison.changes import changes_between
from judgekit.analysis.comparison.differences import EPSILON
from judgekit.analysis.comparison.pairs import Said, Seen

_JUDGING = ("metrics", "judge", "judges", "roles")
"""The parts of a manifest that decide scores."""


def same_judging(base: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    """Return whether two manifests describe the same metrics and the same judges."""
    described = [
        {name: manifest[name] for name in _JUDGING if name in manifest} for manifest in (base, new)
    ]
    return not changes_between(*described)


def same_result(base: Seen | None, new: Seen | None) -> bool:
    """Return whether two results rest on the same requests and say the same."""
    if base is None or new is None:
        return base is new
    if (base.state, base.reason, base.keys) != (new.state, new.reason, new.keys):
        return False
    if base.parts.keys() != new.parts.keys():
        return False
    return _same_value(base.value, new.value) and all(
        _same_part(part, new.parts[id]) for id, part in base.parts.items()
    )


def _same_part(base: Said, new: Said) -> bool:
    return base.reason == new.reason and _same_value(base.value, new.value)


def _same_value(base: float | None, new: float | None) -> bool:
    if base is None or new is None:
        return base is new
    return abs(base - new) < EPSILON
