"""Limit, decode and count the body of a response while it arrives.

httpx decodes a compressed body without any limit, and a megabyte of gzip can be a gigabyte of
text. Here a body is decoded piece by piece, and reading stops at the limit.

Loaded with the first live call: it imports httpx.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import httpx

from judgekit.core.request import Omitted

MAX_BODY = 8_000_000
"""Decoded bytes of a response to a chat."""
MAX_FIGURES = 32_000_000
"""Decoded bytes of a response that holds vectors or log-probabilities."""
MAX_ERROR = 100_000
"""Decoded bytes of an error response; the rest is not read."""
KEPT = 64_000
"""Bytes to keep of a body that is longer than its limit."""
ENCODINGS = "gzip, deflate"
"""Accepted encodings: those that can be decoded in pieces."""

_PIECE = 1 << 16
_ZLIB_OR_GZIP = zlib.MAX_WBITS | 32


class Exchange:
    """One HTTP call of judgekit, and the part of its response that was read.

    Args:
        limit: decoded bytes that a successful response may have.
    """

    def __init__(self, *, limit: int) -> None:
        self.limit = limit
        self.status: int | None = None
        """HTTP status of the last response; `None` before the first."""
        self.headers: Mapping[str, str] = {}
        self.start: bytes = b""
        """The first `KEPT` bytes of a body that is longer than its limit."""
        self.omitted: Omitted | None = None
        """The bytes after these, up to the limit; only of a body that is longer than that."""
        self.ended = False
        """Whether the call has ended; tasks that it started may continue without it."""
        self._response: httpx.Response | None = None

    @property
    def too_large(self) -> str | None:
        """The error for a body that is longer than its limit; `None` otherwise."""
        if self.omitted is None:
            return None
        return f"the response is larger than {self.limit:,} bytes"

    def release(self) -> None:
        """Release the body: tasks of libraries may keep this object for long."""
        self._response = None

    def begin(self, response: httpx.Response) -> None:
        """Start to read a response; of several, the last one counts."""
        self.status = response.status_code
        self.headers = response.headers
        self.start, self.omitted = b"", None
        self._response = response

    @property
    def text(self) -> str:
        """The body, if it was read whole."""
        try:
            return "" if self._response is None else self._response.text
        except httpx.ResponseNotRead:
            return ""

    def data(self) -> dict[str, Any] | None:
        """Return the JSON object of a successful response that was read whole, if it is one."""
        if self._response is None or not self._response.is_success:
            return None
        try:
            data = json.loads(self._response.content)
        except (httpx.ResponseNotRead, ValueError, RecursionError):
            return None
        return data if isinstance(data, dict) else None


_current: ContextVar[Exchange | None] = ContextVar("exchange", default=None)


def current() -> Exchange | None:
    """Return the call under way in this task; `None` outside of judgekit's calls."""
    call = _current.get()
    return None if call is None or call.ended else call


@contextmanager
def exchange(*, limit: int = MAX_BODY) -> Iterator[Exchange]:
    """Mark the calls in this context as judgekit's, including tasks that they start."""
    call = Exchange(limit=limit)
    token = _current.set(call)
    try:
        yield call
    finally:
        call.ended = True
        _current.reset(token)


def bound(client: httpx.AsyncClient) -> None:
    """Make a client limit the bodies it reads and follow no redirect."""
    hooks = client.event_hooks
    client.event_hooks = {**hooks, "response": [*hooks["response"], limit_body]}
    client.follow_redirects = False
    client.headers["accept-encoding"] = ENCODINGS


async def limit_body(response: httpx.Response) -> None:
    """Limit the body of a response; a response hook of httpx."""
    call = current() or Exchange(limit=MAX_BODY)
    call.begin(response)
    assert isinstance(response.stream, httpx.AsyncByteStream)  # noqa: S101 - of an async client
    encoding = response.headers.get("content-encoding", "identity")
    response.stream = _Limited(response.stream, call, encoding=encoding.strip().lower())
    # Otherwise httpx would decode the body again.
    response.headers.pop("content-encoding", None)


class _Limited(httpx.AsyncByteStream):
    """The decoded bytes of a body, up to a limit.

    Raises:
        httpx.DecodingError: when it is read: the limit is reached, or the body cannot be decoded.
    """

    def __init__(self, stream: httpx.AsyncByteStream, into: Exchange, *, encoding: str) -> None:
        self._stream = stream
        self._into = into
        self._decoder = _decoder(encoding)
        self._good = into.status is not None and 200 <= into.status < 300

    async def __aiter__(self) -> AsyncIterator[bytes]:
        limit = self._into.limit if self._good else MAX_ERROR
        size = 0
        start, rest, omitted = bytearray(), hashlib.sha256(), 0
        async for data in self._stream:
            for whole in self._decoder.pieces(data):
                piece = whole[: limit - size]
                size += len(piece)
                beginning = piece[: KEPT - len(start)]
                start += beginning
                omitted += len(piece) - len(beginning)
                rest.update(piece[len(beginning) :])
                if len(piece) == len(whole):
                    yield piece
                    continue
                if not self._good:  # the beginning of an error says what it is
                    yield piece
                    return
                self._into.start = bytes(start)
                self._into.omitted = Omitted(bytes=omitted, sha256=rest.hexdigest())
                raise httpx.DecodingError(self._into.too_large or "")
        self._decoder.finish()

    async def aclose(self) -> None:
        await self._stream.aclose()


class _Plain:
    """Decodes nothing."""

    def pieces(self, data: bytes) -> Iterator[bytes]:
        yield data

    def finish(self) -> None:
        """Do nothing: any end will do."""


class _Inflated(_Plain):
    """Decodes gzip and deflate, never more than a piece at a time."""

    def __init__(self, *, may_be_raw: bool) -> None:
        self._inflate = zlib.decompressobj(_ZLIB_OR_GZIP)
        self._may_be_raw = may_be_raw
        self._begun = False

    def pieces(self, data: bytes) -> Iterator[bytes]:
        while True:
            try:
                piece = self._inflate.decompress(data, _PIECE)
            except zlib.error as exc:
                if self._begun or not self._may_be_raw:
                    raise httpx.DecodingError(str(exc)) from exc
                # Some servers send deflate without its header.
                self._begun, self._inflate = True, zlib.decompressobj(-zlib.MAX_WBITS)
                continue
            self._begun = True
            data = self._inflate.unconsumed_tail
            yield piece
            if len(piece) < _PIECE and not data:
                return

    def finish(self) -> None:
        """Check that the body is whole."""
        if self._begun and not self._inflate.eof:
            raise httpx.DecodingError("the compressed body was cut off")


def _decoder(encoding: str) -> _Plain:
    if encoding in ("identity", ""):
        return _Plain()
    if encoding in ("gzip", "x-gzip", "deflate"):
        return _Inflated(may_be_raw=encoding == "deflate")
    raise httpx.DecodingError(f"the body is encoded as {encoding[:40]!r}, which was not asked for")
