"""The log-probabilities of a text's tokens, in the format of a reply.

`{"logprobs": [null, -0.5, ...], "offsets": [0, 5, ...]}`: for each token of the prompt and the
continuation, its natural log-probability and the index of its first character. The first token has
no context, so its log-probability is null.
"""

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from judgekit.core.canonical import canonical_json
from judgekit.core.errors import InvalidReply
from judgekit.core.replies.text import stored_object
from judgekit.core.request import ChatMessage, Reply

MAX_TOKENS = 1_000_000
_ROUNDING = 1e-3
"""Largest positive value that is accepted as a rounding error; it counts as 0."""


class Continuation(NamedTuple):
    """The log-probabilities of the tokens that overlap a continuation."""

    logprobs: tuple[float, ...]
    shared: bool
    """Whether the first of these tokens begins in the prompt."""
    unknown: bool
    """Whether the first token of the text is omitted because it has no log-probability."""


def pair_messages(prompt: str, continuation: str) -> tuple[ChatMessage, ChatMessage]:
    """Return the messages of a request for the log-probabilities of a continuation."""
    return (
        ChatMessage(role="user", content=prompt),
        ChatMessage(role="assistant", content=continuation),
    )


def logprobs_text(logprobs: object, offsets: object, *, length: int) -> str:
    """Return the reply text for the log-probabilities of a prompt and its continuation.

    Args:
        logprobs: one per token, in order.
        offsets: index of the first character of each token.
        length: number of characters of prompt and continuation; later tokens are dropped.

    Raises:
        InvalidReply: the lists have different lengths or contain invalid values.
    """
    if not isinstance(logprobs, (list, tuple)) or not isinstance(offsets, (list, tuple)):
        raise InvalidReply("the log-probabilities are not two lists")
    _check(logprobs, offsets, length)
    count = sum(1 for at in offsets if at < length)
    return canonical_json({"logprobs": list(logprobs[:count]), "offsets": list(offsets[:count])})


def read_logprobs(reply: Reply, *, prompt: str, continuation: str) -> Continuation:
    """Return the log-probabilities of the tokens that overlap the continuation.

    A token that begins in the prompt and ends in the continuation is included; otherwise the
    beginning of the continuation would not be scored.

    Raises:
        InvalidReply: the log-probabilities are invalid or do not cover the continuation.
    """
    last = reply.tries[-1]
    if last.fault is not None:
        raise last.fault.error()
    data = stored_object(last.text or "", missing="the reply holds no log-probabilities")
    logprobs, offsets = data.get("logprobs"), data.get("offsets")
    if not isinstance(logprobs, list) or not isinstance(offsets, list):
        raise InvalidReply("the reply holds no log-probabilities")
    whole = len(prompt) + len(continuation)
    _check(logprobs, offsets, whole)
    begins = len(prompt)
    # Several tokens may form one character and have the same offset.
    first = sum(1 for at in offsets if at < begins)
    shared = first < len(offsets) and offsets[first] > begins
    if first == len(offsets) or shared:
        shared = True
        # Include the last token that begins in the prompt, with all tokens of the same offset.
        first = offsets.index(offsets[first - 1])
    figures = logprobs[first:]
    unknown = bool(figures) and first == 0 and figures[0] is None
    if unknown:
        figures = figures[1:]
    if any(figure is None for figure in figures):
        raise InvalidReply("a token of the continuation has no log-probability")
    return Continuation(tuple(min(0.0, float(figure)) for figure in figures), shared, unknown)


def _check(logprobs: Sequence[Any], offsets: Sequence[Any], length: int) -> None:
    if len(logprobs) != len(offsets):
        raise InvalidReply(f"{len(logprobs)} log-probabilities for {len(offsets)} tokens cannot be")
    if not 1 <= len(offsets) <= MAX_TOKENS:
        raise InvalidReply(f"log-probabilities of {len(offsets)} tokens; 1 at least are needed")
    if not all(isinstance(at, int) and not isinstance(at, bool) for at in offsets):
        raise InvalidReply("the places of the tokens are not whole numbers")
    if offsets[0] != 0 or any(left > right for left, right in pairwise(offsets)):
        raise InvalidReply("the places of the tokens are not in order")
    for place, figure in enumerate(logprobs):
        if figure is None and place == 0:
            continue
        if offsets[place] >= length:
            break
        if isinstance(figure, bool) or not isinstance(figure, (int, float)):
            raise InvalidReply("a token has no log-probability")
        if not math.isfinite(figure) or figure > _ROUNDING:
            raise InvalidReply(f"{figure} is not the logarithm of a probability")
