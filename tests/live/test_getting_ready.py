"""What happens before the first call: libraries are loaded while the rest goes on."""

from __future__ import annotations

import asyncio
import threading

import pytest

from judgekit.core.errors import JudgeRejected
from judgekit.judges.connections import closing_connections
from judgekit.judges.litellm import LiteLLMJudge

from .asking import judge_of
from .server import Server
from .test_replies import request

pytestmark = pytest.mark.loopback


def test_loading_the_libraries_does_not_stop_the_loop(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded: list[bool] = []
    turned = threading.Event()

    def slow() -> None:
        loaded.append(turned.wait(300))

    judge = judge_of(server)
    monkeypatch.setattr(judge._calls.transport, "load", slow)

    async def asking() -> None:
        async with closing_connections():
            rows = [asyncio.create_task(judge.ask(request(f"case-{n}"))) for n in range(5)]
            for _ in range(10):  # the loop turns, though nobody gets an answer yet
                await asyncio.sleep(0)
            turned.set()
            await asyncio.gather(*rows)

    asyncio.run(asking())

    assert loaded == [True]
    assert server.calls() == 5


def test_key_that_is_missing_is_said_to_every_row_that_waits() -> None:
    judge = LiteLLMJudge("openai/gpt-6-luna")

    async def asking() -> list[BaseException | object]:
        rows = [judge.ask(request(f"case-{n}")) for n in range(3)]
        return list(await asyncio.gather(*rows, return_exceptions=True))

    assert [type(said) for said in asyncio.run(asking())] == [JudgeRejected] * 3
