"""A server of judges on this machine, for building the projects of the museum.

It has no model: every reply is a function of the request, so that a museum built twice is the same.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from tests.live.deciding import decide

PORT = 8661
"""The suites of the projects name it."""
_DIMENSIONS = 12
_TOKEN = re.compile(r"\s*\w+|\s*[^\w\s]|\s+")


@contextmanager
def serving() -> Iterator[None]:
    """Serve until the end of the block."""
    server = ThreadingHTTPServer(("127.0.0.1", PORT), _Handler)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        answer = _ANSWERS.get(self.path.rpartition("/")[2])
        self._send(404, {"error": {"message": "no such path"}}) if answer is None else self._send(
            200, answer(body)
        )

    def do_GET(self) -> None:
        self._send(404, {"error": {"message": "no such path"}})

    def _send(self, status: int, body: dict[str, Any]) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        pass


def _pick(*parts: object) -> int:
    """Return a number of the parts, the same in every run: 0..65535."""
    return int(sha256(json.dumps(parts, default=str).encode()).hexdigest()[:4], 16)


def _chat(body: dict[str, Any]) -> dict[str, Any]:
    form = body.get("response_format") or {}
    schema = form.get("json_schema", form).get("schema")
    if body.get("tools"):
        schema = body["tools"][0]["function"]["parameters"]
    if schema is None:
        text = "It is a plain answer."
    else:
        text = json.dumps(_fill(schema, schema, [body["messages"]]))
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if body.get("tools"):
        call = {"name": body["tools"][0]["function"]["name"], "arguments": text}
        message = {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "call_1", "type": "function", "function": call}],
        }
    choice: dict[str, Any] = {"index": 0, "message": message, "finish_reason": "stop"}
    if body.get("logprobs"):
        choice["logprobs"] = {"content": [_token(token) for token in _TOKEN.findall(text)]}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "museum-judge-1",
        "choices": [choice],
        "usage": _usage(json.dumps(body["messages"]), text),
    }


def _token(token: str) -> dict[str, Any]:
    others = [word for word in ("A", "B", "tie") if word != token]
    top = [{"token": token, "logprob": math.log(0.8)}]
    top += [{"token": word, "logprob": math.log(0.1)} for word in others[:2]]
    return {**top[0], "top_logprobs": top}


def _usage(asked: str, text: str) -> dict[str, int]:
    counts = len(asked) // 4, len(text) // 4
    names = ("prompt_tokens", "completion_tokens", "total_tokens")
    return dict(zip(names, (*counts, sum(counts)), strict=True))


def _fill(schema: dict[str, Any], whole: dict[str, Any], path: list[Any]) -> Any:
    """Return a value of a schema that depends on the path to it."""
    if "$ref" in schema:
        return _fill(whole["$defs"][schema["$ref"].rpartition("/")[2]], whole, path)
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return schema["enum"][_pick(*path) % len(schema["enum"])]
    for word in ("anyOf", "oneOf"):
        if word in schema:
            return _fill(schema[word][0], whole, path)
    kind = schema.get("type")
    if kind == "object":
        parts = schema.get("properties", {})
        return {name: _fill(part, whole, [*path, name]) for name, part in parts.items()}
    if kind == "array":
        count = max(schema.get("minItems", 2), min(2, schema.get("maxItems", 2)))
        return [_fill(schema["items"], whole, [*path, n]) for n in range(count)]
    if kind == "boolean":
        return _pick(*path) % 3 > 0
    if kind in ("number", "integer"):
        low, high = schema.get("minimum", 0), schema.get("maximum", 1)
        value = low + (high - low) * (_pick(*path) % 11) / 10
        return round(value) if kind == "integer" else value
    return f"Statement {_pick(*path) % 100}." if kind == "string" else None


def _embeddings(body: dict[str, Any]) -> dict[str, Any]:
    texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
    data = [
        {"object": "embedding", "index": n, "embedding": _vector(text)}
        for n, text in enumerate(texts)
    ]
    usage = {"prompt_tokens": 4 * len(texts), "total_tokens": 4 * len(texts)}
    return {"object": "list", "model": "museum-embedder-1", "data": data, "usage": usage}


def _vector(text: str) -> list[float]:
    """Return the counts of words by their digest, with a constant so that no vector is zero."""
    vector = [0.1] * _DIMENSIONS
    for word in re.findall(r"\w+", text.lower()):
        vector[_pick(word) % _DIMENSIONS] += 1
    return vector


def _completions(body: dict[str, Any]) -> dict[str, Any]:
    """Echo the prompt with log-probabilities of its tokens."""
    text = body["prompt"]
    tokens = _TOKEN.findall(text)
    offsets = [match.start() for match in _TOKEN.finditer(text)]
    logprobs = [None, *(-_pick(token) / 16384 for token in tokens[1:])]
    figures = {"tokens": tokens, "token_logprobs": logprobs, "text_offset": offsets}
    choice = {"index": 0, "text": text, "logprobs": figures, "finish_reason": "length"}
    usage = _usage(text, "")
    return {"object": "text_completion", "model": "m", "choices": [choice], "usage": usage}


def _decisions(body: dict[str, Any]) -> dict[str, Any]:
    text = body.get("input") or body["state"]

    def answers(name: str, options: list[str]) -> list[float]:
        weights = [1 + _pick(text, name, option) % 7 for option in options]
        yes = (1 + _pick(text, name) % 9) / 10
        return [weight / sum(weights) for weight in weights] if options else [yes]

    return decide(body, answers)


_ANSWERS: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "completions": lambda body: _chat(body) if "messages" in body else _completions(body),
    "embeddings": _embeddings,
    "decisions": _decisions,
    "systemone": _decisions,
}
