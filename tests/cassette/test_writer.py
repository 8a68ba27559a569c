"""Texts that arrive during a transaction share the next one."""

from __future__ import annotations

import asyncio
import threading

import pytest

from judgekit.cassette.new_replies import StoreWriter, close_writers, store_writer
from judgekit.cassette.store import Store
from judgekit.core.errors import CassetteError


class GatedStore(Store):
    """A store whose first transaction waits."""

    def __init__(self, folder):
        super().__init__(folder)
        self.gate = threading.Event()
        self.batches = []

    def put_all(self, texts):
        self.batches.append([key for key, _ in texts])
        assert self.gate.wait(60)
        super().put_all(texts)


def test_texts_that_arrive_during_a_transaction_share_the_next(tmp_path):
    store = GatedStore(tmp_path / "store")
    writer = StoreWriter(store)

    async def write():
        first = writer.put("a", "1")
        rest = [writer.put(key, key) for key in "bcd"]
        assert not first.done()
        store.gate.set()
        await asyncio.gather(first, *rest)

    asyncio.run(write())

    assert store.batches == [["a"], ["b", "c", "d"]]
    assert [store.get(key) for key in "abcd"] == ["1", "b", "c", "d"]
    store.close()


def test_an_error_is_that_of_every_text_of_its_transaction_and_of_no_other(tmp_path, monkeypatch):
    store = GatedStore(tmp_path / "store")
    writer = StoreWriter(store)
    put = store._cache.set

    def full(key, text):
        if key == "c":
            raise OSError(28, "No space left on device")
        put(key, text)

    monkeypatch.setattr(store._cache, "set", full)

    async def write():
        stored = [writer.put(key, key) for key in "abc"]
        store.gate.set()
        ends = await asyncio.gather(*stored, return_exceptions=True)
        await writer.put("d", "d")
        return ends

    first, *others = asyncio.run(write())

    assert first is None
    assert all(isinstance(error, CassetteError) for error in others)
    # The transaction wrote nothing.
    assert [store.get(key) for key in "abcd"] == ["a", None, None, "d"]
    store.close()


def test_each_event_loop_has_its_writer(tmp_path):
    store = Store(tmp_path / "store")

    async def begin():
        store_writer(store).put("a", "1")
        assert store_writer(store) is store_writer(store)

    async def write():
        await asyncio.wait_for(store_writer(store).put("b", "2"), 60)

    asyncio.run(begin())
    asyncio.run(write())

    assert store.get("b") == "2"
    close_writers(store)
    assert store.get("a") == "1"
    store.close()


@pytest.mark.parametrize("count", [0, 1, 2])
def test_any_number_of_texts_is_stored(tmp_path, count):
    store = Store(tmp_path / "store")

    store.put_all([(str(n), "x") for n in range(count)])

    assert sorted(store.keys()) == [str(n) for n in range(count)]
    store.close()
