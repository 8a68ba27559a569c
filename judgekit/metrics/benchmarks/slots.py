"""Limits the number of processes that run at the same time to the number of processors."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    import asyncio

# By event loop, because a semaphore belongs to one; the processors belong to the machine.
_slots: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = WeakKeyDictionary()


def process_slots() -> asyncio.Semaphore:
    """Return the semaphore for a running process; it keeps time limits fair under load."""
    import asyncio

    return _slots.setdefault(asyncio.get_running_loop(), asyncio.Semaphore(processors()))


def processors() -> int:
    """Return the number of processors this process may use."""
    usable = os.cpu_count()
    if sys.platform == "linux":
        usable = len(os.sched_getaffinity(0))
    return usable or 1
