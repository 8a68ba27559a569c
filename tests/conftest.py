"""What every test gets: no sockets, a store of its own, no keys from outside."""

from __future__ import annotations

import gc
import os
import signal
import socket
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

# pytest lets nothing but this file ask for them.
pytest_plugins = ["tests.browsing", "pytester"]

# A shell that starts the tests in the background has them ignore Ctrl-C, and every child that a
# test starts would inherit that. Children start with what the system does by default.
if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.default_int_handler)

if sys.version_info < (3, 13):
    # Like Python 3.13: before, `signal` writes every handler out to see that it is no number, and
    # with that of asyncio.run its result, twice. That takes longer than most of what tests run.
    _to_enum = signal._int_to_enum  # type: ignore[attr-defined]
    signal._int_to_enum = (  # type: ignore[attr-defined]
        lambda value, kind: value if callable(value) else _to_enum(value, kind)
    )

# Everything that is collected is kept: until that is done, there is nothing to look for.
gc.disable()

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
# 2 January 2026: no test changes with the day on which a model of its suite retires.
os.environ["SOURCE_DATE_EPOCH"] = "1767312000"

_MEMORY = Path("/dev/shm")
_ROOM = 1 << 30
"""Bytes; the tests use about a tenth of them."""


def _in_memory() -> bool:
    """Return whether temporary files can be in memory; some containers have no room there."""
    if "TMPDIR" in os.environ or not os.access(_MEMORY, os.W_OK):
        return False
    found = os.statvfs(_MEMORY)
    return found.f_bavail * found.f_frsize >= _ROOM and not found.f_flag & os.ST_NOEXEC


# A third of the time, tests waited for the disk, which has to keep what they would soon remove.
# With TMPDIR, the files are where it says.
if _in_memory():
    os.environ["TMPDIR"] = str(_MEMORY)
    tempfile.tempdir = None

# The same examples every time: nobody's build fails by luck. JUDGEKIT_EXPLORE=1 looks for new ones,
# and for more of them. A busy machine is no fault of what is tested, so nothing is timed.
EXPLORE = "JUDGEKIT_EXPLORE" in os.environ
settings.register_profile(
    "steady",
    deadline=None,
    derandomize=not EXPLORE,
    max_examples=200 if EXPLORE else 25,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("steady")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Start two more workers than processors: a third of the time, tests wait for something."""
    return (os.cpu_count() or 1) + 2


_LONG = ("ray", "hostile", "ci", "view", "testing", "cli")
"""Folders with long files. They run first, so that none of them is left for one worker."""
_UNITS = {
    "tests/pages/test_page": "browser",
    "tests/pages/": "other pages",
    "tests/view/test_in_browser.py": "browser",
    "tests/core/display/test_display_in_browser.py": "other pages",
    "tests/live/": "litellm",
    "tests/cli/test_beginner_mistakes.py": "litellm",
    "tests/judges/test_litellm.py": "litellm",
    "tests/judges/test_providernames.py": "litellm",
    "tests/suite/test_doctor.py": "litellm",
    "tests/datasets/dataframes/": "dataframes",
}
"""What their tests need and share, if one worker runs them: to start a browser takes a second of
processor time, and to import litellm two."""
_FIRST = ("browser", "other pages", "litellm")
"""Units that wait more than they compute. The other workers have the processors meanwhile."""


def _unit(file: str) -> str:
    """Return which tests share a worker: those of a unit, or of a file."""
    return next((unit for begin, unit in _UNITS.items() if file.startswith(begin)), file)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the longest files first."""

    def place(item: pytest.Item) -> int:
        file = item.nodeid.partition("::")[0]
        if _unit(file) in _FIRST:
            return 0
        folders = file.split("/")[1:-1]
        return 1 if not folders or folders[0] in _LONG else 2

    items.sort(key=place)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Give a worker all tests of a unit."""
    if config.getvalue("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling

    class Units(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return _unit(super()._split_scope(nodeid))

    return Units(config, log)


def pytest_collection_finish() -> None:
    """Leave twelve thousand collected tests out of every later garbage collection."""
    gc.freeze()
    gc.enable()


_LOOPBACK = ("127.0.0.1", "::1", "localhost")
_connect = socket.socket.connect
_connect_ex = socket.socket.connect_ex
_getaddrinfo = socket.getaddrinfo
_loopback = False
"""Whether the current test may open sockets to this machine."""


@contextmanager
def loopback() -> Iterator[None]:
    """Allow sockets to this machine, in a fixture that whatever test comes first sets up."""
    global _loopback
    before, _loopback = _loopback, True
    yield
    _loopback = before


class NetworkUsed(AssertionError):
    """A test reached for the network."""


def _check(sock: socket.socket, address: object) -> None:
    if sock.family == getattr(socket, "AF_UNIX", None):
        return
    host = address[0] if isinstance(address, tuple) else str(address)
    if not (_loopback and host in _LOOPBACK):
        raise NetworkUsed(f"this test connected to {address}")


def _checked_connect(self: socket.socket, address: object) -> object:
    _check(self, address)
    return _connect(self, address)  # type: ignore[arg-type]


def _checked_connect_ex(self: socket.socket, address: object) -> object:
    _check(self, address)
    return _connect_ex(self, address)  # type: ignore[arg-type]


def _checked_getaddrinfo(host: object, *args: object, **kwargs: object) -> object:
    if not (_loopback and host in (*_LOOPBACK, None)):
        raise NetworkUsed(f"this test looked up {host}")
    return _getaddrinfo(host, *args, **kwargs)  # type: ignore[arg-type]


# A test that opens a socket fails; `@pytest.mark.loopback` allows this machine only.
socket.socket.connect = _checked_connect  # type: ignore[method-assign, assignment]
socket.socket.connect_ex = _checked_connect_ex  # type: ignore[method-assign, assignment]
socket.getaddrinfo = _checked_getaddrinfo  # type: ignore[assignment]

# No test has the credentials of the person who runs it.
for _name in [name for name in os.environ if name.endswith("_API_KEY")]:
    del os.environ[_name]
_homes = tempfile.TemporaryDirectory(prefix="judgekit-tests-")
_numbers = count()


# No fixture: six of them for each of twelve thousand tests took as long as the tests.
@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Give a test a private store, no metrics of other tests, and sockets only if it may."""
    global _loopback
    _loopback = item.get_closest_marker("loopback") is not None
    os.environ["JUDGEKIT_HOME"] = str(Path(_homes.name, str(next(_numbers))))
    registry = sys.modules.get("judgekit.metrics.registry")
    registered = None
    if registry is not None:
        registered, registry._registered = registry._registered, {}
    try:
        return (yield)
    finally:
        if registry is not None:
            registry._registered = registered


@pytest.fixture
def tmp_path(tmp_path: Path) -> Path:
    """Return a folder of the test; its store is in there, where tests look for private texts."""
    os.environ["JUDGEKIT_HOME"] = str(tmp_path / "judgekit-home")
    return tmp_path


@pytest.fixture
def own_store() -> Path:
    """Return the folder of the test's store, which may not exist."""
    return Path(os.environ["JUDGEKIT_HOME"])
