"""The ways of asking for a form, from the tightest to the loosest, and a probe that tells them."""

from __future__ import annotations

import json
import re
from typing import Any, Literal

from judgekit.core.errors import InvalidReply, JudgeRefused
from judgekit.core.judgment import read_reply
from judgekit.core.reply_schema import answer_model
from judgekit.core.request import ChatMessage, Form, Question, Reply, Request, Try

Mode = Literal["json_schema", "json_object_schema", "tools", "json_object", "text"]
MODES: tuple[Mode, ...] = ("json_schema", "json_object_schema", "tools", "json_object", "text")
"""The rungs of the ladder, top first.

`json_schema` (constrained output), `json_object_schema` (the same, the way llama.cpp spells it),
`tools` (a forced tool call), `json_object` (the schema in the prompt, any JSON object
constrained), `text` (the schema in the prompt and nothing else).
"""
HIDDEN: frozenset[Mode] = frozenset({"json_schema", "json_object_schema", "tools"})
"""Rungs on which the prompt does not show the schema: only a server that minds it can fill it."""

_SCHEMA_NOTE = (
    "Answer with one JSON object and nothing else. It must be valid under this JSON schema:\n"
)
_OUTPUT = "response_?format|grammar|guided|structured|json mode|json_?(object|schema)"
_FORMAT_WORDS: dict[str, str] = {
    "json_schema": f"{_OUTPUT}|schema",
    "json_object_schema": f"{_OUTPUT}|schema",
    "tools": "tool|function",
    "json_object": _OUTPUT,
    "text": r"\Z\A",
}
"""What an error says that is about the way the form was asked for."""

_ASK_AGAIN = (
    "That is not a valid answer: {fault}.\n"
    "Answer again with the whole JSON object, corrected, and nothing else."
)
MAX_ECHO = 20_000
"""Characters of an invalid answer that are handed back with what is wrong with it."""

PROBE = Form(
    questions=(
        Question(id="zq4", kind="choice", text="?", labels=("ulm", "orf"), nullable=True),
        Question(id="kx9", kind="checklist", text="?", items=("vey",)),
    )
)
"""Nobody fills this in by chance: its names stand in the schema and nowhere else."""
_BEGINS = re.compile(r'\s*\{\s*"(zq4|kx9)"')


def probe_request(like: Request) -> Request:
    """Return the smallest request that shows whether a rung holds, with the roles of another."""
    asked = ChatMessage(role="user", content="Fill in the form. Keep every reason to one word.")
    told = ChatMessage(role="system", content="You fill in forms.")
    system = any(message.role == "system" for message in like.messages)
    return Request(messages=(told, asked) if system else (asked,), form=PROBE, model=like.model)


def obeyed(said: Try) -> bool | None:
    """Return whether the answer to the probe is of its schema; `None` where it does not tell."""
    try:
        read_reply(Reply(tries=(said,)), form=PROBE, request_key="")
    except JudgeRefused:
        return None
    except InvalidReply as exc:
        if exc.kind != "truncated":
            return False
        if not (said.text or "").strip():
            return None  # thinking may have used the tokens up
        return _BEGINS.match(said.text or "") is not None
    return True


def names_format(error: str, mode: Mode) -> bool:
    """Return whether an error is about the way the form was asked for."""
    return re.search(_FORMAT_WORDS[mode], error, re.IGNORECASE) is not None


def schema_of(form: Form) -> dict[str, Any]:
    """Return the JSON schema of a form, made once."""
    cached: dict[str, Any] | None = form.__dict__.get("_schema")
    if cached is None:
        cached = form.json_schema or answer_model(form).model_json_schema()
        form.__dict__["_schema"] = cached
    return dict(cached)


def messages_of(request: Request, mode: Mode) -> list[dict[str, Any]]:
    """Return the messages that are sent: as rendered, with the schema where nothing else has it."""
    messages = [{"role": m.role, "content": m.content} for m in request.messages]
    if mode not in HIDDEN:
        # As it comes, not sorted: a judge gives its reasons before its verdict.
        plain = json.dumps(schema_of(request.form), ensure_ascii=False)
        content = f"{messages[-1]['content']}\n\n{_SCHEMA_NOTE}{plain}"
        messages[-1] = {**messages[-1], "content": content}
    return messages


def format_of(form: Form, mode: Mode) -> dict[str, Any] | None:
    """Return the `response_format` of a rung for which instructor has no mode of its own.

    instructor's JSON modes put a text of theirs into the prompt, so these are asked without it.
    """
    if mode == "json_object_schema":
        return {"type": "json_object", "schema": schema_of(form)}
    return {"type": "json_object"} if mode == "json_object" else None


def again(messages: list[dict[str, Any]], said: str, fault: str) -> list[dict[str, Any]]:
    """Return the messages that ask once more, with the answer that was wrong."""
    note = _ASK_AGAIN.format(fault=fault)
    if not said.strip():
        # Some providers refuse an empty turn, and two turns of one role in a row.
        last = messages[-1]
        return [*messages[:-1], {**last, "content": f"{last['content']}\n\n{note}"}]
    said = said if len(said) <= MAX_ECHO else said[:MAX_ECHO] + "…"
    return [*messages, {"role": "assistant", "content": said}, {"role": "user", "content": note}]
