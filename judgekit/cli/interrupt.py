"""Ctrl-C: the first ends the work and keeps its results, the second ends the program at once."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, Any, TypeVar

from judgekit.core.synchronous import Flag

if TYPE_CHECKING:
    import asyncio

T = TypeVar("T")


@contextmanager
def on_interrupt(stop: Callable[[], object], *, kept: str) -> Iterator[None]:
    """Call `stop` at the first Ctrl-C while the body runs, and print a line to standard error.

    After that, another Ctrl-C ends the program at once, also while results are written or the
    interpreter exits.

    Args:
        stop: requests the end; called in the main thread, between any two of its steps.
        kept: what the line promises, such as "what is done is kept".
    """

    def first(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        # Not print: the signal may interrupt a print.
        os.write(2, f"\nstopping; {kept} (Ctrl-C again to leave at once)\n".encode())
        stop()

    try:
        before = signal.signal(signal.SIGINT, first)
    except ValueError:  # only the main thread may handle signals
        yield
        return
    try:
        yield
    finally:
        if signal.getsignal(signal.SIGINT) is first:
            signal.signal(signal.SIGINT, before)


def run_interruptible(
    work: Callable[[asyncio.Event], Coroutine[Any, Any, T]], *, kept: str, stop: Flag | None = None
) -> T:
    """Run a coroutine in an event loop and return its result.

    Args:
        work: makes the coroutine, which ends early after the event is set.
        kept: what the line at the first Ctrl-C promises.
        stop: set by the first Ctrl-C, too.
    """
    import asyncio

    async def run() -> T:
        ended = asyncio.Event()
        loop = asyncio.get_running_loop()

        def end() -> None:
            if stop is not None:
                stop.set()
            loop.call_soon_threadsafe(ended.set)

        with on_interrupt(end, kept=kept):
            return await work(ended)

    return asyncio.run(run())
