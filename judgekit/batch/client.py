"""Plain HTTP calls to the batch endpoints of a provider: bounded, without redirects."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.client import HTTPException, HTTPResponse, InvalidURL
from pathlib import Path
from socket import gaierror
from ssl import SSLCertVerificationError
from typing import Any, BinaryIO
from urllib.request import HTTPHandler, HTTPSHandler, OpenerDirector, ProxyHandler, Request

from judgekit.core.sanitiser import Sanitiser
from judgekit.judges.connections import certificates
from judgekit.judges.endpoint import secrets_of
from judgekit.judges.outcomes import error_body
from judgekit.judges.translation import one_line

MAX_JSON = 8_000_000
"""Maximum size of a JSON response, in bytes."""
MAX_REPLIES = 2_000_000_000
"""Maximum size of a file with replies, in bytes."""
_PIECE = 1 << 16
_SECONDS = 60.0
"""Seconds to wait for a piece of a response."""
_LOST = frozenset({408, 409, 425, *range(500, 600)} - {501, 505})
"""Statuses after which the request may have been carried out, or may be repeated."""
GONE = frozenset({404, 410})
"""Statuses of what the server does not have, or no longer."""
_NO_CONNECTION = (ConnectionRefusedError, gaierror, SSLCertVerificationError)
"""Errors of a connection that was never there."""
_MOST_MESSAGE = 600


class NoAnswerError(Exception):
    """There is no answer, or one that may change: the request may have been carried out."""


class NotDoneError(NoAnswerError):
    """The request was not carried out, for want of a connection or because it came too early."""


class RefusedError(Exception):
    """The server refused the request and did nothing."""

    def __init__(self, message: str, *, status: int, codes: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.status, self.codes = status, codes


class BatchClient:
    """Calls one server.

    Args:
        base: its address, such as `https://api.openai.com/v1`.
        headers: the headers of every request, with the key.
        key: the key, which no message shows.
    """

    def __init__(self, base: str, *, headers: Mapping[str, str], key: str) -> None:
        self._base = base.rstrip("/")
        self._headers = dict(headers)
        self._sanitiser = Sanitiser(secrets_of(key, base))

    def call(self, method: str, path: str, body: Any = None) -> dict[str, Any]:
        """Send JSON, and return the JSON object of the response.

        Raises:
            NoAnswerError: the request may have been carried out.
            NotDoneError: it was not carried out, and may be repeated.
            RefusedError: it was not carried out.
        """
        data = None if body is None else json.dumps(body).encode()
        kind = {} if body is None else {"Content-Type": "application/json"}
        with self._opened(method, path, data, kind) as response:
            return self._object(response)

    def upload(
        self, path: str, file: Path, *, name: str, fields: Mapping[str, str]
    ) -> dict[str, Any]:
        """Send a file as a form with further fields; return the JSON object of the response."""
        mark = f"judgekit-{os.urandom(16).hex()}"
        parts = [
            f'--{mark}\r\nContent-Disposition: form-data; name="{field}"\r\n\r\n{value}\r\n'
            for field, value in fields.items()
        ]
        parts.append(
            f'--{mark}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n'
            "Content-Type: application/jsonl\r\n\r\n"
        )
        head, tail = "".join(parts).encode(), f"\r\n--{mark}--\r\n".encode()
        with file.open("rb") as content:
            size = len(head) + os.fstat(content.fileno()).st_size + len(tail)
            headers = {
                "Content-Type": f"multipart/form-data; boundary={mark}",
                "Content-Length": str(size),
            }
            body = _joined(head, content, tail)
            with self._opened("POST", path, body, headers) as response:
                return self._object(response)

    def post_lines(self, path: str, file: Path, *, head: bytes, tail: bytes) -> dict[str, Any]:
        """Send the lines of a file as a JSON array between two texts; return the JSON object."""
        with file.open("rb") as content:
            size = len(head) + os.fstat(content.fileno()).st_size - 1 + len(tail)
            headers = {"Content-Type": "application/json", "Content-Length": str(size)}
            with self._opened("POST", path, _array(head, content, tail), headers) as response:
                return self._object(response)

    def download(self, path: str, to: BinaryIO) -> None:
        """Write the body of a response to a file.

        Raises:
            NoAnswerError: it is incomplete.
            RefusedError: there is none, or it is too large.
        """
        for piece in self._pieces(path):
            to.write(piece)

    def lines(self, path: str) -> Iterator[bytes]:
        """Yield the lines of the body of a response; errors are those of `download`."""
        rest = b""
        for piece in self._pieces(path):
            *whole, rest = (rest + piece).split(b"\n")
            if len(rest) > MAX_JSON:
                raise RefusedError(f"a line has more than {MAX_JSON:,} bytes", status=200)
            yield from whole
        yield rest

    def _pieces(self, path: str) -> Iterator[bytes]:
        with self._opened("GET", path, None, {}) as response:
            left = MAX_REPLIES
            try:
                while piece := response.read1(_PIECE):
                    left -= len(piece)
                    if left < 0:
                        message = f"the file has more than {MAX_REPLIES:,} bytes"
                        raise RefusedError(message, status=response.status)
                    yield piece
            except (OSError, HTTPException) as exc:
                raise NoAnswerError(f"the download was cut off: {self._clean(exc)}") from None
            if response.length:
                raise NoAnswerError("the download was cut off")

    @contextmanager
    def _opened(
        self, method: str, path: str, data: Any, headers: Mapping[str, str]
    ) -> Iterator[HTTPResponse]:
        # Only these handlers: others follow redirects and read files.
        opener = OpenerDirector()
        opener.add_handler(ProxyHandler())
        if self._base.startswith("https://"):
            opener.add_handler(HTTPSHandler(context=certificates()))
        else:
            opener.add_handler(HTTPHandler())
        all_headers = {"Accept": "application/json", **self._headers, **headers}
        url = self._base + path
        try:
            request = Request(url, data=data, headers=all_headers, method=method)  # noqa: S310 - there is no handler for files
            response: HTTPResponse | None = opener.open(request, timeout=_SECONDS)
        except (ValueError, InvalidURL) as exc:  # of the address, a header or the key
            raise RefusedError(f"cannot be sent: {self._clean(exc)}", status=0) from None
        except (OSError, HTTPException) as exc:
            reason = getattr(exc, "reason", exc)
            kind = NotDoneError if isinstance(reason, _NO_CONNECTION) else NoAnswerError
            raise kind(self._clean(reason)) from None
        if response is None:
            raise RefusedError("not an address of a server", status=0)
        with response:
            if not 200 <= response.status < 300:
                self._fail(response)
            yield response

    def _fail(self, response: HTTPResponse) -> None:
        try:
            data = json.loads(response.read(MAX_JSON) or b"null")
        except (OSError, HTTPException, ValueError, RecursionError):
            data = None
        error = error_body(data)
        message = self._clean(error.message or response.reason or "no reason")
        message = f"HTTP {response.status}: {message}"
        if response.status == 429 and "token_limit_exceeded" not in error.codes:
            raise NotDoneError(message)
        if response.status in _LOST and "token_limit_exceeded" not in error.codes:
            raise NoAnswerError(message)
        raise RefusedError(message, status=response.status, codes=error.codes)

    def _object(self, response: HTTPResponse) -> dict[str, Any]:
        try:
            body = response.read(MAX_JSON + 1)
            data = self._sanitiser.value(json.loads(body)) if len(body) <= MAX_JSON else None
        except (OSError, HTTPException) as exc:
            raise NoAnswerError(self._clean(exc)) from None
        except (ValueError, RecursionError):
            data = None
        if not isinstance(data, dict):
            raise NoAnswerError("the response is not a JSON object")
        return data

    def _clean(self, text: object) -> str:
        return one_line(str(text), sanitiser=self._sanitiser, most=_MOST_MESSAGE)


def _array(head: bytes, content: BinaryIO, tail: bytes) -> Iterator[bytes]:
    """Yield a JSON array of lines that all end with a line end."""
    yield head
    last = b""
    for line in content:
        if last:
            yield last + b","
        last = line[:-1]
    yield last + tail


def _joined(head: bytes, content: BinaryIO, tail: bytes) -> Iterator[bytes]:
    yield head
    while piece := content.read(_PIECE):
        yield piece
    yield tail
