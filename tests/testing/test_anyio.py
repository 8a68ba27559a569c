"""anyio's plugin: its own mark, and asyncio or trio behind it."""

from __future__ import annotations

from functools import partial
from importlib.util import find_spec

import pytest

from tests.testing.conftest import RECORD, records, tape

MODULE = """
import pytest

pytestmark = pytest.mark.anyio

@pytest.fixture
def anyio_backend():
    return {backend!r}

@pytest.fixture
async def greeting():
    yield {{"output": "Hello there."}}

async def test_it_awaits(judgekit, greeting, anyio_backend_name):
    assert anyio_backend_name == {backend!r}
    found = await judgekit.acheck(greeting, "kind", threshold=1.0)
    assert found.value == 1.0
    await judgekit.acheck({{"output": "aab"}}, "regex", pattern="(a+)+b", threshold=1.0)
    report = await judgekit.aevaluate([greeting, {{"output": "You"}}], "kind")
    assert report.metrics["kind"].judged == 2

async def test_without_await(judgekit, greeting):
    judgekit.check(greeting, "kind", threshold=1.0)
    judgekit.check({{"output": "aab"}}, "regex", pattern="(a+)+b", threshold=1.0)
"""


@pytest.mark.parametrize(
    "backend",
    [
        "asyncio",
        pytest.param(
            "trio",
            marks=pytest.mark.skipif(find_spec("trio") is None, reason="trio is not installed"),
        ),
    ],
)
def test_async_tests_await_their_checks(project, run_beside, backend):
    (project / "test_tone.py").write_text(MODULE.format(backend=backend), "utf-8")
    run = partial(run_beside, ("anyio",))

    for flags in (RECORD, (), ("--judgekit-record", "all", *RECORD)):
        code, out = run(*flags)
        assert code == 0, out
        assert "2 passed" in out
    assert len(records(tape(project))) == 2
