"""Limit the bodies that litellm's HTTP clients read, and let late replies answer their requests.

Imported with the first call through litellm, because it imports httpx.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx

from judgekit.judges.translation import CONNECT_SECONDS
from judgekit.judges.wire import (
    ENCODINGS,
    MAX_BODY,
    BodyError,
    Exchange,
    LimitedBody,
    LiveCall,
    current,
)


def bound(client: httpx.AsyncClient) -> None:
    """Make a client limit the bodies it reads, follow no redirect, and take late replies."""
    hooks = client.event_hooks
    client.event_hooks = {
        "request": [*hooks["request"], limit_connecting],
        "response": [*hooks["response"], limit_body],
    }
    client.follow_redirects = False
    client.headers["accept-encoding"] = ENCODINGS
    # httpx takes transports in its constructor only, which a library has called.
    client._transport = _Answered(client._transport)
    mounts = client._mounts.items()
    client._mounts = {at: None if inner is None else _Answered(inner) for at, inner in mounts}


class _Answered(httpx.AsyncBaseTransport):
    """Sends a request, unless a late reply answers it."""

    def __init__(self, inner: httpx.AsyncBaseTransport) -> None:
        self._inner = inner

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        call = current()
        if call is None or call.late is None:
            return await self._inner.handle_async_request(request)
        body = await request.aread()
        late = call.late(LiveCall(str(request.url), body, dict(request.headers)))
        headers = {"content-type": "application/json"}
        # As a stream, because the response hook takes the body while it is read.
        return httpx.Response(late.status, headers=headers, stream=httpx.ByteStream(late.body))

    async def aclose(self) -> None:
        await self._inner.aclose()


async def limit_connecting(request: httpx.Request) -> None:
    """Limit the time to connect, with TLS, as a request hook of httpx."""
    limits = dict(request.extensions.get("timeout") or {})
    given = limits.get("connect")
    limits["connect"] = CONNECT_SECONDS if given is None else min(given, CONNECT_SECONDS)
    request.extensions = {**request.extensions, "timeout": limits}


async def limit_body(response: httpx.Response) -> None:
    """Limit the body of a response, as a response hook of httpx."""
    call = current() or Exchange(limit=MAX_BODY)
    try:
        body = call.begin(response.status_code, response.headers)
    except BodyError as exc:
        raise httpx.DecodingError(str(exc)) from exc
    assert isinstance(response.stream, httpx.AsyncByteStream)  # noqa: S101 - of an async client
    response.stream = _Limited(response.stream, body)
    # Otherwise httpx would decode the body again.
    response.headers.pop("content-encoding", None)


class _Limited(httpx.AsyncByteStream):
    """The decoded bytes of a body, up to a limit.

    Raises:
        httpx.DecodingError: when it is read: the limit is reached, or the body cannot be decoded.
    """

    def __init__(self, stream: httpx.AsyncByteStream, body: LimitedBody) -> None:
        self._stream = stream
        self._body = body

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for data in self._stream:
                for piece in self._body.feed(data):
                    yield piece
                if self._body.full:
                    break
            self._body.finish()
        except BodyError as exc:
            raise httpx.DecodingError(str(exc)) from exc

    async def aclose(self) -> None:
        await self._stream.aclose()
