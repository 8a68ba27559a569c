"""Parameters a model does not take, told by what it says about them and never by its name."""

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
"""Words of a complaint about the value: that is the author's to mend."""
_OTHER_NAME = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}
"""The one limit that providers call by two names; it is passed on under the name they ask for."""

NOT_PARAMETERS = frozenset({
    "api_base", "api_key", "api_version", "base_url", "client", "context", "default_headers",
    "extra_headers", "functions", "headers", "hooks", "max_retries", "messages", "mock_response",
    "model", "num_retries", "organization", "response_format", "response_model", "stream",
    "strict", "timeout", "tool_choice", "tools",
})  # fmt: skip
"""What would change who is asked, or what judgekit itself sets. Parameters are recorded."""
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
"""How alike a name must be to a known parameter to count as a misspelling of it."""


def _check(given: Mapping[str, JsonValue]) -> None:
    """Refuse values that JSON lacks, and misspelled names, which some servers ignore.

    Raises:
        ConfigError: naming the parameter.
    """
    try:
        check_json(dict(given), where="params")
    except ValueError as exc:
        raise ConfigError(str(exc)) from exc
    known = (*_OPENAI_PARAMETERS, *_OTHER_PARAMETERS)
    for name in given:
        if name not in known and (close := closest(name, known, alike=_SURE)):
            raise ConfigError(f"params: unknown parameter {name!r}; did you mean {close[0]!r}?")


class Parameters:
    """The parameters of a judge, and which of them it turned out not to take."""

    def __init__(self, given: Mapping[str, JsonValue]) -> None:
        _check(given)
        self.sent: dict[str, JsonValue] = dict(given)
        """What is sent; replaced, never changed."""
        self.dropped: dict[str, str] = {}
        """What is not, and why."""

    def keep(self, known: frozenset[str] | None) -> None:
        """Leave out what a hosted model is known not to take; `None` where that is not known."""
        if known is None:
            return
        for name in self.sent:
            if name in _OPENAI_PARAMETERS and name not in known:
                self.dropped[name] = "litellm knows this model not to take it"
        self.sent = {name: value for name, value in self.sent.items() if name not in self.dropped}

    def drop(self, error: str, sent: Mapping[str, JsonValue], *, reason: str) -> bool:
        """Stop sending what an error says is not taken, or rename it; return whether it says so.

        Args:
            error: what the provider said.
            sent: the parameters it said it about.
            reason: why, in one line.
        """
        refused = refused_parameters(error, sent)
        params = dict(self.sent)
        for name, other in refused.items():
            if name not in params:
                continue  # another call met the same refusal
            value = params.pop(name)
            if other is not None and other not in self.dropped:
                params[other] = value
                self.dropped[name] = f"sent as {other}: {reason}"
            else:
                self.dropped[name] = reason
        self.sent = params
        return bool(refused)


def refused_parameters(error: str, sent: Mapping[str, Any]) -> dict[str, str | None]:
    """Return the parameters an error says are not taken, and the name to use instead, if any.

    Empty where the error names none of those sent, or complains of a value and not of the
    parameter.
    """
    found = {name: at for name in sent if (at := _place(error, name)) >= 0}
    refused: dict[str, str | None] = {}
    for name in sorted(found, key=lambda name: found[name]):
        other = _OTHER_NAME.get(name)
        if other is not None and other in refused:
            continue  # named as the one to use instead
        advised = other is not None and other not in sent and _place(error, other) >= 0
        refused[name] = other if advised else None
    if _BOUND.search(error) and not any(refused.values()):
        return {}
    return refused


def _place(error: str, name: str) -> int:
    """Return where an error names a parameter, or -1; a common word only counts in quotes."""
    word = re.escape(name)
    plain = rf"(?<![\w.-]){word}(?![\w-])"
    quoted = rf"[`'\"\[]{word}[`'\"\]]|\bparam(?:eter)?s?:? {word}\b"
    match = re.search(plain if "_" in name or len(name) >= 8 else quoted, error)
    return match.start() if match else -1
