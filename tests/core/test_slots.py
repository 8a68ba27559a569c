from __future__ import annotations

import asyncio

import pytest

from judgekit.core.slots import Slots, outside_slots


def test_a_slot_is_given_back_meanwhile_and_taken_again():
    slots, order = Slots(1), []

    async def waits():
        async with slots.slot():
            order.append("first")
            async with outside_slots():
                await asyncio.sleep(0)
                await asyncio.sleep(0)
            order.append("first again")

    async def other():
        async with slots.slot():
            order.append("second")

    async def both():
        await asyncio.gather(waits(), other())
        assert not slots.full

    asyncio.run(both())

    assert order == ["first", "second", "first again"]


def test_a_task_gives_only_its_own_slots_back():
    slots = Slots(1)

    async def inner():
        async with outside_slots():
            assert slots.full

    async def outer():
        async with slots.slot():
            await asyncio.create_task(inner())
        assert not slots.full

    asyncio.run(outer())


@pytest.mark.parametrize("when", ["outside", "coming back"])
def test_a_cancelled_wait_leaves_no_slot_taken(when):
    slots = Slots(1)

    async def waits(out):
        async with slots.slot(), outside_slots():
            out.set()
            await asyncio.sleep(3600 if when == "outside" else 0)

    async def cancelling():
        out = asyncio.Event()
        task = asyncio.create_task(waits(out))
        await out.wait()
        if when == "outside":
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        else:
            async with slots.slot():
                await asyncio.sleep(0)
                await asyncio.sleep(0)
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
                assert slots.full
        assert not slots.full

    asyncio.run(cancelling())


def test_an_error_of_the_check_gives_the_slot_back():
    slots = Slots(1)

    def check():
        raise ValueError("down")

    async def waits():
        with pytest.raises(ValueError, match="down"):
            async with slots.slot(check), outside_slots():
                pass
        assert not slots.full

    asyncio.run(waits())
