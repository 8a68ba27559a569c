"""Read a raw response of litellm: text, tokens, cost."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel

from judgekit.core.canonical import visible
from judgekit.core.errors import CaseError, InvalidReply, JudgeRefused
from judgekit.core.judgment import parse_try
from judgekit.core.request import Fault, Form, Try, Usage
from judgekit.judges.providers import without


def read_response(
    response: Any, *, tool: str | None, with_logprobs: bool, secrets: tuple[str, ...]
) -> Try:
    """Return the answer as an attempt, without keys that a gateway may have added.

    Args:
        response: as litellm returns it.
        tool: name of the tool that the model had to call, if any.
        with_logprobs: whether the request asked for log-probabilities.
        secrets: texts to remove.
    """
    choices = getattr(response, "choices", None)
    if not choices:
        return Try(text=None, finish=None)
    choice = choices[0]
    message = choice.message
    text = message.content
    calls = getattr(message, "tool_calls", None) or ()
    fault = _fault(choices, calls, tool=tool)
    if calls and fault is None:
        text = calls[0].function.arguments
    refusal = getattr(message, "refusal", None)
    if refusal is None:
        refusal = (getattr(message, "provider_specific_fields", None) or {}).get("refusal")
    logprobs = getattr(choice, "logprobs", None) if with_logprobs else None
    if isinstance(logprobs, BaseModel):
        logprobs = logprobs.model_dump(mode="json", warnings=False)
    thought = getattr(message, "reasoning_content", None)
    return Try(
        text=clean(text, secrets),
        finish=choice.finish_reason,
        refusal=clean(refusal, secrets),
        logprobs=logprobs,
        thought=len(thought) if isinstance(thought, str) else 0,
        fault=None if fault is None or refusal is not None else Fault(message=fault),
    )


def _fault(choices: Sequence[Any], calls: Sequence[Any], *, tool: str | None) -> str | None:
    """Return why the answer is ambiguous; `None` if there is exactly one."""
    if len(choices) > 1:
        return f"the response holds {len(choices)} choices instead of one"
    if len(calls) > 1:
        return f"the response calls {len(calls)} tools instead of one"
    if not calls:
        return None
    name = getattr(getattr(calls[0], "function", None), "name", None)
    if tool is not None and name == tool:
        return None
    shown = " ".join(visible(str(name)).split())[:80]
    expected = f"instead of {tool!r}" if tool else "and none was offered"
    return f"the response calls the tool {shown!r}, {expected}"


def clean(text: object, secrets: tuple[str, ...]) -> str | None:
    """Return a text without secrets, in a form that a file can store."""
    return _storable(without(text, secrets)) if isinstance(text, str) else None


def _storable(text: str) -> str:
    """Return a text with U+FFFD for halves of surrogate pairs, which UTF-8 cannot encode."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def problem_of(attempt: Try, form: Form) -> InvalidReply | None:
    """Return the fault of an answer; `None` if it is valid or a re-ask cannot help.

    A re-ask does not help after a truncated answer or a refusal.
    """
    try:
        parse_try(attempt, form)
    except (JudgeRefused, CaseError):
        return None
    except InvalidReply as exc:
        return None if exc.kind == "truncated" else exc
    return None


class Total:
    """Tokens and dollars of all tries; unknown if one of them is."""

    def __init__(self) -> None:
        self.usage: Usage | None = Usage()
        self.cost: float | None = 0.0

    def add(self, usage: Usage | None, cost: float | None) -> None:
        """Count one response."""
        if usage is None or self.usage is None:
            self.usage = None
        else:
            self.usage = Usage(
                input_tokens=self.usage.input_tokens + usage.input_tokens,
                output_tokens=self.usage.output_tokens + usage.output_tokens,
            )
        self.cost = None if cost is None or self.cost is None else self.cost + cost


def usage_of(response: Any) -> Usage | None:
    """Return the tokens of one response; litellm reports 0 and 0 if the server sent none."""
    usage = getattr(response, "usage", None)
    counts = [getattr(usage, name, None) for name in ("prompt_tokens", "completion_tokens")]
    prompt, completion = (count if isinstance(count, int) and count > 0 else 0 for count in counts)
    return Usage(input_tokens=prompt, output_tokens=completion) if prompt or completion else None


def cost_of(response: Any, *, price: tuple[float, float]) -> float | None:
    """Return the cost of a response at a price per million input and output tokens."""
    usage = usage_of(response)
    if usage is None:
        return None
    return (usage.input_tokens * price[0] + usage.output_tokens * price[1]) / 1_000_000


def listed_cost(response: Any) -> float | None:
    """Return the cost of a response from litellm's table; `None` if it is unknown."""
    cost = (getattr(response, "_hidden_params", None) or {}).get("response_cost")
    return float(cost) if isinstance(cost, (int, float)) else None


def reported_cost(headers: Mapping[str, str]) -> float | None:
    """Return the US dollars in the headers of a LiteLLM proxy; `None` if they are missing."""
    try:
        cost = float(headers.get("x-litellm-response-cost", ""))
    except ValueError:
        return None
    return cost if math.isfinite(cost) and cost >= 0 else None
