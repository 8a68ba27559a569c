"""How many requests about criteria are open at once."""

import asyncio

import pytest

from judgekit.metrics.criteria.room import LEAST, RequestRoom


@pytest.mark.parametrize(
    ("cases", "requests", "together"),
    [
        (20, LEAST, 1),
        (20, 50, 6),  # 5 x 50 is below the limit, so a sixth starts
        (20, 1, 20),
        (2 * LEAST, 1, 2 * LEAST),  # never fewer than the cases of the window
        (2 * LEAST, 2, LEAST),
    ],
)
def test_cases_wait_while_many_requests_are_open(cases, requests, together):
    room, most, inside = RequestRoom(), 0, 0

    async def case():
        nonlocal most, inside
        async with room.entered() as take:
            take(requests)
            inside += 1
            most = max(most, inside)
            # All of the window are here before the first one leaves.
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            inside -= 1

    async def everything():
        await asyncio.gather(*(case() for _ in range(cases)))

    asyncio.run(everything())

    assert most <= max(together, 1) + 1
    assert most >= min(together, LEAST // requests)
    assert inside == 0


def test_a_case_that_fails_or_is_cancelled_leaves():
    room = RequestRoom()

    async def run():
        async def fails():
            async with room.entered() as take:
                take(LEAST)
                raise ValueError("wrong")

        with pytest.raises(ValueError, match="wrong"):
            await fails()

        async def holds():
            async with room.entered() as take:
                take(LEAST)
                await asyncio.sleep(60)

        async def waits():
            async with room.entered():
                return "in"

        first = asyncio.create_task(holds())
        await asyncio.sleep(0)
        second, third = asyncio.create_task(waits()), asyncio.create_task(waits())
        await asyncio.sleep(0)
        assert not third.done()
        second.cancel()
        first.cancel()
        return await third

    assert asyncio.run(run()) == "in"
