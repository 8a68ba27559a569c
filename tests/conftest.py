"""What every test gets: no sockets, a store of its own, no keys from outside."""

from __future__ import annotations

import gc
import os
import signal
import socket
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# pytest lets nothing but this file ask for them.
pytest_plugins = ["tests.browsing", "pytester"]

# A shell that starts the tests in the background has them ignore Ctrl-C, and every child that a
# test starts would inherit that. Children start with what the system does by default.
if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.default_int_handler)

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"

# The same examples every time: nobody's build fails by luck. JUDGEKIT_EXPLORE=1 looks for new ones,
# and for more of them. A busy machine is no fault of what is tested, so nothing is timed.
EXPLORE = "JUDGEKIT_EXPLORE" in os.environ
settings.register_profile(
    "steady",
    deadline=None,
    derandomize=not EXPLORE,
    max_examples=200 if EXPLORE else 40,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("steady")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Start one more worker than processors: a third of the time, tests wait for processes."""
    return (os.cpu_count() or 1) + 1


_LONG = ("live", "hostile", "ci", "view", "pages", "testing", "cli")
"""Folders with the longest files. They run first, so that none of them is left for one worker."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the longest files first."""
    items.sort(key=lambda item: not any(folder in item.path.parts for folder in _LONG))


def pytest_collection_finish() -> None:
    """Leave twelve thousand collected tests out of every later garbage collection."""
    gc.collect()
    gc.freeze()


_LOOPBACK = ("127.0.0.1", "::1", "localhost")
_connect = socket.socket.connect
_connect_ex = socket.socket.connect_ex
_getaddrinfo = socket.getaddrinfo


class NetworkUsed(AssertionError):
    """A test reached for the network."""


@pytest.fixture(autouse=True)
def no_registered_metrics(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget after a test which metrics it registered."""
    if (registry := sys.modules.get("judgekit.metrics.registry")) is not None:
        monkeypatch.setattr(registry, "_registered", {})


@pytest.fixture(autouse=True)
def no_network(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail a test that opens a socket; `@pytest.mark.loopback` allows this machine only."""
    loopback = request.node.get_closest_marker("loopback") is not None

    def allowed(sock: socket.socket, address: object) -> bool:
        if sock.family == getattr(socket, "AF_UNIX", None):
            return True
        host = address[0] if isinstance(address, tuple) else str(address)
        return loopback and host in _LOOPBACK

    def connect(self: socket.socket, address: object) -> object:
        if not allowed(self, address):
            raise NetworkUsed(f"this test connected to {address}")
        return _connect(self, address)  # type: ignore[arg-type]

    def connect_ex(self: socket.socket, address: object) -> object:
        if not allowed(self, address):
            raise NetworkUsed(f"this test connected to {address}")
        return _connect_ex(self, address)  # type: ignore[arg-type]

    def getaddrinfo(host: object, *args: object, **kwargs: object) -> object:
        if not (loopback and host in (*_LOOPBACK, None)):
            raise NetworkUsed(f"this test looked up {host}")
        return _getaddrinfo(host, *args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(socket.socket, "connect", connect)
    monkeypatch.setattr(socket.socket, "connect_ex", connect_ex)
    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)


@pytest.fixture(autouse=True)
def own_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give every test a private store, and no credentials of the person who runs it."""
    home = tmp_path / "judgekit-home"
    monkeypatch.setenv("JUDGEKIT_HOME", str(home))
    for name in list(os.environ):
        if name.endswith("_API_KEY"):
            monkeypatch.delenv(name)
    return home
