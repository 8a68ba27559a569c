"""Keep live replies: in the store immediately, and as tape lines until the run ends."""

from __future__ import annotations

import os
import threading
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

    The store has every reply, too. If the disk is full, no lines are kept here. Threads may share
    an object; after a fork, the child begins with an empty one and a file of its own.

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
        self._lock = threading.RLock()
        _new_lines.add(self)

    def put(self, key: str, line: str, parts: Mapping[str, str]) -> None:
        """Keep a line; it replaces an earlier line of the key."""
        data = f"{line}\n".encode()
        with self._lock:
            if self._closed:
                return
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
        with self._lock:
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

    def begin_in_child(self) -> None:
        """Forget the file of the parent process, whose position both would move."""
        self._lock = threading.RLock()
        if self._file is not None:
            # The buffer may hold bytes that only the parent may write.
            with suppress(OSError):
                nothing = os.open(os.devnull, os.O_WRONLY)
                os.dup2(nothing, self._file.fileno())
                os.close(nothing)
        self._file, self._end = None, 0
        self._starts.clear()
        self._parts.clear()

    def close(self) -> None:
        """Delete the file."""
        self._closed = True
        self._starts.clear()
        self._parts.clear()
        if self._file is not None:
            with suppress(OSError):
                self._file.close()


_new_lines: weakref.WeakSet[NewLines] = weakref.WeakSet()
_writers: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, list[StoreWriter]]
_writers = weakref.WeakKeyDictionary()


def _begin_in_child() -> None:
    for lines in list(_new_lines):
        lines.begin_in_child()
    _writers.clear()  # their threads are in the parent


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_in_child)


def store_writer(store: Store) -> StoreWriter:
    """Return the writer of a store for the running event loop."""
    import asyncio

    writers = _writers.setdefault(asyncio.get_running_loop(), [])
    writer = next((one for one in writers if one.store is store), None)
    if writer is None:
        writer = StoreWriter(store)
        writers.append(writer)
    return writer


def close_writers(store: Store) -> None:
    """End the threads that write to a store."""
    for writers in list(_writers.values()):
        for writer in [one for one in writers if one.store is store]:
            writers.remove(writer)
            writer.close()


class StoreWriter:
    """Writes to a store outside its event loop, one transaction at a time.

    Args:
        store: the store.
    """

    def __init__(self, store: Store) -> None:
        self.store = store
        # One thread, because each thread has its own connection, which is three open files.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="judgekit-store")
        self._waiting: list[tuple[str, str, asyncio.Future[None]]] = []
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
