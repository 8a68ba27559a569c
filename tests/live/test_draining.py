"""A run that stops: replies to calls in flight are stored before the error is raised."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from judgekit.cassette.cassette import Cassette
from judgekit.cassette.store import Store
from judgekit.core.errors import JudgeRejected
from judgekit.judges.connections import closing_connections
from judgekit.judges.limits import LimitedJudge

from .asking import judge_of, run, stored, tokens
from .server import Server, always, error
from .test_replies import request

pytestmark = pytest.mark.loopback


def test_rejection_stores_the_replies_to_calls_in_flight(server: Server, tmp_path: Path) -> None:
    server.latency = 0.3
    server.plan = {"case-005": always(error(401, "no such key"))}

    with pytest.raises(JudgeRejected):
        run(judge_of(server), tokens(40), tmp_path, concurrency=8, window=16)

    answered = {seen.token for seen in server.seen} - {"case-005"}
    assert len(answered) >= 7
    assert stored(tmp_path / "suite.yaml") == answered


def asked_and_cancelled(server: Server, folder: Path, *, times: int) -> int:
    """Cancel 8 requests with 4 calls in flight; return the number of stored replies."""

    async def work() -> int:
        judge = LimitedJudge(judge_of(server), concurrency=4)
        store = Store(folder / "store")
        cassette = Cassette(judge, store=store, record="new_episodes")
        async with closing_connections():
            asks = [asyncio.ensure_future(cassette.ask(request(f"case-{n}"))) for n in range(8)]
            await asyncio.to_thread(server.wait_for, 4)
            for _ in range(times):
                for ask in asks:
                    ask.cancel()
                await asyncio.sleep(0)
            results = await asyncio.gather(*asks, return_exceptions=True)
        assert {type(result) for result in results} == {asyncio.CancelledError}
        count = len(list(store.keys()))
        cassette.close()
        return count

    return asyncio.run(work())


def test_cancelled_calls_end_and_are_stored_and_none_starts(server: Server, tmp_path: Path) -> None:
    server.latency = 0.3

    assert asked_and_cancelled(server, tmp_path, times=1) == server.calls() == 4


def test_second_cancellation_ends_the_calls_at_once(server: Server, tmp_path: Path) -> None:
    server.latency = 20.0

    assert asked_and_cancelled(server, tmp_path, times=3) == 0


def test_call_that_waits_for_another_attempt_is_not_in_flight(
    server: Server, tmp_path: Path
) -> None:
    server.plan = {"*": always(error(500, "oops", headers={"retry-after": "30"}))}

    async def work() -> None:
        judge = LimitedJudge(judge_of(server, retries=1, max_wait=60))
        cassette = Cassette(judge, store=Store(tmp_path / "store"), record="new_episodes")
        async with closing_connections():
            ask = asyncio.ensure_future(cassette.ask(request()))
            await asyncio.to_thread(server.wait_for, 1)
            await asyncio.sleep(0.5)
            async with asyncio.timeout(15):
                ask.cancel()
                await asyncio.gather(ask, return_exceptions=True)
        assert ask.cancelled()
        cassette.close()

    asyncio.run(work())
