"""A server that lies in random fields, a run that may stop at any time, and the oracle.

What the server answered with a success is in the store, under one key, with valid UTF-8 and JSON;
the next run asks nothing of it again, and a replay has the same rows.
"""

from __future__ import annotations

import asyncio
import json
import random
import re
from pathlib import Path
from typing import Any

from judgekit.cassette.store import Store
from judgekit.core.errors import JudgekitError
from judgekit.core.score import Failure
from tests.live.asking import judge_of, run_async, tokens
from tests.live.server import Fault, Server

CASES = 24
VALUES: list[Any] = [
    None, "", "\ud800", "a\udc00b", "\x00\x1b[31m", "true", True, -1, 10**400, 10**4200, 1e308,
    float("nan"), float("inf"), -float("inf"), 0.5, [], {}, [[]], {"\ud800": "\udfff"}, ["x"] * 50,
    "x" * 70_000, {"text": "y"}, "stop", "length", "tool_calls",
    [{"type": "text", "text": "\ud83d"}],
]  # fmt: skip
Path_ = tuple[Any, ...]


def places(value: Any, path: Path_ = ()) -> list[Path_]:
    """Return the paths of all values inside a value."""
    items: Any = ()
    if isinstance(value, dict):
        items = value.items()
    elif isinstance(value, list):
        items = enumerate(value)
    found: list[Path_] = []
    for name, item in items:
        found += [(*path, name), *places(item, (*path, name))]
    return found


def lie(dice: random.Random) -> Fault:
    """Return an answer with one to three wrong fields."""

    def change(body: dict[str, Any]) -> None:
        choice = body["choices"][0]
        choice.setdefault("logprobs", {"content": [{"token": "1", "logprob": -0.2, "bytes": [49]}]})
        body.setdefault("system_fingerprint", "fp")
        choice["message"].setdefault("refusal", None)
        choice["message"].setdefault("reasoning_content", "hm")
        for _ in range(dice.randint(1, 3)):
            *outer, name = dice.choice(places(body))
            place: Any = body
            for step in outer:
                place = place[step]
            if dice.random() < 0.15 and isinstance(place, dict):
                del place[name]
            else:
                place[name] = dice.choice(VALUES)

    return Fault(change=change)


def stored(folder: Path) -> tuple[set[str], list[str]]:
    """Return the tokens in a store, and what is wrong with its records."""
    store = Store(folder / "store")
    wrong: list[str] = []
    names: list[str] = []
    try:
        for key in store.keys():  # noqa: SIM118 - no mapping
            text = store.get(key) or ""
            text.encode()
            if len(key) == 64:
                json.loads(text, parse_constant=lambda word: wrong.append(f"{word} in a record"))
                names += set(re.findall(r"answer to (case-\d{3})", text))
    finally:
        store.close()
    wrong += [f"{name} has several records" for name in set(names) if names.count(name) > 1]
    return set(names), wrong


def rows_of(outcome: Any) -> dict[str, Any]:
    return {
        case: (row.kind, row.message) if isinstance(row, Failure) else (row.status, row.value)
        for case, row in outcome.rows.items()
    }


def trial(folder: Path, *, seed: int, via: Any) -> list[str]:
    """Run a suite against a lying server, perhaps stop it; return what is wrong."""
    dice = random.Random(seed)
    with Server(latency=0.02) as server:
        faults = {token: lie(random.Random(f"{seed}/{token}")) for token in tokens(CASES)}
        server.plan = {token: [fault] * 9 for token, fault in faults.items()}
        stop_at = dice.choice([None, dice.randint(1, CASES)])
        wrong = asyncio.run(_asked(server, folder, via=via, stop_at=stop_at))
    return [f"seed {seed}, {via}, stopped at {stop_at}: {one}" for one in wrong]


async def _asked(server: Server, folder: Path, *, via: Any, stop_at: int | None) -> list[str]:
    async def once(stop: asyncio.Event | None = None) -> Any:
        judge = judge_of(server, via=via, retries=0, reasks=0, params={"logprobs": True})
        async with asyncio.timeout(100):
            return await run_async(judge, tokens(CASES), folder, concurrency=4, window=8, stop=stop)

    wrong: list[str] = []
    stop = asyncio.Event()

    async def stopper() -> None:
        if stop_at is not None:
            await asyncio.to_thread(server.wait_for, stop_at)
            stop.set()

    waiting = asyncio.create_task(stopper())
    try:
        first = await once(stop)
    except JudgekitError as exc:
        return [f"the run ended with {type(exc).__name__}: {exc}"]
    finally:
        waiting.cancel()
    kept, odd = stored(folder)
    wrong += odd
    asked = {seen.token for seen in server.seen if seen.answered}
    kinds = rows_of(first)
    # An error in the body, or a body that is no answer, is asked again by the next run.
    passing = {case for case, row in kinds.items() if row[0] == "unavailable"}
    missing = asked - kept - passing
    wrong += [f"{name} was answered, not stored: {kinds.get(name)}" for name in sorted(missing)]
    wrong += [f"{case}: {row}" for case, row in kinds.items() if row[0] == "metric_error"]
    server.forget()
    second = rows_of(await once())
    again = {seen.token for seen in server.seen}
    wrong += [f"{name} was asked again" for name in sorted(again & kept)]
    changed = [name for name in kept & set(kinds) if kinds[name] != second.get(name)]
    wrong += [f"{n}: {kinds[n]} became {second.get(n)} in a replay" for n in sorted(changed)]
    return wrong
