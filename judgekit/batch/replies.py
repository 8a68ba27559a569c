"""The files with the replies of jobs: one JSON line for each request, in any order."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from pydantic_core import to_json

from judgekit.judges.wire import MAX_BODY, LateResponse

MAX_LINE = MAX_BODY + 100_000
"""Maximum size of a line in bytes: a response and its envelope."""
_NOT_ABOUT_REQUEST = frozenset({401, 403, 404, 408, 409, 425, 429})
"""Statuses below 500 that say nothing about the request itself; it may be sent again."""


class Place(NamedTuple):
    """Where the line of a reply is in a file, in bytes."""

    start: int
    size: int


def reply_places(path: Path, *, among: Collection[str] | None = None) -> dict[str, Place]:
    """Return where the replies are, by the ids of the requests.

    Lines that are no reply are left out: errors, expired requests, and what is not JSON. Of several
    replies to one request the first counts.

    Args:
        path: the file.
        among: the ids that count, as a set; by default all.
    """
    places: dict[str, Place] = {}
    for place, line in _lines(path):
        id, response = line_reply(line)
        if response is not None and (among is None or id in among):
            places.setdefault(id, place)
    return places


def reply_at(path: Path, place: Place, *, id: str) -> LateResponse | None:
    """Return the reply to a request at a place; `None` if the file was changed."""
    try:
        with path.open("rb") as file:
            file.seek(place.start)
            found, response = line_reply(file.read(place.size))
    except OSError:
        return None
    return response if found == id else None


def _lines(path: Path) -> Iterator[tuple[Place, bytes]]:
    """Yield the lines of a file with their places; longer ones are skipped."""
    if not path.is_file():
        return
    start, skipping = 0, False
    with path.open("rb") as file:
        while line := file.readline(MAX_LINE + 1):
            whole = line.endswith(b"\n") or len(line) <= MAX_LINE
            if whole and not skipping and line.strip():
                yield Place(start, len(line)), line
            skipping = not whole
            start += len(line)


def line_ids(path: Path) -> set[str]:
    """Return the ids of the requests of all lines, also of those that are no reply."""
    return {id for _, line in _lines(path) if (id := line_id(line))}


def line_id(line: bytes) -> str:
    """Return the id of the request of a line; empty if it has none."""
    return line_reply(line)[0]


def line_reply(line: bytes) -> tuple[str, LateResponse | None]:
    """Return the id of a request and the response to it; `None` if the line has no reply.

    The line has OpenAI's form, which Groq, Mistral and vLLM use too, or that of Anthropic.
    """
    try:
        data = json.loads(line)
    except (ValueError, RecursionError):
        return "", None
    id = data.get("custom_id") if isinstance(data, dict) else None
    if not isinstance(id, str):
        return "", None
    if isinstance(result := data.get("result"), dict):
        return id, _of_result(result)
    response = data.get("response")
    if not isinstance(response, dict) or response.get("body") is None:
        return id, None
    return id, _response(response.get("status_code", 200), response["body"])


def _of_result(result: dict[str, Any]) -> LateResponse | None:
    """Return the response in a result of Anthropic."""
    if result.get("type") == "succeeded":
        return _response(200, result.get("message"))
    error = result.get("error")
    inner = error.get("error") if isinstance(error, dict) else None
    kind = inner.get("type") if isinstance(inner, dict) else None
    return _response(400, error) if kind == "invalid_request_error" else None


def _response(status: object, body: object) -> LateResponse | None:
    """Return a response that a live call would take as an answer about its request."""
    if type(status) is not int or not (200 <= status < 300 or 400 <= status < 500):
        return None
    if status in _NOT_ABOUT_REQUEST or not isinstance(body, dict | str):
        return None
    # Not `json.dumps`, which fails for values that are no JSON; the judge sanitises texts.
    data = (
        body.encode(errors="replace")
        if isinstance(body, str)
        else to_json(body, inf_nan_mode="null")
    )
    return LateResponse(status, data)
