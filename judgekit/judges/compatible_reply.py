"""Read the responses of servers that speak OpenAI's protocol the way litellm reads them."""

from __future__ import annotations

import json
import re
from typing import Any

from judgekit.judges.translation import ServerError
from judgekit.judges.wire import Exchange

_FINISH = {
    "stop": """stop stop_sequence end_turn COMPLETE ERROR eos_token eos STOP
        FINISH_REASON_UNSPECIFIED""",
    "length": "length max_tokens compaction MAX_TOKENS model_length",
    "tool_calls": "tool_calls tool_use",
    "function_call": "function_call",
    "content_filter": """content_filter refusal ERROR_TOXIC SAFETY RECITATION LANGUAGE OTHER
        BLOCKLIST PROHIBITED_CONTENT SPII IMAGE_SAFETY sensitive guardrail_intervened""",
}
_FINISHES = {word: reason for reason, words in _FINISH.items() for word in words.split()}
_THOUGHT = re.compile(
    r"<(?:think|thinking|budget:thinking)>(.*?)</(?:think|thinking|budget:thinking)>(.*)",
    re.DOTALL,
)


def chat_reply(data: dict[str, Any], *, prefix: str = "", asked: str = "") -> dict[str, Any]:
    """Return a valid chat response with the fields and names that litellm gives it.

    Args:
        data: the response.
        prefix: what comes before the name of the model.
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
        "finish_reason": _FINISHES.get(finish, "stop") if isinstance(finish, str) else "stop",
        "logprobs": choice.get("logprobs"),
    }


def _tool_call(call: dict[str, Any]) -> dict[str, Any]:
    function = call.get("function") or {}
    arguments = function.get("arguments")
    if not isinstance(arguments, str):
        arguments = json.dumps(arguments) if arguments else ""
    return {"function": {"name": function.get("name"), "arguments": arguments}}


def error_in(data: Any, call: Exchange, *, shown: bytes = b"") -> ServerError:
    """Return the error in the body of a response.

    Args:
        data: the body as JSON; `None` if it is none.
        call: the call.
        shown: the body, for a message if it is not JSON.
    """
    status = call.status
    error = data.get("error", data) if isinstance(data, dict) else None
    if call.good:  # an error in a response with a status of success
        code = error.get("code", 422) if isinstance(error, dict) else 422
        status = code if isinstance(code, int) else None
    message = error.get("message") if isinstance(error, dict) else error
    if isinstance(data, dict) and message is None:
        message = data.get("detail")  # frameworks such as FastAPI answer so
    if isinstance(data, dict) and not isinstance(message, str):
        message = json.dumps(data, ensure_ascii=False)
    text = message if isinstance(message, str) else shown.decode(errors="replace")
    said = json.dumps(data) if data is not None else text
    return ServerError(text, status=status, headers=call.headers, said=said)
