"""Read a response in the form of OpenAI's: text, tokens, cost."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from judgekit.core.canonical import visible
from judgekit.core.errors import CaseError, InvalidReply, JudgeRefused
from judgekit.core.judgment import parse_try
from judgekit.core.request import Fault, Form, Try, Usage
from judgekit.judges.translation import without


def read_response(
    data: dict[str, Any], *, tool: str | None, with_logprobs: bool, secrets: tuple[str, ...]
) -> Try:
    """Return the answer as an attempt, without keys that a gateway may have added.

    Args:
        data: the response.
        tool: name of the tool that the model had to call, if any.
        with_logprobs: whether the request asked for log-probabilities.
        secrets: texts to remove.
    """
    choices = data.get("choices")
    if not choices:
        return Try(text=None, finish=None)
    choice = choices[0]
    message = choice["message"]
    text = message.get("content")
    calls = message.get("tool_calls") or ()
    fault = _fault(choices, calls, tool=tool)
    if calls and fault is None:
        text = calls[0]["function"].get("arguments")
    refusal = message.get("refusal")
    if refusal is None:
        refusal = (message.get("provider_specific_fields") or {}).get("refusal")
    logprobs = choice.get("logprobs") if with_logprobs else None
    if isinstance(logprobs, dict):
        logprobs = {**logprobs, "refusal": logprobs.get("refusal")}  # not every server sends it
    thought = message.get("reasoning_content")
    return Try(
        text=clean(text, secrets),
        finish=choice.get("finish_reason"),
        refusal=clean(refusal, secrets),
        logprobs=logprobs,
        thought=len(thought) if isinstance(thought, str) else 0,
        fault=None if fault is None or refusal is not None else Fault(message=fault),
    )


def _fault(
    choices: Sequence[Any], calls: Sequence[dict[str, Any]], *, tool: str | None
) -> str | None:
    """Return why the answer is ambiguous; `None` if there is exactly one."""
    if len(choices) > 1:
        return f"the response holds {len(choices)} choices instead of one"
    if len(calls) > 1:
        return f"the response calls {len(calls)} tools instead of one"
    if not calls:
        return None
    name = (calls[0].get("function") or {}).get("name")
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


def total(spent: Sequence[tuple[Usage | None, float | None]]) -> tuple[Usage | None, float | None]:
    """Return tokens and dollars of one or more responses; unknown if those of one are."""
    if len(spent) == 1:
        return spent[0]
    usages = [usage for usage, _ in spent if usage is not None]
    costs = [cost for _, cost in spent if cost is not None]
    read, written = sum(u.input_tokens for u in usages), sum(u.output_tokens for u in usages)
    usage = Usage(input_tokens=read, output_tokens=written) if len(usages) == len(spent) else None
    return usage, sum(costs) if len(costs) == len(spent) else None


def usage_of(data: Mapping[str, Any]) -> Usage | None:
    """Return the tokens of one response; litellm reports 0 and 0 if the server sent none."""
    usage = data.get("usage")
    usage = usage if isinstance(usage, dict) else {}
    counts = [usage.get(name) for name in ("prompt_tokens", "completion_tokens")]
    prompt, completion = (count if isinstance(count, int) and count > 0 else 0 for count in counts)
    return Usage(input_tokens=prompt, output_tokens=completion) if prompt or completion else None


def cost_of(data: Mapping[str, Any], *, price: tuple[float, float]) -> float | None:
    """Return the cost of a response at a price per million input and output tokens."""
    usage = usage_of(data)
    if usage is None:
        return None
    return (usage.input_tokens * price[0] + usage.output_tokens * price[1]) / 1_000_000


def reported_cost(headers: Mapping[str, str]) -> float | None:
    """Return the US dollars in the headers of a LiteLLM proxy; `None` if they are missing."""
    try:
        cost = float(headers.get("x-litellm-response-cost", ""))
    except ValueError:
        return None
    return cost if math.isfinite(cost) and cost >= 0 else None
