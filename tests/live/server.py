"""A chat-completions server on this machine that misbehaves as it is told and remembers it all.

What a request gets is decided by a token in its messages (`case-07`): `plan["case-07"]` is a list
of faults, one for each time that token is asked about, oldest first; when the list is used up, or
where there is none, the answer is a good one. `plan["*"]` holds for tokens without an own entry.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import re
import ssl
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

TOKEN = re.compile(r"case-\w+")


@dataclass
class Seen:
    """One request, as it arrived."""

    token: str
    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    arrived: float
    answered: float | None = None
    """When the last byte of the answer was handed to the system, if it ever was."""
    status: int | None = None

    @property
    def said(self) -> str:
        return "\n".join(str(message["content"]) for message in self.body["messages"])


@dataclass(frozen=True)
class Fault:
    """One way to answer. Without any argument it is the good one.

    Args:
        status: of the HTTP response.
        body: what to send instead of a chat completion: an object, or the bytes themselves.
        text: what the model says; `good` answers the schema.
        headers: besides the usual ones.
        delay: seconds before the first byte.
        drip: seconds between two bytes of the body.
        cut: bytes of the body after which the connection is closed.
        reset: close without any answer, rudely.
        change: what to do to the completion before it is sent.
    """

    status: int = 200
    body: Any = None
    text: Callable[[str], str] | str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    drip: float = 0.0
    cut: int | None = None
    reset: bool = False
    change: Callable[[dict[str, Any]], None] | None = None


GOOD = Fault()
PLAIN = "The moon pulls at the sea."
"""What the model says where no form is asked for."""


def error(
    status: int,
    message: str = "no",
    *,
    type: str | None = None,
    code: str | None = None,
    param: str | None = None,
    headers: Mapping[str, str] | None = None,
) -> Fault:
    """Return an error the way OpenAI words one."""
    said = {"error": {"message": message, "type": type, "param": param, "code": code}}
    return Fault(status=status, body=said, headers=headers or {})


class Server:
    """Serves on a thread of its own until it is closed; use it in a `with` statement."""

    def __init__(self, *, latency: float = 0.0, certificate: ssl.SSLContext | None = None) -> None:
        self.certificate = certificate
        """What the server speaks TLS with; without one, plain HTTP."""
        self.plan: dict[str, Iterable[Fault]] = {}
        self.latency = latency
        self.seen: list[Seen] = []
        self.in_flight = 0
        self.most_in_flight = 0
        self.models: list[dict[str, Any]] | None = None
        """What `GET /v1/models` lists; 404 where it is `None`."""
        self.listing: threading.Event | None = None
        """Set once `GET /v1/models` may be answered; at once where it is `None`."""
        self.listed = 0
        """How often that was asked for. These requests are not among `seen`."""
        self.tags: list[dict[str, Any]] | None = None
        """What `GET /api/tags` lists, as Ollama does; 404 where it is `None`."""
        self.tagged = 0
        """How often that was asked for."""
        self.rule: Callable[[dict[str, Any]], Fault | None] | None = None
        """Decides by the body of a request, before any plan."""
        self.echo = False
        """Whether error bodies hold the request's headers, as some gateways do."""
        self._rest: dict[str, Iterator[Fault]] = {}
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="fake-server", daemon=True)
        self._started = threading.Event()
        self._connections: set[asyncio.StreamWriter] = set()
        self.port = 0

    @property
    def base(self) -> str:
        scheme = "https" if self.certificate else "http"
        return f"{scheme}://127.0.0.1:{self.port}/v1"

    def calls(self, token: str | None = None) -> int:
        """Return how many requests came, for one token or in all."""
        return sum(1 for seen in self.seen if token is None or seen.token == token)

    def wait_for(self, calls: int, *, seconds: float = 300.0) -> None:
        """Wait until so many requests have come."""
        end = time.monotonic() + seconds
        while len(self.seen) < calls:
            if time.monotonic() > end:
                raise TimeoutError(f"{len(self.seen)} of {calls} requests came")
            time.sleep(0.005)

    def forget(self) -> None:
        """Forget every request and begin every plan anew."""
        self.seen.clear()
        self._rest.clear()
        self.most_in_flight = 0

    # -- life ---------------------------------------------------------------------

    def __enter__(self) -> Server:
        self._thread.start()
        self._started.wait()
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        server = self._loop.run_until_complete(
            asyncio.start_server(self._serve, "127.0.0.1", 0, limit=2**26, ssl=self.certificate)
        )
        self.port = server.sockets[0].getsockname()[1]
        self._started.set()
        self._loop.run_forever()
        for _ in range(10):
            # A connection that has just come is known, and can be closed, a few steps later.
            self._loop.run_until_complete(asyncio.sleep(0))
        server.close()
        for task in asyncio.all_tasks(self._loop):
            task.cancel()
        for writer in self._connections:
            writer.transport.abort()
        self._loop.run_until_complete(asyncio.sleep(0.01))
        self._loop.close()

    # -- one connection -------------------------------------------------------------

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._connections.add(writer)
        try:
            while (seen := await _request(reader)) is not None:
                if seen.path == "/api/tags":
                    self.tagged += 1
                    body = json.dumps({"models": self.tags}).encode()
                    writer.write(_head(Fault(404 if self.tags is None else 200), len(body)) + body)
                    await writer.drain()
                    continue
                if seen.path.endswith("/models"):
                    self.listed += 1
                    while self.listing is not None and not self.listing.is_set():
                        await asyncio.sleep(0.01)
                    status = 404 if self.models is None else 200
                    body = json.dumps({"object": "list", "data": self.models}).encode()
                    writer.write(_head(Fault(status), len(body)) + body)
                    await writer.drain()
                    continue
                self.seen.append(seen)
                self.in_flight += 1
                self.most_in_flight = max(self.most_in_flight, self.in_flight)
                try:
                    if not await self._answer(seen, writer):
                        return
                finally:
                    self.in_flight -= 1
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            self._connections.discard(writer)
            writer.close()

    def _fault(self, token: str) -> Fault:
        if token not in self._rest:
            self._rest[token] = iter(self.plan.get(token, self.plan.get("*", ())))
        return next(self._rest[token], GOOD)

    async def _answer(self, seen: Seen, writer: asyncio.StreamWriter) -> bool:
        """Answer, and return whether the connection may be used again."""
        ruled = self.rule(seen.body) if self.rule is not None else None
        fault = self._fault(seen.token) if ruled is None else ruled
        await asyncio.sleep(fault.delay + self.latency)
        if fault.reset:
            writer.transport.abort()
            return False
        payload = _payload(seen, fault, echo=self.echo)
        writer.write(_head(fault, len(payload)))
        if fault.cut is not None:
            writer.write(payload[: fault.cut])
            await writer.drain()
            return False
        if fault.drip:
            for byte in payload:
                writer.write(bytes([byte]))
                await writer.drain()
                await asyncio.sleep(fault.drip)
        else:
            writer.write(payload)
        await writer.drain()
        seen.answered = time.monotonic()
        seen.status = fault.status
        return True


async def _request(reader: asyncio.StreamReader) -> Seen | None:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    first, *lines = head.decode("latin-1").split("\r\n")
    headers = {
        name.strip().lower(): value.strip()
        for name, _, value in (line.partition(":") for line in lines if line)
    }
    raw = await reader.readexactly(int(headers.get("content-length", 0)))
    body = json.loads(raw) if raw else {}
    words = " ".join(str(message["content"]) for message in body.get("messages", ()))
    words += " ".join(str(body.get(name, "")) for name in ("input", "state"))
    token = TOKEN.search(words)
    return Seen(
        token=token.group() if token else "",
        path=first.split()[1],
        headers=headers,
        body=body,
        arrived=time.monotonic(),
    )


def _head(fault: Fault, length: int) -> bytes:
    lines = [f"HTTP/1.1 {fault.status:03} Whatever", f"Content-Length: {length}"]
    headers = {"Content-Type": "application/json", **fault.headers}
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def _payload(seen: Seen, fault: Fault, *, echo: bool) -> bytes:
    body = fault.body
    if body is None:
        body = completion(seen.body, fault.text)
        if fault.change is not None:
            fault.change(body)
    if isinstance(body, bytes):
        return body + (json.dumps(seen.headers).encode() if echo else b"")
    if echo and fault.status != 200:
        said = json.dumps(seen.headers)
        body = {"error": {**body["error"], "message": f"{body['error']['message']} {said}"}}
    return json.dumps(body).encode()


# -- what the model says ------------------------------------------------------------


def completion(
    asked: dict[str, Any], text: Callable[[str], str] | str | None = None
) -> dict[str, Any]:
    """Return a chat completion: a good answer, or what `text` makes of it."""
    if isinstance(text, str):
        said = text
    else:
        said = json.dumps(answer_to(asked)) if wants_form(asked) else PLAIN
        said = text(said) if text is not None else said
    message: dict[str, Any] = {"role": "assistant", "content": said}
    if asked.get("tools"):
        call = {"name": asked["tools"][0]["function"]["name"], "arguments": said}
        message["content"] = None
        message["tool_calls"] = [{"id": "call_1", "type": "function", "function": call}]
    choice: dict[str, Any] = {"index": 0, "message": message, "finish_reason": "stop"}
    if asked.get("logprobs"):
        choice["logprobs"] = {
            "content": [{"token": "1", "logprob": -0.25, "bytes": [49], "top_logprobs": []}]
        }
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "fake-model-2026",
        "choices": [choice],
        "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120},
    }


def wants_form(asked: dict[str, Any]) -> bool:
    shown = any("JSON schema:\n" in str(m["content"]) for m in asked["messages"])
    return bool(shown or asked.get("response_format") or asked.get("tools"))


def answer_to(asked: dict[str, Any]) -> Any:
    """Return an answer of the schema a request asks for, wherever it stands."""
    form = asked.get("response_format") or {}
    schema = form.get("json_schema", form).get("schema")
    if schema is None and asked.get("tools"):
        schema = asked["tools"][0]["function"]["parameters"]
    if schema is None:
        content = next(m["content"] for m in asked["messages"] if "JSON schema:\n" in m["content"])
        schema, _ = json.JSONDecoder().raw_decode(content.partition("JSON schema:\n")[2])
    return _fill(schema, schema)


def _fill(schema: dict[str, Any], whole: dict[str, Any], number: int = 0) -> Any:
    """Return a value of a schema; the `number`th of a list takes the `number`th word."""
    if "$ref" in schema:
        return _fill(whole["$defs"][schema["$ref"].rpartition("/")[2]], whole, number)
    for word in ("const", "default"):
        if word in schema:
            return schema[word]
    if "enum" in schema:
        return schema["enum"][number % len(schema["enum"])]
    for word in ("anyOf", "allOf", "oneOf"):
        if word in schema:
            return _fill(schema[word][0], whole)
    kind = schema.get("type")
    if kind == "object":
        parts = schema.get("properties", {})
        return {name: _fill(part, whole, number) for name, part in parts.items()}
    if kind == "array":
        return [_fill(schema["items"], whole, n) for n in range(schema.get("minItems", 0))]
    return {"string": "Because.", "boolean": True, "integer": 1, "number": 1.0, "null": None}[kind]


always = itertools.repeat
"""`plan[token] = always(fault)`: every time."""
