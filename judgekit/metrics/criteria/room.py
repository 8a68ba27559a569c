"""How many requests about criteria may be open at once.

A case with 400 criteria has up to 400 requests, which take some MB until it has its score. The
window of a run counts cases, so it alone would keep many such cases in memory.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import asyncio

LEAST = 256
"""Number of open requests below which a case may always start."""


class RequestRoom:
    """Lets a case start while few requests are open.

    The window of a run is twice the number of concurrent calls. A case therefore starts while fewer
    requests are open than there are cases here, which keeps every call busy.
    """

    def __init__(self) -> None:
        self._cases = self._open = 0
        self._left: asyncio.Event | None = None

    @asynccontextmanager
    async def entered(self) -> AsyncIterator[Callable[[int], None]]:
        """Wait until a case may start; yield a function that takes its number of requests.

        A case that waits is only its row; its criteria are read afterwards.
        """
        self._cases += 1
        taken = 0

        def take(requests: int) -> None:
            nonlocal taken
            taken += requests
            self._open += requests

        try:
            while self._open >= max(LEAST, self._cases):
                if self._left is None:
                    import asyncio

                    self._left = asyncio.Event()
                await self._left.wait()
            yield take
        finally:
            self._cases -= 1
            self._open -= taken
            if self._left is not None:
                self._left.set()
                self._left = None
