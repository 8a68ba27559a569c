"""One call under way, however many wait for it."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    import asyncio

T = TypeVar("T")


class Shared(Generic[T]):
    """Makes a call for whoever asks first; those who ask meanwhile wait for the same one.

    Only the last to give up cancels it. A call of another event loop is not waited for.
    """

    def __init__(self, make: Callable[[], Coroutine[Any, Any, T]]) -> None:
        self._make = make
        self._flight: _Flight[T] | None = None

    async def __call__(self) -> T:
        """Return what the call under way returns, or raise what it raises."""
        import asyncio  # a replay makes judges and never waits for one

        loop = asyncio.get_running_loop()
        flight = self._flight
        if flight is None or flight.task.done() or flight.task.get_loop() is not loop:
            flight = self._flight = _Flight(loop.create_task(self._make()))
        flight.waiting += 1
        try:
            return await asyncio.shield(flight.task)
        finally:
            flight.waiting -= 1
            if not flight.waiting and not flight.task.done():
                flight.task.cancel()
                await asyncio.wait([flight.task])


class _Flight(Generic[T]):
    def __init__(self, task: asyncio.Task[T]) -> None:
        self.task = task
        self.waiting = 0
        # Whoever waits gets the error; nobody waiting is no mistake.
        task.add_done_callback(lambda done: done.cancelled() or done.exception())
