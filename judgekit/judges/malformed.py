"""Malformed responses: they were paid for, so a part of them is recorded with the reason."""

from __future__ import annotations

from typing import Any

from judgekit.core.replies.kept import omitted_of
from judgekit.core.request import Fault, Try
from judgekit.judges.compatible_reply import chat_reply
from judgekit.judges.response import clean
from judgekit.judges.wire import KEPT, Exchange

_ANSWER = ("choices", "usage", "data", "candidates", "content", "embedding", "embeddings", "done")
"""Fields of answers of any provider; errors have none of them."""


def malformed_try(call: Exchange, *, secrets: tuple[str, ...]) -> Try | None:
    """Return the attempt of a malformed response.

    `None` if it was not an answer: an error, a page of a proxy, or a truncated body.
    """
    if call.omitted is not None:
        start = clean(call.start.decode(errors="replace"), secrets)
        return Try(text=start, fault=Fault(message=call.too_large), omitted=call.omitted)
    data = call.data()
    if data is None or data.get("error") or not any(name in data for name in _ANSWER):
        return None
    text = clean(call.body.decode(errors="replace"), secrets) or ""
    reason = fault_in(data) or "a field is missing or has the wrong type"
    fault = Fault(message=f"the response is malformed: {reason}")
    return Try(text=text[:KEPT], fault=fault, omitted=omitted_of(text, kept=KEPT))


def fault_in(data: dict[str, Any]) -> str | None:
    """Return what is wrong with the form of a chat response; `None` if nothing is."""
    choices = data.get("choices")
    if not isinstance(choices, list):
        return f"choices is {_kind(choices)}, not a list"
    for choice in choices:
        message = choice.get("message") if isinstance(choice, dict) else None
        if not isinstance(message, dict):
            return "a choice without a message"
        content = message.get("content")
        if not (content is None or isinstance(content, str)):
            return f"the content of its message is {_kind(content)}, not a text"
        calls = message.get("tool_calls")
        if calls is not None and not _are_calls(calls):
            return f"its tool calls are {_kind(calls)} of another form"
    usage = data.get("usage")
    if not (usage is None or isinstance(usage, dict)):
        return f"usage is {_kind(usage)}, not an object"
    return None


def _are_calls(calls: object) -> bool:
    return isinstance(calls, list) and all(
        isinstance(call, dict) and isinstance(call.get("function"), dict) for call in calls
    )


def _kind(value: object) -> str:
    names = {bool: "true or false", list: "a list", dict: "an object", str: "a text"}
    return "null" if value is None else names.get(type(value), "a number")


def parts_joined(data: dict[str, Any] | None) -> dict[str, Any] | None:
    """Return a chat response with its content joined, if that is a list of texts.

    Some servers send `[{"type": "text", "text": ...}, ...]`. `None` for other responses.
    """
    choices = (data or {}).get("choices")
    if not isinstance(choices, list):
        return None
    joined = []
    for choice in choices:
        message = choice.get("message") if isinstance(choice, dict) else None
        parts = message.get("content") if isinstance(message, dict) else None
        texts = [_text_of(part) for part in parts] if isinstance(parts, list) else [None]
        if message is None or None in texts:
            return None
        joined.append({**choice, "message": {**message, "content": "".join(filter(None, texts))}})
    whole = {**(data or {}), "choices": joined}
    return chat_reply(whole) if fault_in(whole) is None else None


def _text_of(part: object) -> str | None:
    text = part.get("text") if isinstance(part, dict) and part.get("type") == "text" else None
    return text if isinstance(text, str) else None
