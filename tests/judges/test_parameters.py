"""Which parameter an error is about, in the words of several providers."""

from __future__ import annotations

from typing import Any

from judgekit.judges.parameters import refused_parameters
from tests.each import each

SENT: dict[str, Any] = {
    "temperature": 0.0, "max_tokens": 300, "seed": 7, "stop": ["END"], "top_p": 0.5,
    "logprobs": True, "top_logprobs": 2,
}  # fmt: skip

SAID: dict[str, dict[str, str | None]] = {
    "Unsupported value: 'temperature' does not support 0.0 with this model. Only the default (1) "
    "value is supported.": {"temperature": None},
    "Unsupported parameter: 'max_tokens' is not supported with this model. Use "
    "'max_completion_tokens' instead.": {"max_tokens": "max_completion_tokens"},
    "`temperature` may only be set to 1 when thinking is enabled.": {"temperature": None},
    "`temperature` and `top_p` cannot both be specified for this model.": {"top_p": None},
    "Use only one of `seed` and `top_p`.": {"top_p": None},
    "you are not allowed to request logprobs from this model": {"logprobs": None},
    "top_logprobs: Extra inputs are not permitted": {"top_logprobs": None},
    "Unrecognized request argument supplied: `seed`": {"seed": None},
    "openai does not support parameters: ['seed'], for model=x": {"seed": None},
    "Argument not supported on this model: stop": {},
    "Unknown parameter: stop": {"stop": None},
    "The model will stop serving requests soon": {},
    "temperature must be <= 2": {},
    "max_tokens is too large: 100000. This model supports at most 16384 completion tokens": {},
    "the prompt is malformed": {},
    "max_tokens_to_sample is required": {},
}


@each("said", SAID)
def test_parameters_are_told_by_what_is_said(said: str) -> None:
    assert refused_parameters(said, SENT) == SAID[said]


def test_limit_that_is_sent_by_both_names_is_not_renamed() -> None:
    said = "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported."
    sent = {"max_tokens": 1, "max_completion_tokens": 1}

    assert refused_parameters(said, sent) == {"max_tokens": None}


def test_parameter_that_was_not_sent_is_not_refused() -> None:
    assert refused_parameters("'temperature' is not supported", {"seed": 1}) == {}
