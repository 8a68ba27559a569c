"""Slots of this process for calls to servers, as many as its limit of open files allows."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from judgekit.core.in_flight import waiting
from judgekit.core.open_files import calls_that_fit, file_limit
from judgekit.core.slots import Slots

if TYPE_CHECKING:
    import asyncio


class _Slots:
    """The slots of one event loop."""

    def __init__(self, count: int | None) -> None:
        self.slots = None if count is None else Slots(count)
        self.noted = False

    def note(self, count: int) -> None:
        """Log once that the limit holds calls back."""
        if not self.noted:
            self.noted = True
            logging.getLogger("judgekit").warning(
                "at most %s calls run at once, because this process may open %s files; "
                "raise `ulimit -n` for more",
                count,
                file_limit(),
            )


_slots: WeakKeyDictionary[asyncio.AbstractEventLoop, _Slots] = WeakKeyDictionary()


@asynccontextmanager
async def call_slot() -> AsyncIterator[None]:
    """Wait until this process can open a connection, and keep it for the body.

    All judges share the slots, whatever their own limits are.
    """
    import asyncio

    loop: Any = asyncio.get_running_loop()
    slots = _slots.get(loop)
    if slots is None:
        slots = _slots[loop] = _Slots(calls_that_fit())
    if slots.slots is None:
        yield
        return
    async with AsyncExitStack() as taken:
        if slots.slots.full:
            slots.note(slots.slots.count)
            with waiting():
                await taken.enter_async_context(slots.slots.slot())
        else:
            await taken.enter_async_context(slots.slots.slot())
        yield
