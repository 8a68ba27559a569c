"""What the responses of providers mean, by the table in `data/outcomes.json`.

The table is the only place that knows a provider's codes and words: another provider is a row. It
is closed: only the meanings in `RECORDED` may be recorded, and whatever no row names is not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

from judgekit.core.canonical import json_value
from judgekit.core.sourced import FactTables, read_tables

Meaning = Literal[
    "account", "refused", "context", "content", "invalid_reply", "unavailable", "rejected"
]
"""What an error is about: the account (all requests), a policy about the content, the length of the
request, something else in its content, a reply that the provider dropped, or an outage. `rejected`
means that the response does not say whether it is about this request or about all."""
RECORDED: frozenset[Meaning] = frozenset({"refused", "context", "content", "invalid_reply"})
"""The meanings that prove that the same request gets the same response again."""

_DATA = Path(__file__).with_name("data") / "outcomes.json"
_MAX_TEXT = 4_000
"""Maximum number of characters of a message to search."""
_MAX_DEPTH = 3
"""Maximum number of errors inside an error: gateways quote the error of the server behind them."""


class ErrorBody(NamedTuple):
    """The error in the body of a response."""

    codes: tuple[str, ...] = ()
    """Its codes and types, the outermost first."""
    message: str = ""
    generation: str | None = None
    """The reply that the provider dropped, if it quotes it."""


class _OutcomeRow(NamedTuple):
    meaning: Meaning
    statuses: frozenset[int]
    codes: frozenset[str]
    words: tuple[str, ...]

    def matches(self, status: int | None, error: ErrorBody, text: str) -> bool:
        if self.statuses and status not in self.statuses:
            return False
        return not self.codes.isdisjoint(error.codes) or any(word in text for word in self.words)


@cache
def _table() -> FactTables:
    return read_tables(_DATA)


@cache
def _statuses() -> dict[str, int]:
    return {name: row["status"] for row in _table()["statuses"] for name in row["types"]}


@cache
def _rows() -> tuple[_OutcomeRow, ...]:
    return tuple(
        _OutcomeRow(
            row["outcome"],
            frozenset(row.get("status", ())),
            frozenset(row.get("codes", ())),
            tuple(row.get("words", ())),
        )
        for row in _table()["outcomes"]
    )


def meaning_of(status: int | None, error: ErrorBody) -> Meaning | None:
    """Return what an error means by its codes and words; `None` if no row names them.

    Args:
        status: the HTTP status, 200 for an error in a response with a success status; `None` if
            there was no response.
        error: the error in the body.
    """
    text = error.message[:_MAX_TEXT].lower()
    return next((row.meaning for row in _rows() if row.matches(status, error, text)), None)


def meaning_of_status(status: int) -> Meaning:
    """Return what a status alone means, for an error that no row of `outcomes` names."""
    for row in _table()["by_status"]:
        if row["from"] <= status <= row["to"]:
            meaning: Meaning = row["outcome"]
            return meaning
    return "rejected"


_PAGES = ("<!doctype html", "<html", "<head", "<body")


def is_page(body: str) -> bool:
    """Return whether a body is a page for people: of a firewall, a proxy or a login.

    Its words are about no account, and it may quote the request, so only its status counts.
    """
    return body[:_MAX_TEXT].lstrip().lower().startswith(_PAGES)


def status_for(error: ErrorBody) -> int | None:
    """Return the HTTP status that an error in a response with a success status stands for.

    It is the error's numeric code, or that of its type. `None` if it has neither: then it is an
    outage, because nothing shows that it is about the request.
    """
    named = _statuses()
    for code in error.codes:
        if code.isascii() and code.isdigit() and 400 <= int(code[:6]) <= 599:
            return int(code)
        if code in named:
            return named[code]
    return None


def error_body(data: Any) -> ErrorBody:
    """Return the error in the JSON of a response, in any of the forms that providers use."""
    codes: list[str] = []
    messages: list[str] = []
    generation = None
    for part in _errors_in(data, _MAX_DEPTH):
        if isinstance(part, str):
            messages.append(part)
            continue
        for name in ("code", "type", "status", "reason"):
            if isinstance(value := part.get(name), str | int) and not isinstance(value, bool):
                codes.append(str(value)[:200])
        for name in ("message", "detail", "msg", "error_msg"):
            if isinstance(value := part.get(name), str):
                messages.append(value)
        if isinstance(value := part.get("failed_generation"), str):
            generation = value
    if isinstance(data, dict):
        for place in _table()["places"]:
            code, message = _at(data, place["code"]), _at(data, place["message"])
            if code is None or code in place["none"]:
                continue
            name = place["code"].partition(".")[0]
            codes.append(str(code)[:200])
            codes.append(f"{name}:{code}"[:200])
            if isinstance(message, str):
                messages.append(message)
    return ErrorBody(tuple(dict.fromkeys(codes)), " ".join(dict.fromkeys(messages)), generation)


def _errors_in(data: Any, depth: int) -> Iterator[dict[str, Any] | str]:
    """Yield the errors in a body, the outermost first, and those that a gateway quotes."""
    if isinstance(data, list):  # Gemini puts its error into a list
        data = data[0] if len(data) == 1 else None
    if not isinstance(data, dict) or depth == 0:
        return
    error = data.get("error")
    if isinstance(error, str):
        yield error
    whole = error if isinstance(error, dict) else data
    yield whole
    for name in ("innererror", "metadata", "details"):
        inner = whole.get(name)
        for part in inner if isinstance(inner, list) else [inner]:
            if isinstance(part, dict):
                yield part
                quoted = part.get("raw")
                if isinstance(quoted, str):
                    raw = json_value(quoted)
                    yield quoted
                    yield from _errors_in(raw, depth - 1)


def error_in_success(data: Mapping[str, Any]) -> ErrorBody | None:
    """Return the error in a response with a success status; `None` if it is an answer.

    Providers put errors into such responses at the top, into a choice, or beside an empty list of
    choices.
    """
    if data.get("error"):
        return error_body(dict(data))
    choices = data.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    if isinstance(choice, dict):
        if choice.get("error"):
            return error_body({"error": choice["error"]})
        reasons = (choice.get("finish_reason"), choice.get("native_finish_reason"))
        for reason in reasons:
            if finish_means(reason) == "unavailable" or _ended_oddly(choice, reason):
                return ErrorBody((str(reason)[:200],), f"the reply ended with {str(reason)[:80]!r}")
        return None
    for place in _table()["places"]:
        code = _at(data, place["code"])
        if code is not None and code not in place["none"]:
            return error_body(dict(data))
    if not choices and "choices" in data:
        told = error_body(dict(data))
        if meaning_of(200, told) is not None:
            return told
    return None


def _ended_oddly(choice: Mapping[str, Any], reason: object) -> bool:
    """Return whether a choice has neither an answer nor a known reason for having none."""
    message = choice.get("message")
    if not isinstance(reason, str) or not reason or finish_means(reason) is not None:
        return False
    return isinstance(message, dict) and not any(
        message.get(name) for name in ("content", "tool_calls", "function_call", "refusal")
    )


def finish_means(reason: object) -> str | None:
    """Return what a finish reason means, such as `stop` or `length`; `None` if it is unknown."""
    return _finishes().get(reason) if isinstance(reason, str) else None


def finish_in(data: Mapping[str, Any]) -> str | None:
    """Return the finish reason in the body of a response, in the protocols that litellm speaks.

    >>> finish_in({"type": "message", "stop_reason": "end_turn"})
    'end_turn'
    """
    for path in _FINISH_PATHS:
        value: Any = data
        for step in path:
            if isinstance(step, int):
                value = value[step] if isinstance(value, list) and value else None
            else:
                value = value.get(step) if isinstance(value, dict) else None
        if isinstance(value, str) and value:
            return value
    return None


_FINISH_PATHS: tuple[tuple[str | int, ...], ...] = (
    ("choices", 0, "finish_reason"),  # OpenAI
    ("stop_reason",),  # Anthropic
    ("candidates", 0, "finishReason"),  # Gemini
    ("stopReason",),  # Bedrock
    ("done_reason",),  # Ollama
    ("incomplete_details", "reason"),  # OpenAI Responses
    ("finish_reason",),  # Cohere
)


def refusal_in(data: Mapping[str, Any]) -> str | None:
    """Return the refusal in a response of OpenAI's Responses API; `None` if there is none."""
    output = data.get("output")
    for item in output if isinstance(output, list) else ():
        content = item.get("content") if isinstance(item, dict) else None
        for part in content if isinstance(content, list) else ():
            if isinstance(part, dict) and part.get("type") == "refusal":
                refusal = part.get("refusal")
                return refusal if isinstance(refusal, str) and refusal.strip() else None
    return None


@cache
def _finishes() -> dict[str, str]:
    return {word: row["means"] for row in _table()["finishes"] for word in row["reasons"]}


def _at(data: Mapping[str, Any], path: str) -> Any:
    """Return the value at a path of keys; `None` if there is none or it is no plain value."""
    value: Any = data
    for name in path.split("."):
        value = value.get(name) if isinstance(value, dict) else None
    return value if isinstance(value, str | int) and not isinstance(value, bool) else None
