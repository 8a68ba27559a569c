"""Run coroutines that never wait without an event loop; run several coroutines together.

A replay never waits, and importing asyncio takes longer than a small replay.
"""

from collections.abc import Coroutine, Iterable
from typing import Any, TypeVar

T = TypeVar("T")


class Flag:
    """A request to stop, for code without an event loop."""

    def __init__(self) -> None:
        self._set = False

    def set(self) -> None:
        """Request the stop."""
        self._set = True

    def is_set(self) -> bool:
        """Return whether a stop is requested."""
        return self._set


def run_inline(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine that never waits and return its result.

    Raises:
        RuntimeError: the coroutine waits.
    """
    try:
        work.send(None)
    except StopIteration as done:
        result: T = done.value
        return result
    work.close()
    raise RuntimeError(f"{work!r} waits, which needs an event loop")


async def outcomes_of(
    work: Iterable[Coroutine[Any, Any, T]], *, inline: bool
) -> list[T | BaseException]:
    """Return the result or the error of each coroutine after all have ended.

    Args:
        work: the coroutines.
        inline: whether none of them waits; they run one after the other then.
    """
    if not inline:
        import asyncio

        return list(await asyncio.gather(*work, return_exceptions=True))
    outcomes: list[T | BaseException] = []
    for one in work:
        try:
            outcomes.append(await one)
        except Exception as exc:  # noqa: BLE001 - returned
            outcomes.append(exc)
    return outcomes


async def gather_all(work: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """Run coroutines concurrently and return their results in order.

    Raises:
        BaseException: the first error in the order of the coroutines, after all have ended.
    """
    results: list[T] = []
    for outcome in await outcomes_of(work, inline=False):
        if isinstance(outcome, BaseException):
            raise outcome
        results.append(outcome)
    return results
