"""Log-probabilities of an existing text, read from a completions endpoint that echoes it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any

from pydantic import JsonValue

from judgekit.core.errors import InvalidReply, JudgeUnavailable
from judgekit.core.replies.logprobs import logprobs_text
from judgekit.core.request import Try

ECHOING: dict[str, JsonValue] = {"echo": True, "logprobs": 1, "max_tokens": 1, "temperature": 0}
"""Parameters of the request. One token, because some servers read 0 as "no limit"."""

_COMPLETIONS = "text-completion-openai/"
_COMPATIBLE = ("openai/", "hosted_vllm/", "lm_studio/", "llamafile/")
"""Providers with a completions endpoint besides the chat endpoint."""
_ODD = re.compile("�|^bytes:")
"""Tokens that are part of a character; servers spell them differently."""


def completions_model(model: str) -> str:
    """Return the name under which litellm uses the completions endpoint of a model."""
    for provider in _COMPATIBLE:
        if model.startswith(provider):
            return _COMPLETIONS + model.removeprefix(provider)
    return model


def read_echo(data: Mapping[str, Any], *, whole: str) -> Try:
    """Return the log-probabilities of a text as an attempt.

    Raises:
        JudgeUnavailable: the server does not echo, or echoes without log-probabilities.
        InvalidReply: the log-probabilities do not fit the text.
    """
    choices = data.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    choice = choice if isinstance(choice, dict) else {}
    text = choice.get("text")
    if not isinstance(text, str) or not text.startswith(whole):
        raise JudgeUnavailable(
            "log-probabilities are unavailable: the server does not echo the text it is given "
            "(`echo` of /completions); vLLM and llama-cpp-python do"
        )
    figures = choice.get("logprobs")
    tokens, logprobs, offsets = (
        _list(figures, name) for name in ("tokens", "token_logprobs", "text_offset")
    )
    if tokens is None or logprobs is None:
        raise JudgeUnavailable(
            "log-probabilities are unavailable: the server echoes the text without them"
        )
    if len(tokens) != len(logprobs) or not all(isinstance(token, str) for token in tokens):
        raise InvalidReply("the server's tokens and log-probabilities do not match")
    begins, dropped = _aligned(tokens, whole) or (_checked_offsets(tokens, offsets, text), 0)
    if begins[-1] < len(whole) and begins[-1] + len(tokens[-1]) < len(whole):
        raise InvalidReply("the server's log-probabilities end before the text does")
    stored = logprobs_text(logprobs[dropped:], begins, length=len(whole))
    return Try(text=stored, finish=choice.get("finish_reason"))


def _list(figures: object, name: str) -> list[Any] | None:
    value = figures.get(name) if isinstance(figures, dict) else None
    return value if isinstance(value, list) and value else None


def _aligned(tokens: Sequence[str], whole: str) -> tuple[list[int], int] | None:
    """Return where the tokens of the text begin, and the number of tokens before them.

    A start token may come first, and tokenisers may add a space before the text.
    """
    for dropped in (0, 1):
        spelt = "".join(tokens[dropped:])
        for lead in (0, 1):
            if spelt.startswith(" " * lead + whole) and len(tokens) > dropped:
                lengths = map(len, tokens[dropped:-1])
                return [max(0, at - lead) for at in accumulate(lengths, initial=0)], dropped
    return None


def _checked_offsets(tokens: Sequence[str], offsets: Sequence[Any] | None, text: str) -> list[int]:
    """Return the token offsets of the server, checked against the text.

    Raises:
        InvalidReply: an offset is wrong.
    """
    if offsets is None or len(offsets) != len(tokens):
        raise InvalidReply("the server's tokens do not spell the text")
    for token, at in zip(tokens, offsets, strict=True):
        if not isinstance(at, int) or not 0 <= at <= len(text):
            raise InvalidReply("the server's tokens are at no place in the text")
        if not _ODD.search(token) and text[at : at + len(token)] != token:
            raise InvalidReply("the server's tokens do not spell the text")
    return list(offsets)
