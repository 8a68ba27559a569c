"""One call with several waiters."""

import asyncio

import pytest

from judgekit.core.shared import SharedCall


class Calls:
    """Makes calls that end when `go` is set; the result is the number of the call."""

    def __init__(self) -> None:
        self.made = 0
        self.go = asyncio.Event()
        self.error: Exception | None = None

    async def make(self) -> int:
        self.made += 1
        number = self.made
        await self.go.wait()
        if self.error is not None:
            raise self.error
        return number


async def started(count: int, error: Exception | None = None):
    calls = Calls()
    calls.error = error
    call = SharedCall(calls.make)
    waiters = [asyncio.create_task(call()) for _ in range(count)]
    await asyncio.sleep(0)
    assert call.running
    return calls, call, waiters


async def ended(calls, waiters):
    calls.go.set()
    return await asyncio.gather(*waiters, return_exceptions=True)


def test_waiters_share_one_call_and_the_next_makes_a_new_one():
    async def run():
        calls, call, waiters = await started(3)
        results = await ended(calls, waiters)
        return results, call.running, await call()

    assert asyncio.run(run()) == ([1, 1, 1], False, 2)


def test_an_error_reaches_every_waiter():
    async def run():
        error = ValueError("no")
        calls, _, waiters = await started(3, error)
        return error, await ended(calls, waiters)

    error, results = asyncio.run(run())

    assert results == [error] * 3


@pytest.mark.parametrize("number", [0, 1])
def test_a_waiter_that_is_cancelled_ends_alone(number):
    async def run():
        calls, _, waiters = await started(3)
        waiters[number].cancel()
        results = await ended(calls, waiters)
        return calls.made, results

    made, results = asyncio.run(run())

    assert isinstance(results.pop(number), asyncio.CancelledError)
    made_by_another = 2 if number == 0 else 1
    assert made == made_by_another
    assert results == [made_by_another] * 2


def test_waiters_that_are_all_cancelled_make_no_further_call():
    async def run():
        calls, call, waiters = await started(3)
        for waiter in waiters:
            waiter.cancel()
        results = await ended(calls, waiters)
        return calls.made, call.running, [type(result) for result in results]

    assert asyncio.run(run()) == (1, False, [asyncio.CancelledError] * 3)


def test_a_call_of_another_event_loop_is_not_shared():
    calls = []

    async def make():
        calls.append(asyncio.get_running_loop())
        return len(calls)

    call = SharedCall(make)

    async def inner():
        result = await asyncio.to_thread(lambda: asyncio.run(asyncio.wait_for(call(), 60)))
        return result

    async def outer():
        waiting = SharedCall(inner)
        return await waiting()

    assert asyncio.run(outer()) == 1
    assert asyncio.run(asyncio.wait_for(call(), 60)) == 2
    assert len(set(map(id, calls))) == 2
