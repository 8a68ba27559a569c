"""Rows that hold a chat: `{"messages": [...]}`."""

from __future__ import annotations

from typing import Any

from judgekit.core.canonical import canonical_json
from judgekit.core.case import Message
from judgekit.datasets.case_fields import CaseFields
from judgekit.datasets.field_names import MESSAGES
from judgekit.datasets.formatting import kind
from judgekit.datasets.json_text import json_fault, parse_json
from judgekit.datasets.message_reader import MessageReader
from judgekit.datasets.row_builder import RowFault

CHAT_EXTRAS = frozenset({"tools", "tool_choice", "functions", "parallel_tool_calls", "model"})
"""Keys that chats often carry beside their messages; kept in `metadata`."""


def put_chat(messages: Any, fields: CaseFields) -> None:
    """Add the fields of a case that a list of messages holds.

    - System (and developer) messages, joined with a blank line, are `system`.
    - The last message, if an assistant wrote it, is `output`.
    - The last user message is `input`.
    - Everything else is `history`, in order; so are tool calls and results after the input.

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
