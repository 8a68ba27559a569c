"""One event loop on one thread, so that synchronous code can wait for asynchronous code."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

from judgekit.connections import closing_connections

T = TypeVar("T")

_lock = threading.Lock()
_loop: asyncio.AbstractEventLoop | None = None


def run_sync(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end and return its result.

    The loop runs on a thread of its own, so this also works where a loop is already running. On
    Ctrl-C the work is cancelled before the interrupt goes on.
    """
    future = asyncio.run_coroutine_threadsafe(work, _background())
    try:
        return future.result()
    except KeyboardInterrupt:
        future.cancel()
        raise


async def wait_for(work: Coroutine[Any, Any, T]) -> T:
    """Await a coroutine in the caller's event loop.

    Where that is none of asyncio's, as under trio, asyncio's own is on the thread of `run_sync`,
    and the caller's loop stands still meanwhile.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return run_sync(work)
    async with closing_connections():
        return await work


def _background() -> asyncio.AbstractEventLoop:
    global _loop  # noqa: PLW0603 - one loop for the process, made when first needed
    with _lock:
        if _loop is None or _loop.is_closed():
            _loop = asyncio.new_event_loop()
            threading.Thread(target=_loop.run_forever, name="judgekit", daemon=True).start()
        return _loop
