"""Content of a case that earlier versions showed to judges in another way, or not at all.

A row with such content may have a recording under another request. The sentence of a miss names the
rule, so that nobody looks for the difference in the rubric.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from judgekit.core.case import Case, has_text

_Fields = Mapping[str, Any]
RULES: tuple[tuple[str, str, Callable[[_Fields], Any]], ...] = (
    ("steps", "shown after the input", lambda fields: fields["steps"]),
    (
        "tool calls",
        "read from parts of messages",
        lambda fields: (
            fields["metadata"].get("tool_calls")
            or any(message.tool_calls or message.role == "tool" for message in fields["history"])
        ),
    ),
    ("thoughts", "no part of a text", lambda fields: fields["metadata"].get("thoughts")),
    (
        "documents",
        "shown as their texts",
        lambda fields: any(
            fields["metadata"].get(f"{name}_fields") for name in ("context", "reference")
        ),
    ),
    (
        "an empty answer",
        "judged",
        lambda fields: any(
            fields[name] is not None and not has_text(fields[name])
            for name in ("output", "baseline")
        ),
    ),
)
"""Content, what happens to it, and whether the fields of a case hold it."""


def moved_by(case: Case) -> str:
    """Return which content of a case earlier versions treated otherwise; empty if it holds none.

    >>> moved_by(Case(id="a", output="", metadata={"thoughts": ["hm"]}))
    'the row has thoughts (no part of a text), an empty answer (judged): not so in earlier versions'
    """
    found = [f"{name} ({how})" for name, how, holds in RULES if holds(case.__dict__)]
    return f"the row has {', '.join(found)}: not so in earlier versions" if found else ""
