"""Decode the body of a response while it arrives, and limit its size.

HTTP libraries decode compressed bodies without a limit, and a megabyte of gzip can expand to a
gigabyte. Here a body is decoded in pieces, and reading stops at the limit.
"""

from __future__ import annotations

import hashlib
import json
import re
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from typing import Any, NamedTuple

from judgekit.core.request import Omitted
from judgekit.core.sanitiser import Sanitiser

MAX_BODY = 8_000_000
"""Maximum size of a chat response, in decoded bytes."""
MAX_FIGURES = 32_000_000
"""Maximum size of a response with vectors or log-probabilities, in decoded bytes."""
MAX_ERROR = 100_000
"""Maximum size of an error response, in decoded bytes; the rest is not read."""
KEPT = 64_000
"""Number of bytes to keep of a body that is longer than its limit."""
ENCODINGS = "gzip, deflate"
"""Accepted encodings: those that can be decoded in pieces."""

_CHARSET = re.compile(r"charset=\"?([\w.:-]{1,40})", re.IGNORECASE)
_ONE_BYTE = frozenset({"iso-8859-1", "latin-1", "latin1", "windows-1252", "cp1252", "us-ascii"})
"""Charsets of servers that do not encode JSON in UTF-8."""
_PIECE = 1 << 16
_ZLIB_OR_GZIP = zlib.MAX_WBITS | 32
_GZIP = b"\x1f"
"""First byte of a member of gzip (RFC 1952); a body may be several of them."""
_MOST_MEMBERS = 1_000
"""Maximum number of members: an empty one has 20 bytes and adds nothing to the decoded size."""


class BodyError(Exception):
    """A body that cannot be decoded, or that is longer than its limit."""


class LiveCall(NamedTuple):
    """The HTTP request that a live call would send."""

    url: str
    body: bytes
    """JSON."""
    headers: Mapping[str, str] = {}
    """Headers by names in lower case, with the key; most of them are of no interest."""


class LateResponse(NamedTuple):
    """An HTTP response that a job kept."""

    status: int
    body: bytes
    """JSON, as the server would have sent it."""


class Exchange:
    """One HTTP call of judgekit, and the part of its response that was read.

    A `with` statement marks the calls in it as judgekit's, including tasks that they start.

    Args:
        limit: maximum size of a successful response, in decoded bytes.
        sanitiser: cleans the response before anything reads, shows or cuts it.
    """

    def __init__(self, *, limit: int, sanitiser: Sanitiser | None = None) -> None:
        self.limit = limit
        self.sanitiser = sanitiser or Sanitiser()
        self.status: int | None = None
        """HTTP status of the last response; `None` before the first."""
        self.headers: Mapping[str, str] = {}
        """Headers of the last response, with names in lower case."""
        self.start = ""
        """The beginning of a body that is longer than its limit."""
        self.omitted: Omitted | None = None
        """The following bytes up to the limit, of a body that is longer than its limit."""
        self.ended = False
        """Whether the call has ended; tasks that it started may continue without it."""
        self.tokens: tuple[int, int] | None = None
        """Tokens of request and reply, if the server reports them and there is a pace."""
        self.late: Callable[[LiveCall], LateResponse] | None = None
        """Answers the requests of a library instead of the server."""
        self._reader: LimitedBody | None = None
        self._json: Any = None
        self._is_read = False

    def __enter__(self) -> Exchange:
        self._token = _current.set(self)
        return self

    def __exit__(self, *_: object) -> None:
        self.ended = True
        _current.reset(self._token)

    @property
    def too_large(self) -> str:
        """The error for a body that is longer than its limit."""
        return f"the response is larger than {self.limit:,} bytes"

    def release(self) -> None:
        """Release the body: tasks of libraries may keep this object for a long time."""
        self._reader = None
        self._json, self._is_read = None, False

    def begin(self, status: int, headers: Mapping[str, str]) -> LimitedBody:
        """Start to read a response; the last of several responses counts.

        Raises:
            BodyError: the encoding is unknown.
        """
        clean = self.sanitiser.text
        self.status = status
        self.headers = {name.lower(): clean(value) for name, value in headers.items()}
        self.start, self.omitted = "", None
        self.release()  # also if the encoding is unknown
        self._reader = LimitedBody(self)
        return self._reader

    @property
    def good(self) -> bool:
        """Whether the status is a success."""
        return self.status is not None and 200 <= self.status < 300

    @property
    def text(self) -> str:
        """The body, if it was read completely; the beginning of an error's body."""
        return self.sanitiser.text(self._decoded)

    @property
    def _decoded(self) -> str:
        whole = self._reader is not None and self._reader.whole
        return self.decoded(b"".join(self._reader.pieces)) if self._reader and whole else ""

    def decoded(self, body: bytes) -> str:
        """Return a body as text; bytes that are no text become U+FFFD."""
        encoding = json.detect_encoding(body)
        try:
            return body.decode(encoding)
        except UnicodeDecodeError:
            named = _CHARSET.search(self.headers.get("content-type", ""))
            if named is not None and named[1].lower() in _ONE_BYTE:
                return body.decode("cp1252", "replace")
            return body.decode(encoding, "replace")

    def json(self) -> Any:
        """Return the JSON value of the body; `None` if it is malformed."""
        if not self._is_read:
            self._json, self._is_read = self.sanitiser.json(self._decoded), True
        return self._json

    def data(self) -> dict[str, Any] | None:
        """Return the JSON object of a successful response that was read whole, if it is one."""
        data = self.json() if self.good else None
        return data if isinstance(data, dict) else None


_current: ContextVar[Exchange | None] = ContextVar("exchange", default=None)


def current() -> Exchange | None:
    """Return the current call of this task; `None` outside judgekit's calls."""
    call = _current.get()
    return None if call is None or call.ended else call


class LimitedBody:
    """Decodes a body while it arrives, up to the limit of its call.

    Args:
        call: the call.
    """

    def __init__(self, call: Exchange) -> None:
        self._call = call
        self.pieces: list[bytes] = []
        """The decoded bytes."""
        self.whole = False
        """Whether the body was read completely, or as far as needed."""
        self._left = call.limit if call.good else MAX_ERROR
        encoding = (call.headers.get("content-encoding") or "identity").strip().lower()
        if encoding not in ("", "identity", "gzip", "x-gzip", "deflate"):
            raise BodyError(f"the body is encoded as {encoding[:40]!r}, which was not asked for")
        plain = encoding in ("", "identity")
        self._decoder = None if plain else _Inflated(may_be_raw=encoding == "deflate")
        self.full = False
        """Whether the rest is not needed: the beginning of an error is enough."""

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yield the decoded bytes of a chunk of data.

        Raises:
            BodyError: the limit is reached, or the data cannot be decoded.
        """
        for decoded in self._decoder.pieces(data) if self._decoder else (data,):
            piece = decoded[: self._left]
            self._left -= len(piece)
            self.pieces.append(piece)
            if len(piece) == len(decoded):
                yield piece
                continue
            if not self._call.good:
                self.full = True
                yield piece
                return
            body = b"".join(self.pieces)
            rest = body[KEPT:]
            # Cleaned before it is cut: half a key is not recognised.
            text = self._call.sanitiser.text(self._call.decoded(body))
            self._call.release()
            self._call.start = text[:KEPT].encode()[:KEPT].decode(errors="replace")
            self._call.omitted = Omitted(bytes=len(rest), sha256=hashlib.sha256(rest).hexdigest())
            raise BodyError(self._call.too_large)

    def finish(self) -> None:
        """Check that the body is whole.

        Raises:
            BodyError: the compressed body was cut off.
        """
        if self._decoder and not self.full:
            self._decoder.finish()
        self.whole = True


class _Inflated:
    """Decodes gzip and deflate in pieces of limited size."""

    def __init__(self, *, may_be_raw: bool) -> None:
        self._inflate = zlib.decompressobj(_ZLIB_OR_GZIP)
        self._may_be_raw = may_be_raw
        self._begun = False
        self._members = 1

    def pieces(self, data: bytes) -> Iterator[bytes]:
        while True:
            if self._inflate.eof:
                if self._may_be_raw or not data.startswith(_GZIP):
                    return  # padding
                self._members += 1
                if self._members > _MOST_MEMBERS:
                    raise BodyError(f"the compressed body has more than {_MOST_MEMBERS} members")
                self._inflate = zlib.decompressobj(zlib.MAX_WBITS | 16)
            try:
                piece = self._inflate.decompress(data, _PIECE)
            except zlib.error as exc:
                if self._begun or not self._may_be_raw:
                    raise BodyError(str(exc)) from exc
                # Some servers send deflate without its header.
                self._begun, self._inflate = True, zlib.decompressobj(-zlib.MAX_WBITS)
                continue
            self._begun = True
            data = self._inflate.unconsumed_tail or self._inflate.unused_data
            yield piece
            if len(piece) < _PIECE and not data:
                return

    def finish(self) -> None:
        """Check that the body is whole."""
        if self._begun and not self._inflate.eof:
            raise BodyError("the compressed body was cut off")
