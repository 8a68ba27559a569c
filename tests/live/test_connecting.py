"""Connections that never come about: limits of time, and the message."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
import pytest

from judgekit.cli.screen import waiting_line
from judgekit.core.errors import JudgeUnavailable
from judgekit.judges.connecting import longest
from judgekit.judges.httpx_wire import bound, limit_connecting
from judgekit.judges.translation import CONNECT_SECONDS

from .asking import judge_of
from .server import Server
from .test_ladder import ask

pytestmark = pytest.mark.loopback


class Silent(BaseHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Print nothing."""


@pytest.fixture
def plain() -> Iterator[str]:
    """Yield the address of a server that answers each line with http."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Silent) as serving:
        thread = threading.Thread(target=serving.serve_forever, daemon=True)
        thread.start()
        yield f"https://127.0.0.1:{serving.server_port}/v1"
        serving.shutdown()
        thread.join()


@pytest.mark.parametrize("via", ["direct", "litellm"])
def test_https_to_a_plain_server_says_so(server: Server, plain: str, via: str) -> None:
    judge = judge_of(server, api_base=plain, via=via, retries=0, timeout=60)

    with pytest.raises(JudgeUnavailable, match=r"does it speak http\? Then write http://"):
        ask(judge)


@pytest.fixture
def mute() -> Iterator[str]:
    """Yield the address of a server that takes connections and never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield f"https://127.0.0.1:{listening.getsockname()[1]}/v1"


@pytest.mark.parametrize("via", ["direct", "litellm"])
def test_a_handshake_has_a_limit_of_its_own(
    server: Server, mute: str, via: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("via_direct", "httpx_wire"):
        monkeypatch.setattr(f"judgekit.judges.{module}.CONNECT_SECONDS", 0.2)
    judge = judge_of(server, api_base=mute, via=via, retries=0, timeout=60)
    seen: set[str] = set()
    ended = threading.Event()

    def watch() -> None:
        while not ended.wait(0.02):
            if (wait := longest()) is not None:
                seen.add(wait[0])

    watching = threading.Thread(target=watch)
    watching.start()
    with pytest.raises(JudgeUnavailable, match="no connection within 10 s, with TLS"):
        ask(judge)
    ended.set()
    watching.join()

    # litellm makes its connections by itself.
    address = mute.removeprefix("https://").partition("/")[0]
    assert seen == ({address} if via == "direct" else set())
    assert longest() is None


@pytest.mark.parametrize(("given", "limit"), [(60.0, CONNECT_SECONDS), (3.0, 3.0), (None, 10.0)])
def test_the_shorter_limit_counts(given: float | None, limit: float) -> None:
    timeout = {"connect": given, "read": 60.0}
    request = httpx.Request("GET", "http://x", extensions={"timeout": timeout})

    asyncio.run(limit_connecting(request))

    assert request.extensions["timeout"] == {"connect": limit, "read": 60.0}


@pytest.mark.parametrize(
    ("wait", "line"),
    [
        (None, None),
        (("api.x:443", 2.9), None),
        (("api.x:443", 7.2), "waiting 7 s for a connection to api.x:443"),
    ],
)
def test_a_long_wait_is_said(wait: tuple[str, float] | None, line: str | None) -> None:
    assert waiting_line(wait) == line


def test_a_client_has_the_limit() -> None:
    client = httpx.AsyncClient()
    bound(client)

    assert limit_connecting in client.event_hooks["request"]
