from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from judgekit.core.request import ChatMessage, Form, Question, Request
from judgekit.judges.connections import closing_connections
from tests.conftest import loopback

from .asking import MODEL, judge_of
from .forge import Forge
from .server import Server


@pytest.fixture(scope="session", autouse=True)
def libraries() -> None:
    """Import litellm and make one call, so that no time-out counts the seconds that takes."""
    request = Request(
        messages=(ChatMessage(role="user", content="Say yes."),),
        form=Form(questions=(Question(id="right", kind="boolean", text="Is it right?"),)),
        model=MODEL,
    )

    async def warm(server: Server) -> None:
        async with closing_connections():
            await judge_of(server, timeout=60).ask(request)

    with loopback(), Server() as server:
        asyncio.run(warm(server))


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as running:
        yield running


@pytest.fixture(scope="session")
def forge() -> Iterator[Forge]:
    """Start runs in forks of a process that has imported litellm."""
    with Server() as server, Forge(server) as running:
        yield running
