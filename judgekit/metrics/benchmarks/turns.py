"""How many processes work at once: as many as there are processors to work on."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    import asyncio

# By event loop, because a semaphore belongs to one; the processors belong to the machine.
_turns: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = WeakKeyDictionary()


def turns() -> asyncio.Semaphore:
    """Return what to hold while a process works, so that time limits mean the same under load."""
    import asyncio

    return _turns.setdefault(asyncio.get_running_loop(), asyncio.Semaphore(processors()))


def processors() -> int:
    """Return the number of processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return max(1, len(os.sched_getaffinity(0)))
    return os.cpu_count() or 1
