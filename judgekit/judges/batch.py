"""Send concurrent requests for texts in one call."""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from judgekit.core.errors import CaseError
from judgekit.judges.translation import BadRequest

if TYPE_CHECKING:
    import asyncio

T = TypeVar("T")

MOST_TEXTS = 64
MOST_CHARACTERS = 100_000
"""Characters of one call; hosted providers accept more, small servers less."""
CALLS = 4
"""Concurrent calls by default."""
_LINGER = 0.005
"""Seconds that the first text waits for others; a call takes much longer."""


class _Waiting(NamedTuple):
    text: str
    future: asyncio.Future[object]


class Batch(Generic[T]):
    """Collects texts while calls are running and sends them together.

    A rejected call is repeated in halves, so that one bad text fails alone.
    """

    def __init__(self, send: Callable[[list[str]], Awaitable[list[T]]]) -> None:
        self._send = send
        self.calls = CALLS
        """Most concurrent calls."""
        self._queue: deque[_Waiting] = deque()
        self._calls: set[asyncio.Task[None]] = set()
        self._loop: asyncio.AbstractEventLoop | None = None

    async def ask(self, text: str) -> T:
        """Return the result for a text."""
        import asyncio

        loop = asyncio.get_running_loop()
        if self._loop is not loop:  # texts of another loop are sent there
            self._loop, self._queue, self._calls = loop, deque(), set()
        future: asyncio.Future[T] = loop.create_future()
        self._queue.append(_Waiting(text, future))  # type: ignore[arg-type]
        if len(self._calls) < self.calls:
            call = loop.create_task(self._work(self._queue))
            self._calls.add(call)
            call.add_done_callback(self._calls.discard)
        return await future

    async def _work(self, queue: deque[_Waiting]) -> None:
        import asyncio

        await asyncio.sleep(_LINGER)
        while queue:
            batch = _next(queue)
            if batch:
                await self._serve(batch)

    async def _serve(self, batch: list[_Waiting]) -> None:
        """Send a batch; an error only concerns its texts."""
        try:
            results = await self._send([waiting.text for waiting in batch])
            pairs = list(zip(batch, results, strict=True))
        except (CaseError, BadRequest) as exc:
            if len(batch) == 1:
                _fail(batch, exc)
                return
            half = len(batch) // 2
            await self._serve(batch[:half])
            await self._serve(batch[half:])
        except Exception as exc:  # noqa: BLE001 - the worker must go on with the next batch
            _fail(batch, exc)
        except BaseException as exc:
            _fail(batch, exc)
            raise
        else:
            for waiting, one in pairs:
                if not waiting.future.done():
                    waiting.future.set_result(one)


def _next(queue: deque[_Waiting]) -> list[_Waiting]:
    """Take the texts of one call, without cancelled ones."""
    batch: list[_Waiting] = []
    characters = 0
    while queue and len(batch) < MOST_TEXTS:
        if queue[0].future.done():
            queue.popleft()
            continue
        characters += len(queue[0].text)
        if batch and characters > MOST_CHARACTERS:
            break
        batch.append(queue.popleft())
    return batch


def _fail(batch: list[_Waiting], error: BaseException) -> None:
    import asyncio

    for waiting in batch:
        if waiting.future.done():
            continue
        if isinstance(error, asyncio.CancelledError):
            waiting.future.cancel()
        else:
            waiting.future.set_exception(error)
