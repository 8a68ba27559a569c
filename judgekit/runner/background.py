"""One event loop on one thread, so that synchronous code can wait for asynchronous code."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, wait
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

from judgekit.core.errors import ConfigError
from judgekit.judges.connections import closing_connections
from judgekit.runner.progress import listener

T = TypeVar("T")

_BEAT = 0.1
"""Seconds between two looks at what the work has to say, and at Ctrl-C."""
_lock = threading.Lock()
_loop: asyncio.AbstractEventLoop | None = None
_thread: threading.Thread | None = None


def run_sync(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end and return its result.

    The loop runs on a thread of its own, so this also works where a loop is already running. On
    Ctrl-C the work is cancelled before the interrupt goes on.

    Raises:
        ConfigError: called by the very work it would wait for.
    """
    return _waited(work, beat=None, stop=None)


def run_stoppable(door: Callable[..., Coroutine[Any, Any, T]], options: dict[str, Any]) -> T:
    """Run work that can be stopped and says how far it is; return its result.

    The first Ctrl-C stops it, and what there is then is the result; a second one raises. What
    `progress` prints belongs to the caller: it is called on the caller's thread, so that a
    notebook shows it under the right cell.

    Args:
        door: makes the coroutine; takes `stop` and `progress`.
        options: what else it is called with. `progress: True` shows one line.
    """
    options = dict(options)
    if options.get("stop") is None:
        options["stop"] = asyncio.Event()
    stop = options["stop"].set
    progress = listener(options.pop("progress", None))
    if progress is None:
        return _waited(door(**options), beat=None, stop=stop)
    news: SimpleQueue[Any] = SimpleQueue()

    def beat() -> None:
        while True:
            try:
                progress(news.get_nowait())
            except Empty:
                return

    try:
        return _waited(door(progress=news.put, **options), beat=beat, stop=stop)
    finally:
        close = getattr(progress, "close", None)
        if close is not None:
            close()


def _waited(
    work: Coroutine[Any, Any, T],
    *,
    beat: Callable[[], None] | None,
    stop: Callable[[], None] | None,
) -> T:
    loop = _background()
    if threading.current_thread() is _thread:
        work.close()
        raise ConfigError(
            "a metric or judge calls a function that ends in _sync, which would wait for itself; "
            "await the one without _sync there"
        )
    future = asyncio.run_coroutine_threadsafe(work, loop)
    stopping = False
    while True:
        try:
            return _result(future, beat)
        except KeyboardInterrupt:
            if stop is None or stopping or future.done():
                future.cancel()
                raise
            stopping = True
            print("stopping; what is done is kept (again: leave at once)", file=sys.stderr)
            loop.call_soon_threadsafe(stop)
        except BaseException:
            future.cancel()
            raise


def _result(future: Future[T], beat: Callable[[], None] | None) -> T:
    # Not one long wait: a signal that comes just before it begins is seen when it ends.
    while not future.done():
        wait((future,), timeout=_BEAT)
        if beat is not None:
            beat()
    if beat is not None:
        beat()  # what was said last
    return future.result()


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
    global _loop, _thread  # noqa: PLW0603 - one loop for the process, made when first needed
    with _lock:
        # A process forked from one that has a loop has no thread to run it.
        if _loop is None or _loop.is_closed() or _thread is None or not _thread.is_alive():
            _loop = asyncio.new_event_loop()
            _thread = threading.Thread(target=_loop.run_forever, name="judgekit", daemon=True)
            _thread.start()
        return _loop
