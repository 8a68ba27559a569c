"""One asynchronous call with several waiters."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    import asyncio

T = TypeVar("T")


class SharedCall(Generic[T]):
    """Starts a call for the first waiter; later waiters share it until it ends.

    The call is cancelled when its last waiter is. A call in another event loop is not shared.

    Args:
        make: returns the coroutine of a new call.
    """

    def __init__(self, make: Callable[[], Coroutine[Any, Any, T]]) -> None:
        self._make = make
        self._task: asyncio.Task[T] | None = None
        self._waiting: dict[asyncio.Task[T], int] = {}

    @property
    def running(self) -> bool:
        """Whether the call has started and not ended."""
        return self._task is not None and not self._task.done()

    async def __call__(self) -> T:
        """Return the result of the call, or raise its exception."""
        import asyncio  # here, because a replay creates judges and does not import asyncio

        loop = asyncio.get_running_loop()
        task = self._task
        if task is None or task.done() or task.get_loop() is not loop:
            task = self._task = loop.create_task(self._make())
            # Marks the exception as retrieved, also if no waiter is left.
            task.add_done_callback(lambda done: done.cancelled() or done.exception())
        self._waiting[task] = self._waiting.get(task, 0) + 1
        try:
            return await asyncio.shield(task)
        finally:
            self._waiting[task] -= 1
            if not self._waiting[task]:
                del self._waiting[task]
                if not task.done():
                    task.cancel()
                    await asyncio.wait([task])
