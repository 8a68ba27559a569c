"""What happens before the first call: libraries are loaded while the rest goes on."""

from __future__ import annotations

import asyncio
import time

import pytest

from judgekit import providers
from judgekit.errors import JudgeRejected
from judgekit.judges import litellm as module
from judgekit.judges.litellm import LiteLLMJudge

from .asking import judge_of
from .server import Server
from .test_replies import request

pytestmark = pytest.mark.loopback


def test_loading_the_libraries_does_not_stop_the_loop(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded: list[float] = []

    def slow() -> None:
        time.sleep(0.4)
        loaded.append(time.monotonic())

    monkeypatch.setattr(module, "_import", slow)
    judge = judge_of(server)

    async def asking() -> int:
        async with providers.connections():
            turns = 0
            rows = [asyncio.create_task(judge.ask(request(f"case-{n}"))) for n in range(5)]
            while not loaded:
                await asyncio.sleep(0.01)
                turns += 1
            await asyncio.gather(*rows)
            return turns

    assert asyncio.run(asking()) > 10
    assert len(loaded) == 1
    assert server.calls() == 5


def test_key_that_is_missing_is_said_to_every_row_that_waits() -> None:
    judge = LiteLLMJudge("openai/gpt-4o-mini")

    async def asking() -> list[BaseException | object]:
        rows = [judge.ask(request(f"case-{n}")) for n in range(3)]
        return list(await asyncio.gather(*rows, return_exceptions=True))

    assert [type(said) for said in asyncio.run(asking())] == [JudgeRejected] * 3
