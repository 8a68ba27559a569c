"""Keep live replies: in the store immediately, and as tape lines until the run ends."""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from judgekit.core.output_file import nameless_file

if TYPE_CHECKING:
    import asyncio

    from judgekit.cassette.store import Store  # loads diskcache, which a replay does not need


class NewLines:
    """Tape lines by key, in an unnamed temporary file; only the keys are in memory.

    The store has every reply, too. If the disk is full, no lines are kept here.

    Args:
        folder: where to create the file, with the first line.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file: TextIO | None = None
        self._end = 0
        self._starts: dict[str, int] = {}
        self._parts: dict[str, str] = {}
        """The part lines of all lines, by digest."""
        self._closed = False

    def put(self, key: str, line: str, parts: Mapping[str, str]) -> None:
        """Keep a line; it replaces an earlier line of the key."""
        if self._closed:
            return
        data = f"{line}\n".encode()
        try:
            if self._file is None:
                self._file = nameless_file(self._folder)
                weakref.finalize(self, self._file.close)  # in case the cassette is not closed
            self._file.buffer.write(data)
        except OSError:
            self.close()
            return
        self._starts[key] = self._end
        self._parts.update(parts)
        self._end += len(data)

    def get(self, key: str) -> tuple[str, Mapping[str, str]] | None:
        """Return a line, and the part lines of all lines; `None` if the key has no line."""
        start = self._starts.get(key)
        if start is None or self._file is None:
            return None
        try:
            self._file.buffer.seek(start)
            line = self._file.buffer.readline().decode()
            self._file.buffer.seek(self._end)
        except OSError:
            self.close()
            return None
        return line[:-1], self._parts

    def close(self) -> None:
        """Delete the file."""
        self._closed = True
        self._starts.clear()
        self._parts.clear()
        if self._file is not None:
            with suppress(OSError):
                self._file.close()


class StoreWriter:
    """Writes to a store outside the event loop, one transaction at a time.

    Args:
        store: the store.
    """

    def __init__(self, store: Store) -> None:
        self.store = store
        # One thread, because each thread has its own connection, which is three open files.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="judgekit-store")
        self._waiting: list[tuple[str, str, asyncio.Future[None]]] = []
        self._loop: asyncio.AbstractEventLoop | None = None
        self._writing = False

    async def check(self) -> None:
        """Open the connection before the first call, and check that the disk is not full.

        Raises:
            CassetteError: the database cannot be written.
        """
        import asyncio

        await asyncio.get_running_loop().run_in_executor(self._thread, self.store.check_room)

    def close(self) -> None:
        """End the thread, after the writes that have begun."""
        self._thread.shutdown()

    def put(self, key: str, text: str) -> asyncio.Future[None]:
        """Return a future that ends when the text is stored; cancelling it does not stop the write.

        It raises `CassetteError` if the database cannot be written.
        """
        import asyncio

        loop = asyncio.get_running_loop()
        if self._loop is not loop:  # the waiters of another loop have ended with it
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
        written = loop.run_in_executor(self._thread, self.store.put_all, texts)
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
