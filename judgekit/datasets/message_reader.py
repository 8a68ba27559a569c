"""Messages of a chat in the OpenAI shape or a similar one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal

from judgekit.core.case import Message, ToolCall
from judgekit.datasets.formatting import kind, quoted
from judgekit.datasets.json_text import to_json_or_text
from judgekit.datasets.row_builder import RowFault

ROLES: Mapping[str, Literal["system", "user", "assistant", "tool"]] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
    "function": "tool",
}
"""Roles in chats and the role of a `Message` for each."""

_PLACEHOLDERS = {
    "image_url": "[image]",
    "input_image": "[image]",
    "input_audio": "[audio]",
    "input_file": "[file]",
}

_TEXT_KEYS = {"text": "text", "input_text": "text", "output_text": "text", "refusal": "refusal"}

_PART_TYPE = re.compile(r"[a-z][a-z_-]{0,39}")


def role_problem(role: Any) -> str | None:
    """Return why a value is not a role; `None` for one."""
    if isinstance(role, str) and role in ROLES:
        return None
    shown = quoted(role) if isinstance(role, str) else kind(role)
    return f"expected one of {', '.join(ROLES)}, found {shown}"


class MessageReader:
    """Reads the messages of one row in order, naming tool results after the tool called."""

    def __init__(self) -> None:
        self._called: dict[str, str] = {}

    def read(self, item: Any, *, field: str) -> Message:
        """Return one message; `field` names it in errors.

        Raises:
            RowFault: it is not a message, or has an unknown shape.
        """
        _check(item, dict, "a message", field)
        role = item.get("role")
        if problem := role_problem(role):
            raise _fault(problem, f"{field}.role")
        content = self._content(item.get("content"), f"{field}.content")
        if not content and isinstance(item.get("refusal"), str):
            content = item["refusal"]
        calls = self._calls(item, field)
        self._called.update({call.id: call.name for call in calls if call.id})
        return Message(
            role=ROLES[role],
            content=content,
            name=self._name(item, field),
            tool_calls=calls,
        )

    def _name(self, item: Mapping[str, Any], field: str) -> str | None:
        name: str | None = item.get("name")
        if name is not None:
            _check(name, str, "text", f"{field}.name")
        called = item.get("tool_call_id")
        if name is None and isinstance(called, str):
            return self._called.get(called, called)
        return name

    def _content(self, content: Any, field: str) -> str:
        if content is None:
            return ""
        if isinstance(content, str):
            return content
        _check(content, list, "text or a list of parts", field)
        parts = [self._part(part, f"{field}.{index}") for index, part in enumerate(content)]
        return "\n".join(parts)

    def _part(self, part: Any, field: str) -> str:
        if isinstance(part, str):
            return part
        _check(part, dict, "a part with a type", field)
        sort = part.get("type")
        if not isinstance(sort, str) or not _PART_TYPE.fullmatch(sort):
            raise _fault("expected a type such as 'text' or 'image_url'", f"{field}.type")
        if sort not in _TEXT_KEYS:
            return _PLACEHOLDERS.get(sort, f"[{sort}]")
        text: str = part.get(_TEXT_KEYS[sort])
        _check(text, str, "text", f"{field}.{_TEXT_KEYS[sort]}")
        return text

    def _calls(self, item: Mapping[str, Any], field: str) -> tuple[ToolCall, ...]:
        calls = item.get("tool_calls")
        if calls is None:
            calls = [item["function_call"]] if item.get("function_call") else []
        _check(calls, list, "a list", f"{field}.tool_calls")
        return tuple(
            self._call(call, f"{field}.tool_calls.{index}") for index, call in enumerate(calls)
        )

    def _call(self, call: Any, field: str) -> ToolCall:
        _check(call, dict, "a tool call", field)
        body = call.get("function") or call.get("custom") or call
        name = body.get("name") if isinstance(body, dict) else None
        if not isinstance(name, str):
            raise _fault("a tool call without the name of a function", field)
        call_id = call.get("id")
        return ToolCall(
            name=name,
            arguments=to_json_or_text(body.get("arguments", body.get("input"))),
            id=None if call_id is None else str(call_id),
        )


def _check(value: Any, expected: type, what: str, field: str) -> None:
    if not isinstance(value, expected):
        raise _fault(f"expected {what}, found {kind(value)}", field)


def _fault(message: str, field: str) -> RowFault:
    return RowFault(f"{message}; write messages as {{'role': 'user', 'content': 'text'}}", field)
