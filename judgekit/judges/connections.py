"""The connections of hosted judges; closed when the work that needs them ends."""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import AsyncIterator, Callable, Hashable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import asyncio
    import ssl

_users: dict[int, int] = {}
"""By id of an event loop: the evaluations that run in it and may use its connections."""
_clients: dict[tuple[Hashable, int], tuple[object, Any]] = {}
"""The HTTP clients of judgekit's calls, by key and id of the event loop: the loop, the client."""


def shared(key: Hashable) -> Any:
    """Return a client of the running event loop; `None` if there is none."""
    loop = _loop()
    made_in, client = _clients.get((key, id(loop)), (None, None))
    return client if made_in is loop else None


def share(key: Hashable, client: Any) -> None:
    """Keep a client of the running event loop until the connections are closed."""
    loop = _loop()
    _clients[key, id(loop)] = (loop, client)


@asynccontextmanager
async def new_client(key: Hashable, make: Callable[[], Any]) -> AsyncIterator[Any]:
    """Yield a new client of the running event loop.

    Inside `closing_connections`, the client is shared and closed later; otherwise it is closed at
    the end of the block.
    """
    if id(_loop()) in _users:
        share(key, client := make())
        yield client
    else:
        async with make() as client:
            yield client


def _loop() -> asyncio.AbstractEventLoop | None:
    if "asyncio" not in sys.modules:  # a replay runs without it
        return None
    import asyncio

    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def certificates() -> ssl.SSLContext:
    """Return trusted certificates: those of the environment, else those of certifi."""
    import ssl

    if os.environ.get("SSL_CERT_FILE") or os.environ.get("SSL_CERT_DIR"):
        return ssl.create_default_context()
    import certifi

    return ssl.create_default_context(cafile=certifi.where())


@asynccontextmanager
async def closing_connections() -> AsyncIterator[None]:
    """Close the clients of this event loop when the last work that may use them ends."""
    me = id(_loop())
    _users[me] = _users.get(me, 0) + 1
    try:
        yield
    finally:
        _users[me] -= 1
        if not _users[me]:
            del _users[me]
            names = [name for name in _clients if name[1] in (me, id(None))]
            for _, client in [_clients.pop(name) for name in names]:
                if inspect.isawaitable(closed := client.close()):
                    await closed
