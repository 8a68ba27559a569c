"""Find recorded replies that would not be recorded by today's table of outcomes."""

from __future__ import annotations

from judgekit.core.canonical import json_value
from judgekit.core.request import Fault, Reply, Try
from judgekit.judges.outcomes import (
    RECORDED,
    ErrorBody,
    error_in_success,
    finish_means,
    meaning_of,
)

_UNPROVEN = (
    "the judge took other requests but not this one: ",
    "the model took other requests but not this one: ",
    "the judge took this form, but not for this case: ",
)
"""Beginnings of faults that were recorded before a rejection had to be about the content."""
_MALFORMED = "the response is malformed"
_POLICY = "the provider's content policy declined: "
_TOO_LONG = "too long for the judge's context window: "


def unjustified(reply: Reply) -> str | None:
    """Return why a recorded reply would not be recorded today; `None` if it would be.

    Only what contradicts the table counts: a fault without any word of the provider, such as that
    of a person or of a function, is justified.
    """
    last = reply.tries[-1]
    if last.fault is not None:
        return _unjustified_fault(last, last.fault)
    if (last.text or "").strip() or last.refusal is not None:
        return None
    means = finish_means(last.finish)
    wrote = reply.usage is not None and reply.usage.output_tokens > 0
    if means == "unavailable" or (means is None and reply.mode is not None and not wrote):
        return f"an empty reply after an outage (finish {last.finish})"
    return None


def _unjustified_fault(attempt: Try, fault: Fault) -> str | None:
    message = fault.message
    for beginning in _UNPROVEN:
        if message.startswith(beginning):
            told = message[len(beginning) :]
            code, _, text = told.removeprefix("HTTP ").partition(": ")
            status = int(code) if code.isascii() and code.isdigit() and len(code) <= 4 else None
            meaning = meaning_of(status, ErrorBody(message=text if status is not None else told))
            if meaning in RECORDED:
                return None
            what = f"HTTP {status}" if status is not None else "without a status"
            return f"a rejection that is not about the case ({what})"
    for beginning in (_POLICY, _TOO_LONG):
        if message.startswith(beginning):
            meaning = meaning_of(400, ErrorBody(message=message[len(beginning) :]))
            if meaning in ("account", "unavailable"):
                return f"an error that is not about the case ({meaning})"
    if message.startswith(_MALFORMED):
        data = json_value(attempt.text or "")
        if isinstance(data, dict) and error_in_success(data) is not None:
            return "an error of the provider in a malformed response"
    return None
