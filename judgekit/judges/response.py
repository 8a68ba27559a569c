"""Read responses in OpenAI's protocol: text, tokens, cost, faults."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from judgekit.core.canonical import visible
from judgekit.core.errors import CaseError, InvalidReply, JudgeRefused
from judgekit.core.judgment import parse_try
from judgekit.core.replies.text import omitted_of
from judgekit.core.request import Fault, Form, Try, Usage
from judgekit.core.sanitiser import Sanitiser
from judgekit.core.thoughts import thought_parts
from judgekit.judges.contradiction import contradiction
from judgekit.judges.outcomes import (
    ErrorBody,
    error_body,
    error_in_success,
    finish_means,
    meaning_of,
    status_for,
)
from judgekit.judges.price import TokenCounts
from judgekit.judges.translation import MAX_DETAIL, ServerError
from judgekit.judges.wire import KEPT, Exchange


def read_response(
    data: dict[str, Any],
    *,
    form: Form,
    tool: str | None,
    with_logprobs: bool,
    sanitiser: Sanitiser,
) -> Try:
    """Return the answer as an attempt.

    Args:
        data: the response, sanitised.
        form: what was asked.
        tool: name of the tool that the model had to call, if any.
        with_logprobs: whether the request asked for log-probabilities.
        sanitiser: cleans the text again, because it may be joined from parts.
    """
    if not (choices := data.get("choices")):
        return Try(text=None, finish=None)
    choice = choices[0]
    message = choice["message"]
    text = message.get("content")
    calls = message.get("tool_calls") or ()
    fault = _fault(choices, calls, tool=tool)
    if calls and form.want == "verdict":
        places = {"the content": text}
        for number, call in enumerate(calls, 1):
            place = "the tool call" if len(calls) == 1 else f"tool call {number}"
            places[place] = call["function"].get("arguments")
        fault = contradiction(places, form) or fault
    if calls and fault is None:
        text = calls[0]["function"].get("arguments")
    refusal = _filled(message.get("refusal"))
    if refusal is None:
        refusal = _filled((message.get("provider_specific_fields") or {}).get("refusal"))
    logprobs = choice.get("logprobs") if with_logprobs else None
    if isinstance(logprobs, dict):
        logprobs = {**logprobs, "refusal": logprobs.get("refusal")}  # some servers omit it
    thought = message.get("reasoning_content")
    return Try(
        text=sanitiser.text(text) if isinstance(text, str) else None,
        finish=choice.get("finish_reason"),
        refusal=refusal if isinstance(refusal, str) else None,
        logprobs=logprobs,
        thought=len(thought) if isinstance(thought, str) else 0,
        fault=None if fault is None or refusal is not None else Fault(message=fault),
    )


def _filled(value: object) -> object:
    """Return an optional field of a response; an empty one is as good as none."""
    return None if isinstance(value, str) and not value.strip() else value


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
    """Return tokens and dollars of one or more responses; unknown if one of them is unknown."""
    if len(spent) == 1:
        return spent[0]
    usages = [usage for usage, _ in spent if usage is not None]
    costs = [cost for _, cost in spent if cost is not None]
    summed = {name: sum(getattr(usage, name) for usage in usages) for name in Usage.model_fields}
    usage = Usage(**summed) if len(usages) == len(spent) else None
    return usage, sum(costs) if len(costs) == len(spent) else None


def sum_of(numbers: Sequence[float | None]) -> float | None:
    """Return the sum of the numbers that are known; `None` if none is."""
    known = [number for number in numbers if number is not None]
    return math.fsum(known) if known else None


def usage_of(data: Mapping[str, Any]) -> Usage | None:
    """Return the tokens of one response; litellm reports 0 and 0 if the server sent none.

    `None` also if one count is no possible number: the other would be half of the truth.
    """
    usage = data.get("usage")
    prompt, completion = count_in(usage, "prompt_tokens"), count_in(usage, "completion_tokens")
    if prompt is None or completion is None or not (prompt or completion):
        return None
    counts = counts_in(data)
    return Usage(
        input_tokens=prompt,
        output_tokens=completion,
        cache_read_tokens=0 if counts is None else counts.cache_read,
        cache_write_tokens=0 if counts is None else counts.cache_write,
    )


def counts_in(data: Mapping[str, Any]) -> TokenCounts | None:
    """Return the tokens of one response; `None` if there are none, or one count is impossible."""
    usage = data.get("usage")
    if not isinstance(usage, dict):
        return None
    read = usage.get("prompt_tokens_details") or {}
    written = usage.get("completion_tokens_details") or {}
    kept = read.get("cache_creation_token_details") if isinstance(read, dict) else None
    places = [
        (usage, "prompt_tokens"),
        (usage, "completion_tokens"),
        (read, "cached_tokens"),
        (read, "cache_write_tokens"),
        (read, "cache_creation_tokens"),
        (kept, "ephemeral_1h_input_tokens"),
        (written, "reasoning_tokens"),
        *((part, f"{kind}_tokens") for kind in _OTHER_KINDS for part in (read, written)),
    ]
    counts = [count_in(place, name) for place, name in places]
    if None in counts:
        return None
    prompt, completion, cached, wrote, created, long, reasoning, *other = (n or 0 for n in counts)
    tier = data.get("service_tier")
    wrote = wrote or created
    return TokenCounts(
        prompt,
        completion,
        cached,
        max(wrote, long),
        long,
        reasoning,
        sum(other),
        tier.lower() if isinstance(tier, str) and tier.lower() not in STANDARD_TIERS else None,
    )


_OTHER_KINDS = ("audio", "image", "video")
STANDARD_TIERS = frozenset({"", "auto", "default", "standard", "standard_only"})
"""Names of the standard tier in requests and responses."""
MOST_TOKENS = 10**12
"""Maximum count of tokens; a larger one is no count."""
_NUMBER = re.compile(r"([0-9]{1,20})(?:\.0{1,6})?\Z")


def count_in(usage: object, name: str) -> int | None:
    """Return a count of tokens: 0 if it is missing, `None` if it is no possible count."""
    count = usage.get(name) if isinstance(usage, dict) else None
    if count is None:
        return 0
    if isinstance(count, str) and (number := _NUMBER.match(count)) is not None:
        count = int(number[1])  # some gateways send numbers as texts
    elif isinstance(count, float) and count.is_integer():
        count = int(count)
    return count if type(count) is int and 0 <= count <= MOST_TOKENS else None


def reported_cost(headers: Mapping[str, str]) -> float | None:
    """Return the US dollars in the headers of a LiteLLM proxy; `None` if they are missing."""
    try:
        cost = float(headers.get("x-litellm-response-cost", ""))
    except ValueError:
        return None
    return cost if math.isfinite(cost) and cost >= 0 else None


_THOUGHT = re.compile(
    r"<(?:think|thinking|budget:thinking)>(.*?)</(?:think|thinking|budget:thinking)>(.*)",
    re.DOTALL,
)


def chat_reply(data: dict[str, Any], *, prefix: str = "", asked: str = "") -> dict[str, Any]:
    """Return a valid chat response with the fields and names that litellm gives it.

    Args:
        data: the response.
        prefix: prefix of the model's name.
        asked: the name of the model, if the server does not report one and there is a prefix.
    """
    model = data.get("model") or (asked if prefix else None)
    model = prefix + model if isinstance(model, str) else None
    choices = [_choice(choice) for choice in data["choices"]]
    return {**data, "model": model, "choices": choices}


def _choice(choice: dict[str, Any]) -> dict[str, Any]:
    message = choice["message"]
    text, thought = message.get("content"), message.get("reasoning_content")
    if "reasoning_content" not in message:
        thought = message.get("reasoning")
        if "reasoning" not in message and text and (match := _THOUGHT.match(text)):
            thought, text = match.groups()
    calls = [_tool_call(call) for call in message.get("tool_calls") or ()]
    finish = choice.get("finish_reason") or choice.get("finish_details") or "stop"
    if calls and finish == "stop":
        finish = "tool_calls"
    return {
        "message": {
            "content": text,
            "tool_calls": calls,
            "refusal": message.get("refusal"),
            "reasoning_content": thought,
        },
        "finish_reason": finish_means(finish) or "stop",
        "logprobs": choice.get("logprobs"),
    }


def _tool_call(call: dict[str, Any]) -> dict[str, Any]:
    function = call.get("function") or {}
    arguments = function.get("arguments")
    if not isinstance(arguments, str):
        arguments = json.dumps(arguments) if arguments else ""
    return {"function": {"name": function.get("name"), "arguments": arguments}}


def error_in(data: Any, call: Exchange) -> ServerError:
    """Return the error in the body of a response.

    Args:
        data: the body as JSON; `None` if it is not JSON.
        call: the call.
    """
    error = data.get("error", data) if isinstance(data, dict) else None
    message = error.get("message") if isinstance(error, dict) else error
    if isinstance(data, dict) and message is None:
        message = data.get("detail")  # the key of frameworks such as FastAPI
    if isinstance(data, dict) and not isinstance(message, str):
        message = json.dumps(data, ensure_ascii=False)
    text = message if isinstance(message, str) else call.text
    detail = json.dumps(data) if data is not None else text
    return ServerError(text, status=call.status, headers=call.headers, detail=detail)


def page_error(call: Exchange) -> ServerError:
    """Return the error of a response that is a page for people instead of an answer."""
    text = call.text[:MAX_DETAIL]
    message = f"a page instead of an answer, as firewalls and proxies send: {text}"
    if call.good:
        kind = (call.headers.get("content-type") or "no type").partition(";")[0]
        message = f"the response is not a JSON object ({kind}): {text}"
    return ServerError(message, status=call.status, headers=call.headers, detail=message)


def is_stream(call: Exchange) -> bool:
    """Return whether a response is a stream of events, which was not asked for."""
    return call.headers.get("content-type", "").lower().startswith("text/event-stream")


def stream_error(call: Exchange) -> ServerError:
    """Return the error of a server that streams every answer."""
    message = (
        "the server streams its answer (text/event-stream), which was not asked for; turn that off"
        " at the server or gateway"
    )
    return ServerError(message, status=call.status, headers=call.headers, detail=message)


def quoted_error(data: Any) -> str:
    """Return the error of the provider that OpenRouter quotes beside its own; empty without."""
    error = data.get("error") if isinstance(data, dict) else None
    metadata = error.get("metadata") if isinstance(error, dict) else None
    raw = metadata.get("raw") if isinstance(metadata, dict) else None
    return raw if isinstance(raw, str) else ""


def odd_error(call: Exchange) -> ServerError:
    """Return the error of a response with a status that no response to a request may have."""
    text = call.text[:MAX_DETAIL]
    message = f"no status of a response: {text}" if text else "no status of a response"
    return ServerError(message, status=call.status, headers=call.headers, detail=message)


def hidden_error(data: dict[str, Any], call: Exchange) -> ServerError | None:
    """Return the error in a response with a success status; `None` if it is an answer.

    Its status is the one that the error stands for; `None`, as for an outage, if it names none.
    """
    error = error_in_success(data)
    if error is None and data.get("choices") == []:
        if count_in(data.get("usage"), "completion_tokens"):
            return None  # the model answered with nothing
        error = ErrorBody(message="the response has no choice")
    if error is None:
        return None
    message = error.message or f"error {' '.join(error.codes)}"
    detail = json.dumps(data)[:MAX_DETAIL]
    return ServerError(message, status=status_for(error), headers=call.headers, detail=detail)


def dropped_try(call: Exchange) -> Try | None:
    """Return the attempt of a reply that the provider dropped because it is invalid.

    `None` if the error of the response is about something else.
    """
    error = error_body(call.json())
    if meaning_of(call.status, error) != "invalid_reply":
        return None
    message = " ".join(visible(error.message).split())[:200]
    fault = Fault(message=f"the provider dropped the reply: {message or error.codes[0]}")
    text = error.generation or ""
    return Try(text=text[:KEPT], fault=fault, omitted=omitted_of(text, kept=KEPT))


_ANSWER = ("choices", "usage", "data", "candidates", "content", "embedding", "embeddings", "done")
"""Fields of answers of all providers; errors have none of them."""


UNREAD = "the response could not be read"
"""Begin of the fault of a response in which judgekit finds no error, but a library does."""


def malformed_try(call: Exchange, *, unread: str | None = None) -> Try | None:
    """Return the attempt of a malformed response.

    `None` if it was not an answer: an error, a page of a proxy, or a truncated body.

    Args:
        call: the call.
        unread: the error of the library that read the response, with its name.
    """
    if call.omitted is not None:
        return Try(text=call.start, fault=Fault(message=call.too_large), omitted=call.omitted)
    data = call.data()
    if data is None or hidden_error(data, call) or not any(name in data for name in _ANSWER):
        return None
    text = call.text
    # Responses in other protocols than OpenAI's have no choices; only the library reads those.
    reason = fault_in(data) if "choices" in data or unread is None else None
    message = f"the response is malformed: {reason or 'a field is missing or has the wrong type'}"
    if reason is None and unread is not None:
        message = f"{UNREAD}: {' '.join(visible(call.sanitiser.text(unread)).split())}"[:400]
    fault = Fault(message=message)
    return Try(text=text[:KEPT], fault=fault, omitted=omitted_of(text, kept=KEPT))


def chat_in(data: dict[str, Any] | None) -> dict[str, Any] | None:
    """Return a chat response without any fault in the form that `chat_reply` gives it, else none.

    `None` also for errors and for responses without a choice.
    """
    if data is None or not data.get("choices") or error_in_success(data):
        return None
    return chat_reply(data) if fault_in(data) is None else None


def fault_in(data: dict[str, Any]) -> str | None:
    """Return the format error of a chat response; `None` if there is none."""
    choices = data.get("choices")
    if not isinstance(choices, list):
        return f"choices is {_kind(choices)}, not a list"
    for choice in choices:
        message = choice.get("message") if isinstance(choice, dict) else None
        if not isinstance(message, dict):
            return "a choice without a message"
        content = message.get("content")
        if not (content is None or isinstance(content, str)):
            return f"the content of its message is {_kind(content)}, not a text"
        calls = message.get("tool_calls")
        if calls is not None and not _are_calls(calls):
            return f"its tool calls are {_kind(calls)} of another form"
    usage = data.get("usage")
    if not (usage is None or isinstance(usage, dict)):
        return f"usage is {_kind(usage)}, not an object"
    return None


def _are_calls(calls: object) -> bool:
    return isinstance(calls, list) and all(
        isinstance(call, dict) and isinstance(call.get("function"), dict) for call in calls
    )


def _kind(value: object) -> str:
    names = {bool: "true or false", list: "a list", dict: "an object", str: "a text"}
    return "null" if value is None else names.get(type(value), "a number")


def parts_joined(data: dict[str, Any] | None) -> dict[str, Any] | None:
    """Join the content of a chat response if it is a list of texts.

    Some servers send `[{"type": "text", "text": ...}, ...]`, with thoughts between the texts, which
    are left out. Return `None` for other responses.
    """
    choices = (data or {}).get("choices")
    if data is None or not isinstance(choices, list) or not choices or error_in_success(data):
        return None
    joined = []
    for choice in choices:
        message = choice.get("message") if isinstance(choice, dict) else None
        parts = message.get("content") if isinstance(message, dict) else None
        texts = [_text_of(part) for part in parts] if isinstance(parts, list) else [None]
        if not isinstance(message, dict) or None in texts:
            return None
        joined.append({**choice, "message": {**message, "content": "".join(filter(None, texts))}})
    whole = {**data, "choices": joined}
    return chat_reply(whole) if fault_in(whole) is None else None


def _text_of(part: object) -> str | None:
    """Return the text of a part, empty for a thought; `None` if it is something else."""
    if isinstance(part, str):
        return part
    kind = part.get("type") if isinstance(part, dict) else None
    if not isinstance(part, dict) or not isinstance(kind, str):
        return None
    if kind in thought_parts():
        return ""
    text = part.get("text") if kind in ("text", "output_text") else None
    return text if isinstance(text, str) else None
