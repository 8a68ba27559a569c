"""Work that waits for nothing: done on the spot, without an event loop.

A replay asks nobody. Loading asyncio and handing rows to it takes longer than a small replay.
"""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class Flag:
    """Something that is set once, such as the wish to stop."""

    def __init__(self) -> None:
        self._set = False

    def set(self) -> None:
        """Set it."""
        self._set = True

    def is_set(self) -> bool:
        """Return whether it was set."""
        return self._set


def done_at_once(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine that waits for nothing to its end.

    Raises:
        RuntimeError: it waits after all.
    """
    try:
        work.send(None)
    except StopIteration as done:
        result: T = done.value
        return result
    work.close()
    raise RuntimeError(f"{work!r} waits for something, which takes an event loop")


__all__ = ["Flag", "done_at_once"]
