"""Output modes: ways to ask a model for a JSON object, and a probe to test them."""

from __future__ import annotations

import re
from typing import Any, Literal

from judgekit.core.errors import InvalidReply, JudgeRefused
from judgekit.core.judgment import parse_try
from judgekit.core.request import ChatMessage, Form, Question, Request, Try
from judgekit.judges.response import UNREAD

Mode = Literal["json_schema", "json_object_schema", "tools", "json_object", "text"]
MODES: tuple[Mode, ...] = ("json_schema", "json_object_schema", "tools", "json_object", "text")
"""The output modes, the strictest first.

`json_schema` (output constrained to the schema), `json_object_schema` (the same, in llama.cpp's
syntax), `tools` (a forced tool call), `json_object` (the schema in the prompt, output constrained
to JSON objects), `text` (the schema in the prompt, unconstrained output).
"""
SCHEMA_OUTSIDE_PROMPT: frozenset[Mode] = frozenset({"json_schema", "json_object_schema", "tools"})
"""Modes whose prompt does not contain the schema, so the server must support it."""

_OUTPUT = "response_?format|grammar|guided|structured|json mode|json_?(object|schema)"
_FORMAT_WORDS: dict[str, str] = {
    "json_schema": f"{_OUTPUT}|schema",
    "json_object_schema": f"{_OUTPUT}|schema",
    "tools": "tool|function",
    "json_object": _OUTPUT,
    "text": r"\Z\A",
}
"""Patterns of errors about the output mode."""

_REASK = (
    "That is not a valid answer: {problem}.\n"
    "Answer again with the whole JSON object, corrected, and nothing else."
)
MAX_ECHO = 20_000
"""Maximum number of characters of an invalid answer that the next request repeats."""

PROBE = Form(
    questions=(
        Question(id="zq4", kind="choice", text="?", labels=("ulm", "orf"), nullable=True),
        Question(id="kx9", kind="checklist", text="?", items=("vey",)),
    )
)
"""The form of probes. Its names occur only in the schema, so no model guesses them."""
_PROBE_START = re.compile(r'\s*\{\s*"(zq4|kx9)"')


def probe_request(like: Request) -> Request:
    """Return the smallest request that tests an output mode, with the roles of another request."""
    user = ChatMessage(role="user", content="Fill in the form. Keep every reason to one word.")
    system = ChatMessage(role="system", content="You fill in forms.")
    has_system = any(message.role == "system" for message in like.messages)
    return Request(messages=(system, user) if has_system else (user,), form=PROBE, model=like.model)


def follows_schema(attempt: Try) -> bool | None:
    """Return whether the answer to the probe follows its schema; `None` if this is unclear."""
    if attempt.fault is not None and attempt.fault.message.startswith(UNREAD):
        return None  # a library fails in every mode
    try:
        parse_try(attempt, PROBE)
    except JudgeRefused:
        return None
    except InvalidReply as exc:
        if exc.kind != "truncated":
            return False
        if not (attempt.text or "").strip():
            return None  # thinking may have used all tokens
        return _PROBE_START.match(attempt.text or "") is not None
    return True


def names_format(error: str, mode: Mode) -> bool:
    """Return whether an error is about the output mode."""
    return re.search(_FORMAT_WORDS[mode], error, re.IGNORECASE) is not None


def messages_of(request: Request, mode: Mode) -> list[dict[str, Any]]:
    """Return the messages to send, with the schema in the prompt if the mode needs that."""
    messages = [{"role": m.role, "content": m.content} for m in request.messages]
    if mode not in SCHEMA_OUTSIDE_PROMPT:
        content = f"{messages[-1]['content']}\n\n{request.instructions}"
        messages[-1] = {**messages[-1], "content": content}
    return messages


def format_of(schema: dict[str, Any], mode: Mode) -> dict[str, Any]:
    """Return the `response_format` option of the modes that instructor does not send.

    instructor's JSON modes add their own text to the prompt.
    """
    if mode == "json_object_schema":
        return {"response_format": {"type": "json_object", "schema": schema}}
    return {"response_format": {"type": "json_object"}} if mode == "json_object" else {}


def reask(messages: list[dict[str, Any]], answer: str, problem: str) -> list[dict[str, Any]]:
    """Return the messages of a re-ask, which contain the invalid answer and its fault."""
    note = _REASK.format(problem=problem)
    if not answer.strip():
        # Some providers refuse empty turns and consecutive turns of one role.
        last = messages[-1]
        return [*messages[:-1], {**last, "content": f"{last['content']}\n\n{note}"}]
    answer = answer if len(answer) <= MAX_ECHO else answer[:MAX_ECHO] + "…"
    return [*messages, {"role": "assistant", "content": answer}, {"role": "user", "content": note}]
