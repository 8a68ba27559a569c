"""The display of a case: its texts, shortened."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from judgekit.core.canonical import canonical_json
from judgekit.core.display.parts import (
    MOST_NAME,
    DisplayLine,
    DisplayPart,
    DisplayTable,
    cut,
    more,
    multiline,
)

if TYPE_CHECKING:
    from judgekit.core.case import Case

MOST_TEXT = 600
MOST_TEXTS = 5
"""Passages, references or messages that are shown."""


def case_parts(case: Case) -> Iterator[DisplayPart]:
    """Yield the parts of a case."""
    yield DisplayLine(f"case {cut(case.id, MOST_NAME)}", "title")
    rows = [(name, text) for name, text in _fields(case) if text]
    if rows:
        yield DisplayTable(("field", ""), rows)
    else:
        yield DisplayLine("nothing but its id", "note")


def _fields(case: Case) -> Iterator[tuple[str, str]]:
    yield "system", multiline(case.system or "", MOST_TEXT)
    yield "history", _listed([f"{m.role}: {cut(_message(m))}" for m in case.history[-MOST_TEXTS:]],
                             len(case.history), "earlier message", first=False)  # fmt: skip
    yield "input", multiline(case.input or "", MOST_TEXT)
    yield "output", multiline(case.output or "", MOST_TEXT)
    yield "baseline", multiline(case.baseline or "", MOST_TEXT)
    for name in ("reference", "context", "choices"):
        texts = getattr(case, name)
        shown = [multiline(text, MOST_TEXT // 2) for text in texts[:MOST_TEXTS]]
        yield name, _listed(shown, len(texts), "text")
    yield "parent", cut(case.parent or "", MOST_NAME)
    for name in ("expected", "labels", "metadata"):
        yield name, _object(getattr(case, name))


def _message(message: Any) -> str:
    calls = ", ".join(f"calls {call.name}" for call in message.tool_calls)
    return " ".join(part for part in (message.content, calls) if part)


def _listed(shown: list[str], count: int, what: str, *, first: bool = True) -> str:
    left = more(count - len(shown), what, "")
    lines = [*shown, left] if first else [left, *shown]
    return "\n".join(line for line in lines if line)


def _object(values: dict[str, Any]) -> str:
    shown = [
        f"{cut(name, MOST_NAME)}: {cut(v if isinstance(v, str) else _json(v), 120)}"
        for name, v in list(values.items())[:MOST_TEXTS * 2]
    ]  # fmt: skip
    return _listed(shown, len(values), "field")


def _json(value: Any) -> str:
    try:
        return canonical_json(value)
    except (TypeError, ValueError, RecursionError):
        return type(value).__name__
