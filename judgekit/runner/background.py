"""An event loop on its own thread, to run coroutines from synchronous code."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import CancelledError, Future, wait
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Any, Generic, TypeVar

from judgekit.core.errors import ConfigError
from judgekit.judges.connections import closing_connections
from judgekit.runner.progress import close, listener

T = TypeVar("T")
_Call = Callable[[], None] | None

_BEAT = 0.1
"""Seconds between two checks for progress and for Ctrl-C."""
_lock = threading.Lock()
_loop: asyncio.AbstractEventLoop | None = None
_thread: threading.Thread | None = None


def run_sync(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end and return its result.

    The loop runs on a separate thread, so this also works inside a running loop. Ctrl-C cancels
    the coroutine, waits until its calls in flight have ended, and raises KeyboardInterrupt; a
    second Ctrl-C raises it at once.

    Raises:
        ConfigError: the call comes from the thread of the loop and would wait for itself.
    """
    return _waited(work)


def run_stoppable(function: Callable[..., Coroutine[Any, Any, T]], options: dict[str, Any]) -> T:
    """Run a coroutine that can be stopped and reports progress; return its result.

    The first Ctrl-C sets `stop`, and the coroutine returns the finished results; a second one
    raises KeyboardInterrupt. `progress` is called on the caller's thread, so a notebook shows its
    output under the right cell.

    Args:
        function: returns the coroutine; takes `stop` and `progress`.
        options: additional keyword arguments. `progress: True` shows a progress line.
    """
    options = dict(options)
    if options.get("stop") is None:
        options["stop"] = asyncio.Event()
    stop = options["stop"].set
    progress = listener(options.pop("progress", None))
    if progress is None:
        return _waited(function(**options), stop=stop)
    news: SimpleQueue[Any] = SimpleQueue()

    def beat() -> None:
        while True:
            try:
                progress(news.get_nowait())
            except Empty:
                return

    try:
        return _waited(function(progress=news.put, **options), beat=beat, stop=stop)
    finally:
        close(progress)


def _waited(work: Coroutine[Any, Any, T], *, beat: _Call = None, stop: _Call = None) -> T:
    loop = _background()
    if threading.current_thread() is _thread:
        work.close()
        raise ConfigError(
            "a metric or judge calls a function that ends in _sync, which would wait for itself; "
            "await the one without _sync there"
        )
    tracked = _Tracked(work)
    future = asyncio.run_coroutine_threadsafe(tracked.run(), loop)
    stopping = False
    while True:
        try:
            return _result(future, beat)
        except KeyboardInterrupt:
            if stopping or future.done():
                loop.call_soon_threadsafe(tracked.cancel)
                raise
            stopping = True
            print("stopping; what is done is kept (again: leave at once)", file=sys.stderr)
            loop.call_soon_threadsafe(tracked.cancel if stop is None else stop)
        except CancelledError:
            if stopping:
                raise KeyboardInterrupt from None
            raise
        except BaseException:
            loop.call_soon_threadsafe(tracked.cancel)
            raise


class _Tracked(Generic[T]):
    """A coroutine whose task can be cancelled and awaited at once, unlike a concurrent future."""

    def __init__(self, work: Coroutine[Any, Any, T]) -> None:
        self._work = work
        self._task: asyncio.Task[T] | None = None
        self._cancelled = False

    async def run(self) -> T:
        if self._cancelled:
            self._work.close()
            raise asyncio.CancelledError
        self._task = asyncio.ensure_future(self._work)
        return await self._task

    def cancel(self) -> None:
        """Cancel the task; called in its loop."""
        self._cancelled = True
        if self._task is not None:
            self._task.cancel()


def _result(future: Future[T], beat: _Call) -> T:
    # Short waits: Python handles a signal only after a wait ends.
    while not future.done():
        wait((future,), timeout=_BEAT)
        if beat is not None:
            beat()
    if beat is not None:
        beat()  # report the final progress
    return future.result()


async def wait_for(work: Coroutine[Any, Any, T]) -> T:
    """Await a coroutine in the caller's event loop.

    Under another event loop, such as trio's, the coroutine runs on the thread of `run_sync`, and
    blocks the loop of the caller.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return run_sync(work)
    async with closing_connections():
        return await work


def _run(loop: asyncio.AbstractEventLoop) -> None:
    """Run a loop for ever, also after a `sys.exit` in a task, which its waiter raises again."""
    while not loop.is_closed():
        with suppress(SystemExit, KeyboardInterrupt):
            loop.run_forever()
            return


def _background() -> asyncio.AbstractEventLoop:
    global _loop, _thread  # noqa: PLW0603 - one loop per process, started at the first call
    with _lock:
        # A fork inherits the loop but not the thread that runs it.
        if _loop is None or _loop.is_closed() or _thread is None or not _thread.is_alive():
            _loop = asyncio.new_event_loop()
            _thread = threading.Thread(target=_run, args=(_loop,), name="judgekit", daemon=True)
            _thread.start()
        return _loop
