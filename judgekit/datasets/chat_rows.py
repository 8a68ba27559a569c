"""Rows with a chat, `{"messages": [...]}`, in OpenAI's format or a similar one."""

import re
from collections.abc import Mapping
from typing import Any, Literal

from judgekit.core.canonical import canonical_json
from judgekit.core.case import Message, ToolCall
from judgekit.datasets.case_fields import CaseFields
from judgekit.datasets.field_names import MESSAGES
from judgekit.datasets.formatting import kind, quoted
from judgekit.datasets.json_text import json_fault, parse_json, to_json_or_text
from judgekit.datasets.row_builder import RowFault

ROLES: Mapping[str, Literal["system", "user", "assistant", "tool"]] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
    "function": "tool",
}
"""Role in a chat -> role of a `Message`."""

_PLACEHOLDERS = {
    "image_url": "[image]",
    "input_image": "[image]",
    "input_audio": "[audio]",
    "input_file": "[file]",
}

_TEXT_KEYS = {"text": "text", "input_text": "text", "output_text": "text", "refusal": "refusal"}

_PART_TYPE = re.compile(r"[a-z][a-z_-]{0,39}")


def role_problem(role: Any) -> str | None:
    """Return why a value is not a role; `None` if it is a role."""
    if isinstance(role, str) and role in ROLES:
        return None
    shown = quoted(role) if isinstance(role, str) else kind(role)
    return f"expected one of {', '.join(ROLES)}, found {shown}"


class MessageReader:
    """Reads the messages of one row in order; tool results get the name of the called tool."""

    def __init__(self) -> None:
        self._called: dict[str, str] = {}

    def read(self, item: Any, *, field: str) -> Message:
        """Return one message; `field` names it in errors.

        Raises:
            RowFault: it is not a message, or its format is unknown.
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


CHAT_EXTRAS = frozenset({"tools", "tool_choice", "functions", "parallel_tool_calls", "model"})
"""Other common keys of rows with chats; kept in `metadata`."""


def put_chat(messages: Any, fields: CaseFields) -> None:
    """Add the fields of a case from a list of messages.

    - System (and developer) messages, joined with a blank line, are `system`.
    - The last message, if an assistant wrote it, is `output`.
    - The last user message is `input`.
    - All other messages are `history`, in order, including tool calls and results after the input.

    Parts of a content are joined with line feeds; what is not text is shown as `[image]`,
    `[audio]`, `[file]`. Tool calls of the last message are kept, as in `history`, under
    `metadata.tool_calls`; if it has no text, `output` is their names and arguments as
    canonical JSON.
    """
    turns = _read(messages)
    system = [turn.content for turn in turns if turn.role == "system" and turn.content]
    turns = [turn for turn in turns if turn.role != "system"]
    output = turns.pop() if turns and turns[-1].role == "assistant" else None
    last = max((at for at, turn in enumerate(turns) if turn.role == "user"), default=None)
    question = None if last is None else turns.pop(last)
    if system:
        fields.put("system", "\n\n".join(system), source=MESSAGES)
    if turns:
        history = [turn.model_dump(exclude_defaults=True) for turn in turns]
        fields.put("history", history, source=MESSAGES)
    if question is not None:
        fields.put("input", question.content, source=MESSAGES)
    if output is not None:
        _put_output(output, fields)


def _put_output(message: Message, fields: CaseFields) -> None:
    text = message.content
    if message.tool_calls:
        calls = [call.model_dump(exclude_none=True) for call in message.tool_calls]
        fields.put_inside("metadata", "tool_calls", calls, source=MESSAGES)
        if not text.strip():
            bare = [{"name": call.name, "arguments": call.arguments} for call in message.tool_calls]
            text = canonical_json(bare)
    fields.put("output", text, source=MESSAGES)


def _read(messages: Any) -> list[Message]:
    if isinstance(messages, str):
        try:
            messages = parse_json(messages)
        except ValueError as exc:
            what = json_fault(exc, messages.encode()).what
            problem = f"the text is not JSON ({what}); write a list of messages"
            raise RowFault(problem, MESSAGES) from exc
    if not isinstance(messages, list):
        raise RowFault(
            f"expected a list of messages, found {kind(messages)}; a chat row is"
            ' {"messages": [{"role": "user", "content": "..."}]}',
            MESSAGES,
        )
    if not messages:
        raise RowFault("an empty list; remove the row, or give it messages", MESSAGES)
    reader = MessageReader()
    return [
        reader.read(message, field=f"{MESSAGES}.{index}") for index, message in enumerate(messages)
    ]
