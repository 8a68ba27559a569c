"""The text of a message as a judge sees it."""

from __future__ import annotations

from typing import Any

from judgekit.core.canonical import canonical_json
from judgekit.core.case import Message


def shown_text(message: Message) -> str:
    """Return a message as a judge sees it: its content, and a line for each tool call."""
    calls = [f"[calls {call.name}({_arguments(call.arguments)})]" for call in message.tool_calls]
    return "\n".join(filter(None, [message.content, *calls]))


def _arguments(value: Any) -> str:
    return "" if value is None else canonical_json(value)
