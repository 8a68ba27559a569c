"""Let calls in flight end when the work around them stops: their replies are paid for."""

from __future__ import annotations

from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

if TYPE_CHECKING:
    import asyncio

T = TypeVar("T")

UNLIMITED_SECONDS = 5.0
"""Seconds that a call without a time limit may go on: a function of a user may never end."""
_GRACE = 1.0
"""Seconds for a row to end after its last call: to store the reply and compute the score."""


class _Flight:
    """The state of a call; the judge of the call and its wrappers count their waits in it."""

    def __init__(self, drain: Drain | None) -> None:
        self.drain = drain
        self.task: asyncio.Task[Any] | None = None
        self.waits = 0
        """Waits that the call is in, for a slot, a pace, a budget or the next attempt."""
        self.limits = 0
        """Time limits that the call is in, so that it ends by itself."""

    def end(self) -> None:
        """Cancel the call."""
        if self.task is not None:
            self.task.cancel()


_current: ContextVar[_Flight | None] = ContextVar("flight", default=None)


class Drain:
    """The calls in flight of a run, which end by themselves when the run stops."""

    def __init__(self) -> None:
        self.begun = False
        """Whether the run stops, so that no call may start."""
        self.flights: set[_Flight] = set()

    def task(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """Return a new task whose calls belong to this run."""
        import asyncio

        context = copy_context()
        context.run(_drain.set, self)
        return asyncio.create_task(work, context=context)

    async def empty(self, tasks: list[asyncio.Task[Any]]) -> None:
        """Stop the run: wait for the calls in flight, and shortly for the tasks; cancel the rest.

        If this is cancelled or called again, after a second Ctrl-C, everything ends at once.

        Args:
            tasks: the tasks of the run.
        """
        import asyncio

        again, self.begun = self.begun, True
        try:
            if not again:
                await self._landed()
                if any(not task.done() for task in tasks):
                    await asyncio.wait(tasks, timeout=_GRACE)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _landed(self) -> None:
        import asyncio

        for flight in list(self.flights):
            if flight.waits:
                flight.end()
        now = asyncio.get_running_loop().time
        end = now() + UNLIMITED_SECONDS
        while self.flights:
            limited = all(flight.limits for flight in self.flights)
            tasks = [flight.task for flight in self.flights if flight.task is not None]
            timeout = None if limited else max(0.0, end - now())
            await asyncio.wait(tasks, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
            for flight in list(self.flights) if now() >= end else ():
                if not flight.limits:
                    flight.end()


_drain: ContextVar[Drain | None] = ContextVar("drain", default=None)


@contextmanager
def waiting() -> Iterator[None]:
    """Mark a wait of the current call in which no request is on its way.

    Raises:
        CancelledError: the run stops, so the call may not go on.
    """
    flight = _current.get() or _Flight(None)
    if flight.drain is not None and flight.drain.begun:
        raise _cancelled()
    flight.waits += 1
    try:
        yield
    finally:
        flight.waits -= 1


@contextmanager
def limited() -> Iterator[None]:
    """Mark a part of the current call that has a time limit."""
    flight = _current.get() or _Flight(None)
    flight.limits += 1
    try:
        yield
    finally:
        flight.limits -= 1


class Landed(NamedTuple, Generic[T]):
    """A call that has ended."""

    task: asyncio.Task[T]
    """Has the result or the exception of the call."""
    cancelled: BaseException | None
    """The cancellation of the caller, which it raises after it has kept the result."""


async def land(call: Coroutine[Any, Any, T]) -> Landed[T]:
    """Await a call, and let it end if the caller is cancelled while its request is on its way.

    A call without a time limit has `UNLIMITED_SECONDS`. A second cancellation ends it at once.

    Raises:
        CancelledError: the call was cancelled, or its run stops.
    """
    import asyncio

    drain = _drain.get()
    if drain is not None and drain.begun:
        call.close()
        raise _cancelled()
    flight = _Flight(drain)
    token = _current.set(flight)
    try:
        task = flight.task = asyncio.ensure_future(_without_exit(call))
    finally:
        _current.reset(token)
    if drain is not None:
        drain.flights.add(flight)
        task.add_done_callback(lambda _: drain.flights.discard(flight))
    cancelled: BaseException | None = None
    try:
        await asyncio.wait((task,))
    except asyncio.CancelledError as exc:
        cancelled = exc
        first = drain is None or not drain.begun
        if first and not task.done() and not flight.waits:
            try:
                await asyncio.wait((task,), timeout=None if flight.limits else UNLIMITED_SECONDS)
            except asyncio.CancelledError:
                await _end(task)
                raise
        if not task.done():
            await _end(task)
    if task.cancelled():
        raise cancelled or _cancelled()
    return Landed(task, cancelled)


async def _without_exit(call: Coroutine[Any, Any, T]) -> T:
    """Await a call of a judge; its `sys.exit` is an error, because it would end the event loop."""
    try:
        return await call
    except SystemExit as exc:
        raise RuntimeError(f"the judge called sys.exit({exc.code!r})") from None


async def _end(task: asyncio.Task[Any]) -> None:
    import asyncio

    task.cancel()
    await asyncio.wait((task,))


def _cancelled() -> BaseException:
    import asyncio

    return asyncio.CancelledError("the run stops")
