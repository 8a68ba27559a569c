"""Parameters a model does not take, told by what it says about them and never by its name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_BOUND = re.compile(
    r"[<>]|\b(less|greater|larger|smaller|lower|higher|between|range|at (most|least)|"
    r"maximum|minimum|exceeds?|too|positive|negative|must be an?)\b",
    re.IGNORECASE,
)
"""Words of a complaint about the value: that is the author's to mend."""
_OTHER_NAME = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}
"""The one limit that providers call by two names; it is passed on under the name they ask for."""


def refused_parameters(error: str, sent: Mapping[str, Any]) -> dict[str, str | None]:
    """Return the parameters an error says are not taken, and the name to use instead, if any.

    Empty where the error names none of those sent, or complains of a value and not of the
    parameter.
    """
    found = {name: at for name in sent if (at := _place(error, name)) >= 0}
    refused: dict[str, str | None] = {}
    for name in sorted(found, key=lambda name: found[name]):
        other = _OTHER_NAME.get(name)
        if other is not None and other in refused:
            continue  # named as the one to use instead
        advised = other is not None and other not in sent and _place(error, other) >= 0
        refused[name] = other if advised else None
    if _BOUND.search(error) and not any(refused.values()):
        return {}
    return refused


def _place(error: str, name: str) -> int:
    """Return where an error names a parameter, or -1; a common word only counts in quotes."""
    word = re.escape(name)
    plain = rf"(?<![\w.-]){word}(?![\w-])"
    quoted = rf"[`'\"\[]{word}[`'\"\]]|\bparam(?:eter)?s?:? {word}\b"
    match = re.search(plain if "_" in name or len(name) >= 8 else quoted, error)
    return match.start() if match else -1
