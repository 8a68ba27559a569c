"""Slots for concurrent work; a call that waits by itself can give its slots back meanwhile."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import asyncio


class _Taken:
    """A slot that a task has taken."""

    def __init__(
        self,
        free: asyncio.Semaphore,
        task: asyncio.Task[object] | None,
        check: Callable[[], None] | None,
    ) -> None:
        self.free, self.task, self.check = free, task, check
        self.held = True


_taken: ContextVar[tuple[_Taken, ...]] = ContextVar("slots", default=())


class Slots:
    """A number of slots, for the running event loop.

    New work gets them in turn; work that comes back after `outside_slots` goes first.

    Args:
        count: the number of slots.
    """

    def __init__(self, count: int) -> None:
        self.count = count
        self._free: asyncio.Semaphore | None = None
        self._arrivals: asyncio.Lock
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def full(self) -> bool:
        """Whether the next call must wait."""
        return self._of_loop().locked()

    @asynccontextmanager
    async def slot(self, check: Callable[[], None] | None = None) -> AsyncIterator[None]:
        """Wait for a slot, and keep it for the body.

        Args:
            check: called when the body takes the slot again after `outside_slots`; raises an error
                if the body may not go on.
        """
        import asyncio

        free = self._of_loop()
        async with self._arrivals:  # one of the new ones at a time waits for the semaphore
            await free.acquire()
        taken = _Taken(free, asyncio.current_task(), check)
        token = _taken.set((*_taken.get(), taken))
        try:
            yield
        finally:
            _taken.reset(token)
            if taken.held:
                free.release()

    def _of_loop(self) -> asyncio.Semaphore:
        import asyncio

        loop = asyncio.get_running_loop()
        if self._free is None or self._loop is not loop:
            self._free, self._loop = asyncio.Semaphore(self.count), loop
            self._arrivals = asyncio.Lock()
        return self._free


@asynccontextmanager
async def outside_slots() -> AsyncIterator[None]:
    """Give the slots of this task back for the body, and wait for new ones after it.

    If the body fails, they stay given back.

    Raises:
        Exception: what the `check` of a slot raises.
    """
    import asyncio

    # Tasks inherit the variable: the task of a shared call must not give back what others hold.
    task = asyncio.current_task()
    mine = [taken for taken in _taken.get() if taken.held and taken.task is task]
    for taken in reversed(mine):
        taken.free.release()
        taken.held = False
    yield
    for taken in mine:
        await taken.free.acquire()
        taken.held = True
        if taken.check is not None:
            taken.check()
