"""Limit the bodies that litellm's HTTP clients read.

Imported with the first call through litellm, because it imports httpx.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx

from judgekit.judges.translation import CONNECT_SECONDS
from judgekit.judges.wire import ENCODINGS, MAX_BODY, BodyError, Exchange, LimitedBody, current


def bound(client: httpx.AsyncClient) -> None:
    """Make a client limit the bodies it reads and follow no redirect."""
    hooks = client.event_hooks
    client.event_hooks = {
        "request": [*hooks["request"], limit_connecting],
        "response": [*hooks["response"], limit_body],
    }
    client.follow_redirects = False
    client.headers["accept-encoding"] = ENCODINGS


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
