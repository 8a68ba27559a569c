"""What is kept of a reply: all of it, unless it is longer than any that can be read."""

from __future__ import annotations

from judgekit.core.replies.text import MAX_ANSWER
from judgekit.core.reply_schema import MAX_REPLY_CHARACTERS
from judgekit.core.request import Fault, Omitted, Reply, Try, Want

BEGINNING = 64_000
"""Characters that are kept of a text that is too long."""
_LIMITS: dict[Want, int] = {
    "verdict": MAX_REPLY_CHARACTERS,
    "text": MAX_ANSWER,
    "embedding": 1_000_000,
    "logprobs": 40_000_000,
}
"""Characters of a reply that can be read, by what is asked for."""


def kept_of(reply: Reply, *, want: Want) -> Reply:
    """Return a reply as it is recorded: of texts that are too long, the beginning and a digest.

    An answer that was followed by another one is not read, so less of it is kept.
    """
    *earlier, last = reply.tries
    tries = (*map(_beginning, earlier), _read_one(last, limit=_LIMITS[want]))
    if all(new is old for new, old in zip(tries, reply.tries, strict=True)):
        return reply
    return reply.model_copy(update={"tries": tries})


def _read_one(answer: Try, *, limit: int) -> Try:
    """Return the answer that is read; one that is too long says so."""
    if len(answer.text or "") <= limit:
        return answer
    fault = answer.fault or Fault(message=f"the reply is longer than {limit:,} characters")
    return _beginning(answer).model_copy(update={"fault": fault})


def _beginning(answer: Try) -> Try:
    text = answer.text or ""
    if len(text) <= BEGINNING:
        return answer
    omitted = omitted_of(text, kept=BEGINNING)
    return answer.model_copy(update={"text": text[:BEGINNING], "omitted": omitted})


def omitted_of(text: str, *, kept: int) -> Omitted | None:
    """Return what stands for a text from some character on; `None` where nothing follows."""
    from judgekit.core.canonical import digest

    rest = text[kept:].encode("utf-8", "replace")
    return Omitted(bytes=len(rest), sha256=digest(rest)) if rest else None
