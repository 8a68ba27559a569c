"""Read the text of a free answer; shorten long replies for recording."""

from typing import Any

from judgekit.core.canonical import digest, json_value, visible
from judgekit.core.errors import InvalidReply, JudgeRefused
from judgekit.core.reply_schema import MAX_REPLY_CHARACTERS
from judgekit.core.request import Fault, Omitted, Reply, Try, Want

MAX_ANSWER = 10_000_000
"""Maximum length of an answer, in characters."""
CUT_OFF = frozenset({"length", "max_tokens", "model_length"})
"""Finish reasons of an answer that was cut off by max_tokens."""
REFUSED = frozenset({"content_filter", "refusal", "safety"})
"""Finish reasons of a refusal."""


def read_text(reply: Reply) -> str:
    """Return the text of the answer; a text that was cut off by max_tokens is also an answer.

    Raises:
        JudgeRefused: a policy stopped the answer, or the server marked it as a refusal. A refusal
            in the model's own words is an answer.
        InvalidReply: the answer is blank (`empty`), is only reasoning (`only_thought`), or the
            response was malformed.
        CaseError: the model rejected this request.
    """
    last = reply.tries[-1]
    if last.fault is not None:
        raise last.fault.error()
    text = last.text or ""
    if last.refusal and last.refusal.strip():
        raise JudgeRefused(f"the model declined: {shortened(last.refusal)}")
    if last.finish in REFUSED:
        raise JudgeRefused(f"the answer was stopped: {shortened(last.finish or '')}")
    if not text.strip():
        if last.thought:
            raise InvalidReply(
                f"the model thought for {last.thought:,} characters and gave no answer; "
                "raise max_tokens",
                kind="only_thought",
            )
        raise InvalidReply("the answer is empty", kind="empty")
    if len(text) > MAX_ANSWER:
        raise InvalidReply(f"the answer is longer than {MAX_ANSWER:,} characters")
    return text


def cut_off(reply: Reply) -> bool:
    """Return whether the answer was cut off by max_tokens."""
    return reply.tries[-1].finish in CUT_OFF


def shortened(text: str) -> str:
    """Return a text on one line, of at most 200 characters."""
    text = " ".join(visible(text).split())
    return text if len(text) <= 200 else text[:200] + "…"


def stored_object(text: str, *, missing: str) -> dict[str, Any]:
    """Return the JSON object in the text of a reply.

    Raises:
        InvalidReply: there is no object; `missing` is the message.
    """
    data = json_value(text)
    if not isinstance(data, dict):
        raise InvalidReply(missing)
    return data


BEGINNING = 64_000
"""Number of characters that are kept of a text that is too long."""
_LIMITS: dict[Want, int] = {
    "verdict": MAX_REPLY_CHARACTERS,
    "text": MAX_ANSWER,
    "embedding": 1_000_000,
    "logprobs": 40_000_000,
}
"""Maximum length of a reply in characters, by kind."""


def kept_of(reply: Reply, *, want: Want) -> Reply:
    """Return the reply to record: a text that is too long becomes its beginning and a digest.

    Only the last answer is read, so earlier ones are shortened more.
    """
    *earlier, last = reply.tries
    limit = _LIMITS[want]
    kept = last
    if len(last.text or "") > limit:
        fault = last.fault or Fault(message=f"the reply is longer than {limit:,} characters")
        kept = _beginning(last).model_copy(update={"fault": fault})
    tries = (*map(_beginning, earlier), kept)
    if all(new is old for new, old in zip(tries, reply.tries, strict=True)):
        return reply
    return reply.model_copy(update={"tries": tries})


def _beginning(answer: Try) -> Try:
    text = answer.text or ""
    if len(text) <= BEGINNING:
        return answer
    omitted = omitted_of(text, kept=BEGINNING)
    return answer.model_copy(update={"text": text[:BEGINNING], "omitted": omitted})


def omitted_of(text: str, *, kept: int) -> Omitted | None:
    """Return size and digest of the rest of a text after `kept` characters; `None` if empty."""
    rest = text[kept:].encode("utf-8", "replace")
    return Omitted(bytes=len(rest), sha256=digest(rest)) if rest else None
