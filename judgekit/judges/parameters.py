"""Parameters of a judge; parameters that the provider rejects are dropped."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from pydantic import JsonValue

from judgekit.core.errors import ConfigError
from judgekit.core.suggest import closest
from judgekit.core.value import check_json

_BOUND = re.compile(
    r"[<>]|\b(less|greater|larger|smaller|lower|higher|between|range|at (most|least)|"
    r"maximum|minimum|exceeds?|too|positive|negative|must be an?)\b",
    re.IGNORECASE,
)
"""Words in errors about a value, which the user must correct."""
_CONFLICT = re.compile(
    r"\b(?:both|together|only one|mutually exclusive|at the same time|either)\b", re.IGNORECASE
)
"""Words of errors about parameters that exclude each other, each of which is taken alone."""
_OTHER_NAME = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}
"""Two names of one limit; the name that the provider requires is sent."""

NOT_PARAMETERS = frozenset({
    "api_base", "api_key", "api_version", "base_url", "client", "context", "default_headers",
    "extra_headers", "functions", "headers", "hooks", "max_retries", "messages", "mock_response",
    "model", "num_retries", "organization", "response_format", "response_model", "stream",
    "strict", "timeout", "tool_choice", "tools",
})  # fmt: skip
"""Settings that select the server or that judgekit sets itself; parameters are recorded."""
_OPENAI_PARAMETERS = {
    "temperature", "top_p", "max_tokens", "max_completion_tokens", "seed", "stop", "logprobs",
    "top_logprobs", "presence_penalty", "frequency_penalty", "reasoning_effort", "n",
}  # fmt: skip


_OTHER_PARAMETERS = {
    "cache_prompt", "extra_body", "grammar", "logit_bias", "max_output_tokens", "metadata",
    "min_p", "min_tokens", "modalities", "prediction", "repeat_penalty", "repetition_penalty",
    "safety_settings", "service_tier", "store", "thinking", "top_a", "top_k", "typical_p", "user",
    "verbosity",
}  # fmt: skip
"""Names of other parameters; a server may take more."""
_SURE = 0.85
"""Similarity from which a name counts as a misspelling of a known parameter."""


class Parameters:
    """The parameters of a judge, and those that the model rejected.

    Raises:
        ConfigError: a value is not JSON, or a name is misspelled, which some servers ignore.
    """

    def __init__(self, params: Mapping[str, JsonValue]) -> None:
        try:
            check_json(dict(params), where="params")
        except ValueError as exc:
            raise ConfigError(str(exc)) from exc
        known = (*_OPENAI_PARAMETERS, *_OTHER_PARAMETERS)
        for name in params:
            if name not in known and (close := closest(name, known, alike=_SURE)):
                raise ConfigError(f"params: unknown parameter {name!r}; did you mean {close[0]!r}?")
        self.sent: dict[str, JsonValue] = dict(params)
        """The parameters to send; this dict is replaced, never changed."""
        self.dropped: dict[str, str] = {}
        """Dropped parameters -> the reason."""

    def keep(self, known: frozenset[str] | None) -> None:
        """Drop parameters that a hosted model does not support; `None` if they are not known."""
        if known is None:
            return
        for name in self.sent:
            if name in _OPENAI_PARAMETERS and name not in known:
                self.dropped[name] = "litellm knows this model not to take it"
        self.sent = {name: value for name, value in self.sent.items() if name not in self.dropped}

    def drop(self, error: str, sent: Mapping[str, JsonValue], *, reason: str) -> bool:
        """Drop or rename the parameters that an error rejects; return whether it rejects any.

        Args:
            error: the provider's message.
            sent: the parameters of the rejected request.
            reason: the message in one line.
        """
        refused = refused_parameters(error, sent)
        params = dict(self.sent)
        for name, other in refused.items():
            if name not in params:
                continue  # another call has dropped it
            value = params.pop(name)
            if other is not None and other not in self.dropped:
                params[other] = value
                self.dropped[name] = f"sent as {other}: {reason}"
            else:
                self.dropped[name] = reason
        self.sent = params
        return bool(refused)


def refused_parameters(error: str, sent: Mapping[str, Any]) -> dict[str, str | None]:
    """Return the parameters that an error rejects, each with the name to use instead, if any.

    Empty if the error does not name a sent parameter, or if it is about a value.
    """
    places = {name: at for name in sent if (at := _place(error, name)) >= 0}
    refused: dict[str, str | None] = {}
    for name in sorted(places, key=lambda name: places[name]):
        other = _OTHER_NAME.get(name)
        if other is not None and other in refused:
            continue  # named as the one to use instead
        advised = other is not None and other not in sent and _place(error, other) >= 0
        refused[name] = other if advised else None
    if _BOUND.search(error) and not any(refused.values()):
        return {}
    if len(refused) > 1 and _CONFLICT.search(error) and not any(refused.values()):
        # Either may stay. The temperature is what most judges set on purpose.
        kept = "temperature" if "temperature" in refused else next(iter(refused))
        del refused[kept]
    return refused


def _place(error: str, name: str) -> int:
    """Return the position of a parameter in an error, or -1; common words must be in quotes."""
    word = re.escape(name)
    plain = rf"(?<![\w.-]){word}(?![\w-])"
    quoted = rf"[`'\"\[]{word}[`'\"\]]|\bparam(?:eter)?s?:? {word}\b"
    match = re.search(plain if "_" in name or len(name) >= 8 else quoted, error)
    return match.start() if match else -1
