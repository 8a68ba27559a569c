"""Providers: their names, and the transport of their requests.

litellm supports many providers. judgekit itself sends the requests for which litellm uses plain
OpenAI requests, if a test compares bodies and replies with litellm's.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from judgekit.core.errors import ConfigError
from judgekit.core.suggest import closest
from judgekit.judges.kinds import KINDS, kind_names
from judgekit.judges.provider_names import KNOWN_PROVIDERS
from judgekit.judges.transport import Server

_SURE = 0.8
"""Minimum similarity of a name to a provider to count as a misspelling of it."""


def check_provider(model: str) -> None:
    """Reject a model whose provider is misspelled.

    Raises:
        ConfigError: with the suggested provider.
    """
    provider, slash, name = model.partition("/")
    if not slash:
        _check_colon(model)
    if not slash or provider in KNOWN_PROVIDERS:
        return
    known = (*KNOWN_PROVIDERS, *kind_names())
    if provider not in known and (close := closest(provider, known, alike=_SURE)):
        hint = f"did you mean '{close[0]}/{name}'?"
        raise ConfigError(f"model {model!r}: unknown provider {provider!r}; {hint}")


def _check_colon(model: str) -> None:
    """Reject `openai:NAME`, as LangChain and pydantic-ai write it."""
    provider, colon, name = model.partition(":")
    if colon and provider in (*KNOWN_PROVIDERS, *KINDS):
        # A number after the colon is a size, as in Ollama's mistral:7b.
        meant = f"ollama_chat/{model}" if name[:1].isdigit() else f"{provider}/{name}"
        raise ConfigError(f"model {model!r}: a slash follows the provider; did you mean {meant!r}?")


_PLAIN = frozenset({
    "cache_prompt", "extra_body", "frequency_penalty", "grammar", "max_completion_tokens",
    "max_tokens", "min_p", "min_tokens", "n", "presence_penalty", "repeat_penalty",
    "repetition_penalty", "seed", "stop", "temperature", "top_k", "top_p", "typical_p",
})  # fmt: skip
"""Parameters that litellm sends unchanged to every listed provider."""
_LOGPROBS = frozenset({"logprobs", "top_logprobs"})


class Provider(NamedTuple):
    """The changes that litellm makes for a provider."""

    address: str | None = None
    """The address of a hosted provider; `None` if the judge must give one."""
    key: str | None = None
    """The environment variable with the key for that address."""
    prefix: str = ""
    """Prefix that litellm adds to the model name that the server reports."""
    open_tools: bool = False
    """Whether litellm removes `additionalProperties` from tools."""
    parameters: frozenset[str] = _PLAIN | _LOGPROBS | {"dimensions", "encoding_format"}


PROVIDERS: Mapping[str, Provider] = {
    "openai": Provider("https://api.openai.com/v1", "OPENAI_API_KEY"),
    "hosted_vllm": Provider(open_tools=True),
    "lm_studio": Provider(prefix="lm_studio/", parameters=_PLAIN | _LOGPROBS),
    "llamafile": Provider(prefix="llamafile/"),
    "litellm_proxy": Provider(prefix="litellm_proxy/"),
    "xinference": Provider(prefix="xinference/"),
    "deepseek": Provider(parameters=_PLAIN | _LOGPROBS),
    "together_ai": Provider(),
    "xai": Provider(parameters=_PLAIN | _LOGPROBS),
    "nebius": Provider(prefix="nebius/"),
    "novita": Provider(prefix="novita/"),
}
"""Provider in a model's name -> its rules."""
_LEFT_TO_LITELLM: Mapping[str, str] = {
    "groq": "litellm asks it for a schema by a tool call",
    "mistral": "litellm renames its parameters and forces no tool",
    "openrouter": "litellm asks it for the cost of each call",
}
"""Provider with OpenAI's protocol -> why its requests from litellm differ from plain ones."""
_HOSTED = re.compile(
    r"(gpt-4o|gpt-4\.1)(-mini|-nano)?(-\d{4}-\d\d-\d\d)?|gpt-4-turbo(-\d{4}-\d\d-\d\d)?"
    r"|gpt-3\.5-turbo(-\d{4})?|text-embedding-3-(small|large)|text-embedding-ada-002"
)
"""OpenAI's models to which litellm sends all parameters unchanged."""
_OWN_RULES = re.compile(
    r"o\d|(ft:)?gpt-\d|chatgpt|codex|computer-use|daybreak|chat-latest|responses/"
)
"""Names for which litellm may have special rules, even at another address."""
_REASONING = re.compile(r"gpt-5(\.[1-4])?(-mini|-nano)?(-\d{4}-\d\d-\d\d)?")
"""OpenAI's reasoning models; litellm renames or refuses most parameters."""
_REASONING_PARAMETERS = frozenset({"seed", "max_completion_tokens", "extra_body"})
_REDIRECTING = ("OPENAI_BASE_URL", "OPENAI_API_BASE", "OPENAI_ORGANIZATION", "OPENAI_ORG_ID",
                "OPENAI_PROJECT_ID")  # fmt: skip
"""Environment variables that change the requests of litellm and OpenAI's SDK."""


def redirected_by() -> str | None:
    """Return an environment variable that changes requests to OpenAI, if one is set."""
    return next((name for name in _REDIRECTING if os.environ.get(name)), None)


def reason_for_litellm(server: Server, params: Mapping[str, Any]) -> str | None:
    """Return why a judge needs litellm; `None` if its requests can be sent directly."""
    name, _, model = server.model.partition("/")
    provider = PROVIDERS.get(name)
    if name in _LEFT_TO_LITELLM:
        return _LEFT_TO_LITELLM[name]
    if provider is None or not model:
        return f"{name} is not one of {', '.join(sorted(PROVIDERS))}"
    allowed = provider.parameters
    base = server.api_base
    if name == "openai":
        if _REASONING.fullmatch(model):
            allowed = _REASONING_PARAMETERS
        elif not _HOSTED.fullmatch(model) and (base is None or _OWN_RULES.match(model)):
            return f"litellm has rules for {model}"
    if base is None:
        if provider.address is None:
            return "there is no api_base"
        if changed := redirected_by():
            return f"{changed} is set in the environment"
    elif "?" in base or "#" in base or base.rstrip("/").endswith("/completions"):
        return "api_base is more than the address of a server"
    for parameter in params:
        if parameter not in allowed:
            return f"litellm may change the parameter {parameter}"
    return None
