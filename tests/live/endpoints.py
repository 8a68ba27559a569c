"""What the fake server says at /embeddings and /completions, made from what it is asked."""

from __future__ import annotations

import re
from typing import Any

WORD = re.compile(r"\s*\S+|\s+")


def vector_of(text: str, size: int = 4) -> list[float]:
    """Return a vector that tells texts apart."""
    return [float((len(text) * 7 + 13 * place + sum(map(ord, text))) % 97) for place in range(size)]


def embeddings(asked: dict[str, Any], size: int = 4) -> dict[str, Any]:
    data = [
        {"object": "embedding", "index": place, "embedding": vector_of(text, size)}
        for place, text in enumerate(asked["input"])
    ]
    usage = {"prompt_tokens": 10 * len(data), "total_tokens": 10 * len(data)}
    return {"object": "list", "data": data, "model": "fake-embedder-2026", "usage": usage}


def figures_of(tokens: list[str]) -> list[float | None]:
    """Return a log-probability for each token: by its letters, and none for the first."""
    return [None if not place else -len(token) / 4 for place, token in enumerate(tokens)]


def echo(asked: dict[str, Any], *, begin: str | None = None) -> dict[str, Any]:
    """Return the prompt with the figures of its words, and one more word."""
    prompt = asked["prompt"]
    tokens = WORD.findall(prompt)
    tokens = [*([begin] if begin is not None else []), *tokens, " and"]
    offsets = [sum(map(len, tokens[:place])) for place in range(len(tokens))]
    choice = {
        "index": 0,
        "text": prompt + " and",
        "finish_reason": "length",
        "logprobs": {
            "tokens": tokens,
            "token_logprobs": figures_of(tokens),
            "top_logprobs": [None, *({token: -0.1} for token in tokens[1:])],
            "text_offset": offsets,
        },
    }
    usage = {"prompt_tokens": len(tokens) - 1, "completion_tokens": 1, "total_tokens": len(tokens)}
    return {
        "id": "cmpl-1",
        "object": "text_completion",
        "created": 1,
        "model": "fake-base-2026",
        "choices": [choice],
        "usage": usage,
    }
