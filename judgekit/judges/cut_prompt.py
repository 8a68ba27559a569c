"""Notice that Ollama cut a prompt: it answers with status 200 and does not say so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from judgekit.core.errors import RequestRejected
from judgekit.judges.response import usage_of

_FINGERPRINT = "fp_ollama"
"""`system_fingerprint` of responses of Ollama's OpenAI-compatible API (openai/openai.go)."""
_MODELS = ("ollama/", "ollama_chat/")


def check_whole(model: str, data: Mapping[str, Any], messages: Sequence[Mapping[str, Any]]) -> None:
    """Check that a response is about the whole request.

    A prompt that is longer than `num_ctx` (4,096 tokens without a setting) is cut, often to a half
    of it, and `prompt_tokens` counts what is left. Tokenizers never join two words, so a count
    below the number of words proves a cut; a small cut is not noticed.

    Args:
        model: the model, as litellm names it.
        data: the response.
        messages: the request.

    Raises:
        RequestRejected: the request was cut. It is not recorded, because the context size is a
            setting of the server.
    """
    if data.get("system_fingerprint") != _FINGERPRINT and not model.startswith(_MODELS):
        return
    usage = usage_of(data)
    read = 0 if usage is None else usage.input_tokens
    words = sum(len(str(message["content"]).split()) for message in messages)
    if 0 < read < words:  # versions before July 2024 count 0 for a cached prompt
        raise RequestRejected(
            f"Ollama cut the request: it read {read:,} tokens, and the request has {words:,} words;"
            " raise OLLAMA_CONTEXT_LENGTH of the server, or num_ctx in a Modelfile, and run again"
        )
