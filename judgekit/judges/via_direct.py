"""Send requests in OpenAI's protocol with aiohttp.

For the providers in `providers`, bodies are equal to those of litellm and instructor.
"""

from __future__ import annotations

import os
from contextlib import nullcontext
from importlib import import_module
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from pydantic_core import to_json

from judgekit.core.request import Form
from judgekit.judges import connections
from judgekit.judges.connecting import aiohttp_trace
from judgekit.judges.output_mode import Mode, format_of
from judgekit.judges.prices import listed_cost
from judgekit.judges.providers import Provider
from judgekit.judges.response import chat_reply, error_in, fault_in, hidden_error
from judgekit.judges.sent_schema import SentSchema, sent_schema
from judgekit.judges.translation import CONNECT_SECONDS, ServerError
from judgekit.judges.transport import NAME, Response, Sending, Server, Via
from judgekit.judges.wire import ENCODINGS, BodyError, Exchange, LateResponse, LiveCall

if TYPE_CHECKING:
    import aiohttp

_DESCRIPTION = "Correctly extracted `Verdict` with all the required parameters with correct types"
"""instructor's description of the tool."""
_MAX_HEADER = 1 << 16
"""Maximum size of a header line, in bytes."""


class DirectTransport:
    """Sends requests over HTTP, with one session for each server and event loop."""

    def __init__(self, server: Server, provider: Provider, *, reason: str) -> None:
        self.via: Via = "direct"
        self.reason = reason
        self._server = server
        self._provider = provider
        self._name = server.model.partition("/")[2]
        self._base = (server.api_base or provider.address or "").rstrip("/")
        self._context: Any = None

    def load(self) -> None:
        """Import aiohttp, and read the certificates and the price if they are needed."""
        import_module("aiohttp")
        if self._base.startswith("https://"):
            self._context = connections.certificates()
        if self._server.api_base is None:
            listed_cost(self._server.model, {})

    def missing_keys(self) -> list[str]:
        """Return the missing environment variable of a hosted provider."""
        name = self._provider.key
        return [name] if name is not None and not os.environ.get(name) else []

    def known_parameters(self) -> frozenset[str] | None:
        """Return the parameters of the provider that are sent unchanged."""
        return self._provider.parameters

    async def chat(
        self, messages: list[dict[str, Any]], form: Form, mode: Mode, sending: Sending
    ) -> Response:
        """Ask for a reply to a form."""
        body = {"messages": messages, "model": self._name}
        rest = self._encoded_format(form, mode, sent_schema(form, sending.rules))
        data = await self._post("/chat/completions", body, sending, rest=rest)
        if (fault := fault_in(data)) is not None:
            raise ServerError(f"the response is malformed: {fault}")
        reply = chat_reply(data, prefix=self._provider.prefix, asked=self._name)
        cost = None
        if self._server.api_base is None:
            cost = listed_cost(self._server.model, reply)
        return Response(reply, cost=cost)

    async def embed(self, texts: list[str], sending: Sending) -> Response:
        """Ask for the vectors of texts."""
        body = {"model": self._name, "input": texts}
        return Response(await self._post("/embeddings", body, sending))

    async def echo(self, text: str, sending: Sending) -> Response:
        """Ask the completions endpoint to repeat a text."""
        body = {"model": self._name, "prompt": text}
        return Response(await self._post("/completions", body, sending))

    async def decide(self, path: str, body: dict[str, Any], sending: Sending) -> Response:
        """Ask a decision endpoint; the response keeps its raw body under `body`."""
        data = await self._post(path, {"model": self._name, **body}, sending)
        usage = data.get("usage")
        names = {"prompt_tokens": "input_tokens", "completion_tokens": "output_tokens"}
        counts = usage if isinstance(usage, dict) else {}
        tokens = {name: counts.get(other) for name, other in names.items()}
        text = sending.call.text
        return Response({"body": text, "model": data.get("model"), "usage": tokens})

    def _encoded_format(self, form: Form, mode: Mode, sent: SentSchema) -> bytes:
        """Return the end of a body, which asks for the form; it is the longest part."""
        name = f"_direct_{mode}_{self._provider.open_tools}_{sent.of}"
        data: bytes | None = form.__dict__.get(name)
        if data is None:
            data = form.__dict__[name] = to_json(self._format(sent, mode))[1:-1]
        return data

    def _format(self, sent: SentSchema, mode: Mode) -> dict[str, Any]:
        """Return the part of a body that asks for the form."""
        if mode == "json_schema":
            return {"response_format": sent.response_format(NAME)}
        whole = sent.json_schema
        if mode != "tools":
            return format_of(whole, mode)
        # Like instructor, use the title and description of the schema for the tool.
        schema = {k: v for k, v in whole.items() if k not in ("title", "description")}
        schema["required"] = sorted(whole.get("required", ()))
        if self._provider.open_tools:
            schema = _open(schema)
        description = whole.get("description", _DESCRIPTION)
        tool = {"name": NAME, "description": description, "parameters": schema}
        if sent.strict_tools and not self._provider.open_tools:
            tool["strict"] = True
        return {
            "tool_choice": {"type": "function", "function": {"name": NAME}},
            "tools": [{"type": "function", "function": tool}],
        }

    # -- one request ------------------------------------------------------------------

    async def _post(
        self, path: str, body: dict[str, Any], sending: Sending, *, rest: bytes = b""
    ) -> dict[str, Any]:
        """Send a request; return the JSON object of the response.

        Args:
            path: the path after the address.
            body: the body.
            sending: its parameters, key and call.
            rest: additional fields as JSON.

        Raises:
            ServerError: there is no response, or it is an error.
        """
        import aiohttp

        params = dict(sending.params)
        extra = params.pop("extra_body", None) or {}
        body |= params | (extra if isinstance(extra, dict) else {})
        data = to_json(body)
        if rest:
            data = b"%b,%b}" % (data[:-1], rest)
        name = self._provider.key or ""
        key = sending.key or ("none" if self._server.api_base else os.environ.get(name, ""))
        own = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        headers = {**sending.headers, **own}
        call = sending.call
        if sending.late is not None:
            return _read_late(call, sending.late.answer(LiveCall(self._base + path, data)))
        known = connections.shared(self._base)
        new = connections.new_client(self._base, self._session) if known is None else None
        try:
            async with (
                new or nullcontext(known) as session,
                session.post(
                    self._base + path, data=data, headers=headers, allow_redirects=False
                ) as response,
            ):
                reader = call.begin(response.status, response.headers)
                async for part in response.content.iter_any():
                    for _ in reader.feed(part):
                        pass
                    if reader.full:
                        break
                reader.finish()
                if not 200 <= response.status <= 599:
                    response.close()  # its body may follow as the response of the next request
        except (aiohttp.ClientError, OSError) as exc:
            raise ServerError("Connection error.") from exc
        except BodyError as exc:
            raise ServerError(str(exc)) from exc
        return _object_in(call)

    def _session(self) -> aiohttp.ClientSession:
        """Return a session that keeps connections alive and stores no cookies."""
        import aiohttp

        return aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, ssl=self._context or True),
            cookie_jar=aiohttp.DummyCookieJar(),
            # The caller limits the time of a whole call.
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_SECONDS),
            auto_decompress=False,
            headers={"Accept": "application/json", "Accept-Encoding": ENCODINGS},
            max_line_size=_MAX_HEADER,
            max_field_size=_MAX_HEADER,
            proxy=_proxy(self._base),
            trace_configs=[aiohttp_trace(urlsplit(self._base).netloc.rpartition("@")[2])],
        )


def _read_late(call: Exchange, late: LateResponse) -> dict[str, Any]:
    """Read a response that came in a file, as if the server had sent it."""
    try:
        reader = call.begin(late.status, {"Content-Type": "application/json"})
        for _ in reader.feed(late.body):
            pass
        reader.finish()
    except BodyError as exc:
        raise ServerError(str(exc)) from exc
    return _object_in(call)


def _object_in(call: Exchange) -> dict[str, Any]:
    """Return the JSON object of a response.

    Raises:
        ServerError: the response is an error, or no object.
    """
    received = call.json()
    if not call.good:
        raise error_in(received, call)
    if not isinstance(received, dict):
        kind = (call.headers.get("content-type") or "no type").partition(";")[0]
        raise ServerError(f"the response is not a JSON object ({kind}): {call.text[:200]}")
    if (hidden := hidden_error(received, call)) is not None:
        raise hidden
    return received


def _open(schema: Any) -> Any:
    """Return a schema without `additionalProperties` and `strict`, as litellm sends it to vLLM."""
    if isinstance(schema, list):
        return [_open(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    left_out = ("additionalProperties", "strict")
    return {name: _open(part) for name, part in schema.items() if name not in left_out}


def _proxy(base: str) -> str | None:
    """Return the proxy that the environment names for an address."""
    from urllib.request import getproxies, proxy_bypass

    parts = urlsplit(base)
    if proxy_bypass(parts.netloc):
        return None
    proxies = getproxies()
    return proxies.get(parts.scheme) or proxies.get("all")
