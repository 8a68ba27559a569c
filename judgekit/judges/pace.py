"""The pace of the calls to one server: when the next one may start."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Literal, Protocol

from judgekit.judges.limiter import Limiter

if TYPE_CHECKING:
    import asyncio

Limit = float | Literal["auto"] | None
"""A limit: a number, `auto` to learn it from the server, or none."""


class Pace(Protocol):
    """Decides when a call to a server may start; every HTTP attempt asks it.

    All arguments and results are plain data, so that an object of another process may implement it.
    """

    async def acquire(self, tokens: float) -> int:
        """Wait until a call may start.

        Args:
            tokens: estimated tokens of the request and its reply.

        Returns:
            The number of the call, for `settle`.
        """

    async def settle(
        self,
        call: int,
        *,
        status: int | None,
        headers: Mapping[str, str],
        tokens: float | None,
        seconds: float,
    ) -> None:
        """End a call; every number that `acquire` returns is settled once.

        Args:
            call: the number of the call.
            status: HTTP status; `None` if there was no response.
            headers: those of the response, with names in lower case.
            tokens: tokens of request and reply; `None` if unknown.
            seconds: time from the start of the call to its end.
        """


class LocalPace:
    """The pace of the calls of this process to one server.

    Args:
        name: the server in log messages.
        concurrency: `auto`, or no limit here.
        rpm: requests a minute.
        tpm: tokens a minute.
        max_wait: longest wait in seconds that a header of the server causes.
        clock: returns seconds; by default the clock of the event loop.
    """

    def __init__(
        self,
        name: str,
        *,
        concurrency: Limit = None,
        rpm: Limit = None,
        tpm: Limit = None,
        max_wait: float = 60.0,
        clock: Callable[[], float] | None = None,
    ) -> None:
        self._clock = clock
        self.limiter = Limiter(name, concurrency, rpm, tpm, max_wait)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._turn: asyncio.Lock
        self._changed: asyncio.Event

    async def acquire(self, tokens: float) -> int:
        """Wait until a call may start; first come, first served."""
        import asyncio

        loop = asyncio.get_running_loop()
        if self._loop is not loop:  # the calls of another loop never end
            self._loop, self._turn, self._changed = loop, asyncio.Lock(), asyncio.Event()
            self.limiter.forget_calls()
        clock = self._clock or loop.time
        async with self._turn:
            since = clock()
            while wait := self.limiter.wait(tokens, now=clock(), since=since):
                self._changed.clear()
                try:
                    async with asyncio.timeout(wait):
                        await self._changed.wait()
                except TimeoutError:
                    pass
            return self.limiter.start(tokens, now=clock(), since=since)

    async def settle(
        self,
        call: int,
        *,
        status: int | None,
        headers: Mapping[str, str],
        tokens: float | None,
        seconds: float,
    ) -> None:
        """End a call."""
        now = (self._clock or self._loop.time)() if self._loop is not None else 0.0
        self.limiter.end(
            call, now=now, status=status, headers=headers, tokens=tokens, seconds=seconds
        )
        self._changed.set()
