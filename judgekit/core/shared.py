"""One asynchronous call that is shared by several waiters."""

from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    import asyncio

T = TypeVar("T")


class SharedCall(Generic[T]):
    """A call that its first waiter makes; later waiters share the result.

    If the waiter that makes the call is cancelled, another one makes it again. A call in another
    event loop is not shared.

    Args:
        make: returns the coroutine of a new call.
    """

    def __init__(self, make: Callable[[], Coroutine[Any, Any, T]]) -> None:
        self._make = make
        self._ended: asyncio.Future[T] | None = None

    @property
    def running(self) -> bool:
        """Whether the call has started and not ended."""
        return self._ended is not None and not self._ended.done()

    async def __call__(self) -> T:
        """Return the result of the call, or raise its exception."""
        import asyncio  # imported here: a replay creates judges but does not need asyncio

        loop = asyncio.get_running_loop()
        waited = False
        while (other := self._ended) and other.get_loop() is loop and not other.cancelled():
            if other.done() and not waited:
                break
            waited = True
            try:
                return await asyncio.shield(other)
            except asyncio.CancelledError:
                this = asyncio.current_task()
                if not other.cancelled() or (this is not None and this.cancelling()):
                    raise
        ended: asyncio.Future[T] = loop.create_future()
        self._ended = ended
        try:
            ended.set_result(await self._make())
        except Exception as exc:  # noqa: BLE001 - raised below, in every waiter
            ended.set_exception(exc)
        except BaseException:
            ended.cancel()
            raise
        return ended.result()
