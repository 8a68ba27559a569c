"""Let calls in flight end when the work around them is cancelled: their replies are paid for."""

from __future__ import annotations

from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

T = TypeVar("T")

UNLIMITED_SECONDS = 5.0
"""Seconds that a call without a time limit may go on: a function of a user may never end."""


class _Flight:
    """The state of a call; the judge of the call and its wrappers count their waits in it."""

    def __init__(self) -> None:
        self.waits = 0
        """Waits that the call is in, for a slot, a pace, a budget or the next attempt."""
        self.limits = 0
        """Time limits that the call is in, so that it ends by itself."""


_current: ContextVar[_Flight | None] = ContextVar("flight", default=None)


@contextmanager
def waiting() -> Iterator[None]:
    """Mark a wait of the current call in which no request is on its way."""
    flight = _current.get() or _Flight()
    flight.waits += 1
    try:
        yield
    finally:
        flight.waits -= 1


@contextmanager
def limited() -> Iterator[None]:
    """Mark a part of the current call that has a time limit."""
    flight = _current.get() or _Flight()
    flight.limits += 1
    try:
        yield
    finally:
        flight.limits -= 1


async def land(call: Coroutine[Any, Any, T]) -> tuple[T, BaseException | None]:
    """Await a call, and let it end if it is cancelled while its request is on its way.

    A call without a time limit has `UNLIMITED_SECONDS`. A second cancellation ends it at once.

    Returns:
        The result, and the cancellation, which the caller raises after it has kept the result.
    """
    import asyncio

    flight = _Flight()
    token = _current.set(flight)
    try:
        task = asyncio.ensure_future(call)
    finally:
        _current.reset(token)
    try:
        return await asyncio.shield(task), None
    except asyncio.CancelledError as exc:
        if not task.done() and not flight.waits:
            try:
                await asyncio.wait((task,), timeout=None if flight.limits else UNLIMITED_SECONDS)
            except asyncio.CancelledError:
                await _end(task)
                raise
        if not task.done():
            await _end(task)
        if task.cancelled() or task.exception() is not None:
            raise
        return task.result(), exc


async def _end(task: Any) -> None:
    import asyncio

    task.cancel()
    await asyncio.wait((task,))
