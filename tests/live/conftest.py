from __future__ import annotations

from collections.abc import Iterator

import pytest

from judgekit import providers

from .server import Server


@pytest.fixture(scope="session", autouse=True)
def libraries() -> None:
    """Import litellm once, so that no test's time-out counts the seconds that takes."""
    providers.load()


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as running:
        yield running
