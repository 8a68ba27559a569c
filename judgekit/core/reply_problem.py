"""Describe an invalid reply to the user: the judge, the problem, and the beginning of the reply.

A judge that is asked again reads the shorter text of the error itself.
"""

from collections.abc import Sequence
from typing import Any

from pydantic import ValidationError

from judgekit.core.canonical import visible
from judgekit.core.errors import InvalidReply
from judgekit.core.request import Reply, Request
from judgekit.core.value_rule import value_rule

BEGINNING = 80
"""Number of characters of a reply in a message."""
_FEW = 3
"""Maximum number of missing fields that a message names."""
_CLIENT_OBJECTS = {
    "choices": "choices[0].message.content",  # OpenAI, chat completions
    "content": "content[0].text",  # Anthropic, messages
    "candidates": "text",  # Google, generate_content
    "output": "output_text",  # OpenAI, responses
}
"""A field of a client's response -> the attribute with its text."""


def described(error: InvalidReply, reply: Reply, request: Request) -> InvalidReply:
    """Return the error to show for an invalid reply.

    Errors that do not quote the text, such as a truncated reply, are returned unchanged.
    """
    last = reply.tries[-1]
    text = last.text or ""
    if error.kind != "invalid_reply" or last.fault is not None or request.form.api is not None:
        return error
    cause = error.__cause__
    problem, hint = str(error), ""
    if isinstance(cause, ValidationError):
        faults = cause.errors(include_url=False)
        problem, hint = _problem(faults), _hint(faults)
    flat = " ".join(visible(text[: 4 * BEGINNING]).split())
    shown = flat if len(flat) <= BEGINNING else f"{flat[:BEGINNING]}…"
    return InvalidReply(f"{request.model}: {problem}{hint}; the reply begins: {shown}")


def _problem(faults: Sequence[Any]) -> str:
    missing = [_path(fault) for fault in faults if fault["type"] == "missing"]
    if missing:
        more = len(missing) - _FEW
        rest = f" and {more} more" if more > 0 else ""
        return f"the reply lacks {', '.join(map(repr, missing[:_FEW]))}{rest}"
    first = faults[0]
    tail = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
    path = _path(first)
    where = f"{path!r} of the reply" if path else "the reply"
    return f"{where} {value_rule(first)}{tail}"


def _hint(faults: Sequence[Any]) -> str:
    """Return advice where a judge function returned the response object of its client."""
    unknown = {_path(fault) for fault in faults if fault["type"] == "extra_forbidden"}
    if not {"id", "model"} <= unknown:
        return ""
    where = next((text for name, text in _CLIENT_OBJECTS.items() if name in unknown), None)
    return f"; return the text of the response (.{where})" if where else ""


def _path(fault: Any) -> str:
    return visible(".".join(str(step) for step in fault["loc"]))[:100]
