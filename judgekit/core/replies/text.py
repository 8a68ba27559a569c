"""An answer in a model's own words."""

from __future__ import annotations

from judgekit.core.canonical import visible
from judgekit.core.errors import InvalidReply, JudgeRefused
from judgekit.core.request import Reply

MAX_ANSWER = 10_000_000
"""Characters an answer may have."""
CUT_OFF = frozenset({"length", "max_tokens", "model_length"})
"""What servers call the end of an answer that max_tokens cut off."""
_REFUSED = frozenset({"content_filter", "refusal", "safety"})


def read_text(reply: Reply) -> str:
    """Return the answer as it was given; one that max_tokens cut off is an answer, too.

    Raises:
        JudgeRefused: a policy stopped it, or the server marked it as a refusal. A model that
            declines in words of its own has answered.
        InvalidReply: nothing but white space came (`empty`), or reasoning alone
            (`only_thought`), or the response was malformed.
        CaseError: the model did not take this request.
    """
    last = reply.tries[-1]
    if last.fault is not None:
        raise last.fault.error()
    text = last.text or ""
    if last.refusal is not None:
        raise JudgeRefused(f"the model declined: {_short(last.refusal)}")
    if last.finish in _REFUSED:
        raise JudgeRefused(f"the answer was stopped: {_short(last.finish or '')}")
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
    """Return whether max_tokens cut the answer off."""
    return reply.tries[-1].finish in CUT_OFF


def _short(text: str) -> str:
    text = " ".join(visible(text).split())
    return text if len(text) <= 200 else text[:200] + "…"
