"""One open cassette in several processes and threads: every record is kept, whole."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from judgekit.cassette.cassette import Cassette
from judgekit.cassette.tape import Tape
from judgekit.core.request import ChatMessage, Form, Reply, Request, Try
from judgekit.judges.named import NamedJudge

ROOT = Path(__file__).parents[2]

FORKS = """
import asyncio, os, sys, traceback
from pathlib import Path
from tests.cassette.test_shared_use import opened, record

folder = Path(sys.argv[1])
cassette = opened(folder)
asyncio.run(record(cassette, "parent-begin", 30))
children = []
for number in range(3):
    child = os.fork()
    if child == 0:
        code = 1
        try:
            asyncio.run(record(cassette, f"child-{number}", 40))
            if number:
                cassette.close()
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            # One child ends with all exit handlers, and without closing the cassette.
            sys.exit(code) if number == 0 else os._exit(code)
    children.append(child)
    asyncio.run(record(cassette, f"parent-{number}", 40))
codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
cassette.close()
print(codes)
"""


class Echo(NamedJudge):
    """Answers with the request."""

    def __init__(self) -> None:
        super().__init__("fake/echo")

    async def ask(self, request: Request) -> Reply:
        await asyncio.sleep(0.001)
        text = request.messages[0].content
        return Reply(tries=(Try(text=f"{text} " * 400, finish="stop"),), cost=0.0)


def opened(folder: Path) -> Cassette:
    tape, store = folder / "tape.jsonl", folder / "store"
    return Cassette.open(tape, Echo(), record="new_episodes", store=store)


async def record(cassette: Cassette, name: str, count: int) -> None:
    asks = []
    for number in range(count):
        message = ChatMessage(role="user", content=f"{name}-{number}")
        request = Request(messages=(message,), form=Form(want="text"), model="fake/echo")
        asks.append(cassette.ask(request))
    await asyncio.gather(*asks)


def recorded(folder: Path) -> dict[str, str]:
    """Return the replies on the tape, by the text of their requests; each record is checked."""
    tape = Tape(folder / "tape.jsonl")
    try:
        return {
            record.request.messages[0].content: record.reply.tries[0].text or ""
            for record in tape.records()
        }
    finally:
        tape.close()


def check(folder: Path, names: dict[str, int]) -> None:
    expected = [f"{name}-{number}" for name, count in names.items() for number in range(count)]
    replies = recorded(folder)
    assert sorted(replies) == sorted(expected)
    assert all(text == f"{name} " * 400 for name, text in replies.items())


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_forks_with_an_open_cassette(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FORKS, str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )

    assert done.stdout == "[0, 0, 0]\n", done.stderr
    parents = {f"parent-{number}": 40 for number in range(3)}
    children = {"child-1": 40, "child-2": 40}
    names = {"parent-begin": 30, **parents, **children}
    replies = recorded(tmp_path)
    cassette = opened(tmp_path)
    asyncio.run(record(cassette, "child-0", 40))  # in the store, and asked again by no judge
    assert cassette.ledger.origins["live"] == 0
    cassette.close()
    assert len(replies) == sum(names.values())
    check(tmp_path, {**names, "child-0": 40})


def test_threads_with_an_open_cassette(tmp_path: Path) -> None:
    cassette = opened(tmp_path)
    work = [
        threading.Thread(target=asyncio.run, args=(record(cassette, f"thread-{number}", 60),))
        for number in range(6)
    ]
    for thread in work:
        thread.start()
    for thread in work:
        thread.join(60)
        assert not thread.is_alive()
    cassette.close()

    check(tmp_path, {f"thread-{number}": 60 for number in range(6)})
