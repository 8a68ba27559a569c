"""Writes texts to a store: those that arrive during a transaction share the next one."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import asyncio

    from judgekit.cassette.store import Store  # loads diskcache, which a replay does not need


class StoreWriter:
    """Writes to a store outside of the event loop, in one transaction at a time.

    Args:
        store: the store.
    """

    def __init__(self, store: Store) -> None:
        self.store = store
        self._waiting: list[tuple[str, str, asyncio.Future[None]]] = []
        self._loop: asyncio.AbstractEventLoop | None = None
        self._writing = False

    def put(self, key: str, text: str) -> asyncio.Future[None]:
        """Return a future that ends when the text is stored; cancelling it stops nothing.

        Its exception is a `CassetteError` if the database cannot be written.
        """
        import asyncio

        loop = asyncio.get_running_loop()
        if self._loop is not loop:  # what waits on another loop has ended with it
            self._loop, self._waiting, self._writing = loop, [], False
        stored: asyncio.Future[None] = loop.create_future()
        self._waiting.append((key, text, stored))
        if not self._writing:
            self._write(loop)
        return stored

    def _write(self, loop: asyncio.AbstractEventLoop) -> None:
        batch, self._waiting = self._waiting, []
        self._writing = True
        texts = [(key, text) for key, text, _ in batch]
        written = loop.run_in_executor(None, self.store.put_all, texts)
        written.add_done_callback(partial(self._end, loop, batch))

    def _end(
        self,
        loop: asyncio.AbstractEventLoop,
        batch: list[tuple[str, str, asyncio.Future[None]]],
        written: asyncio.Future[None],
    ) -> None:
        self._writing = False
        error = written.exception()
        for _, _, stored in batch:
            if not stored.done():
                stored.set_result(None) if error is None else stored.set_exception(error)
        if self._waiting:
            self._write(loop)
