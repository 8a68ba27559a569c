"""Divide the messages of a row among the fields of a case, in the order of the source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from judgekit.core.canonical import canonical_json
from judgekit.core.case import Message
from judgekit.datasets.case_fields import CaseFields
from judgekit.datasets.field_names import THOUGHTS
from judgekit.datasets.messages.reader import Conversation, SourceTurn

CONVERSATION = ("system", "history", "input", "steps", "output")
"""The fields that hold a conversation."""
MESSAGE_FIELDS = "message_fields"
"""Key of `metadata` with what messages hold beside their text and calls: place -> key -> value."""
TOOL_CALLS = "tool_calls"
"""Key of `metadata` with the calls of the last message."""


def put_conversation(conversation: Conversation, fields: CaseFields, *, source: str) -> None:
    """Add the fields of a case.

    - System messages at the start, joined with a blank line, are `system`.
    - The last user message is `input`; what came before it is `history`.
    - The last message, if an assistant wrote it, is `output`.
    - What stands between them is `steps`: what the assistant did to answer.

    Without a user message, all but the output is `history`. The calls of the last message are
    `metadata.tool_calls`; if it has no text, `output` is their names and arguments as canonical
    JSON. Thoughts are `metadata.thoughts`. A field with a part that cannot be read is named in
    `unread`, and `history.N` is its message N, from 0.

    Args:
        conversation: the turns, and what is not in them.
        fields: the fields to add to.
        source: the key of the row, for errors.
    """
    turns = list(conversation.turns)
    fields.messages = [turn.message() for turn in turns]
    start = next((at for at, turn in enumerate(turns) if turn.role != "system"), len(turns))
    system, turns = turns[:start], turns[start:]
    output = turns.pop() if turns and turns[-1].role == "assistant" else None
    asked = max((at for at, turn in enumerate(turns) if turn.role == "user"), default=None)
    question = None if asked is None else turns[asked]
    history = turns if asked is None else turns[:asked]
    steps = [] if asked is None else turns[asked + 1 :]
    prompts = [turn.content for turn in system if turn.content]
    if prompts:
        fields.put("system", "\n\n".join(prompts), source=source)
    _put_turns("history", history, fields, source)
    if question is not None:
        fields.put("input", question.content, source=source)
    _put_turns("steps", steps, fields, source)
    if output is not None:
        _put_output(output.message(), fields, source)
    whose: dict[str, Sequence[SourceTurn | None]] = {
        "system": system,
        "history": history,
        "input": [question],
        "steps": steps,
        "output": [output],
    }
    _put_unread(conversation, whose, fields)
    if conversation.thoughts:
        fields.put_inside("metadata", THOUGHTS, list(conversation.thoughts), source=source)
    if conversation.kept:
        fields.put_inside("metadata", MESSAGE_FIELDS, conversation.kept, source=source)


def _put_unread(
    conversation: Conversation, whose: Mapping[str, Sequence[SourceTurn | None]], fields: CaseFields
) -> None:
    known = all(turn is not None for turn, _ in conversation.unread)
    for turn, problem in conversation.unread:
        for field, holders in whose.items():
            at = next((n for n, holder in enumerate(holders) if holder is turn), None)
            if turn is None or at is not None:
                fields.put_unread(field, problem)
            # A metric that sees only the last messages does not need the others.
            if known and at is not None and field == "history":
                fields.put_unread(f"history.{at}", problem)


def _put_turns(field: str, turns: Sequence[SourceTurn], fields: CaseFields, source: str) -> None:
    if turns:
        messages: list[Any] = [turn.message().model_dump(exclude_defaults=True) for turn in turns]
        fields.put(field, messages, source=source)


def _put_output(message: Message, fields: CaseFields, source: str) -> None:
    text = message.content
    if message.tool_calls:
        calls = [call.model_dump(exclude_none=True) for call in message.tool_calls]
        fields.put_inside("metadata", TOOL_CALLS, calls, source=source)
        if not text.strip():
            bare = [{"name": call.name, "arguments": call.arguments} for call in message.tool_calls]
            text = canonical_json(bare)
    fields.put("output", text, source=source)
