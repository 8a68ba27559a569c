"""The key goes to the server and nowhere else, whatever the server does with it."""

from __future__ import annotations

import asyncio
import logging
import traceback
from pathlib import Path
from typing import Any

import pytest

from judgekit.core.errors import JudgekitError
from judgekit.judges.connections import closing_connections

from .asking import judge_of, run
from .server import Fault, Server, always
from .test_faults import FINAL, INVALID, OUTAGES
from .test_rejections import REJECTIONS
from .test_replies import request

pytestmark = pytest.mark.loopback

# One that looks like a key and one that looks like nothing.
KEYS = ["sk-canary-1234567890abcdef", "canary.words+and/more=="]


def traces(folder: Path) -> list[str]:
    """Return the files below a folder that hold the key."""
    return [
        str(path) for path in folder.rglob("*") if path.is_file() and b"canary" in path.read_bytes()
    ]


@pytest.mark.parametrize("key", KEYS)
def test_no_fault_gets_the_key_into_a_file(
    server: Server,
    tmp_path: Path,
    key: str,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    server.echo = True
    faults = {**OUTAGES, **{n: f for n, (f, _) in {**INVALID, **FINAL}.items()}}
    faults["says_it"] = Fault(text=lambda good: good.replace("Because.", f"Your key: {key}"))
    faults["refuses_with_it"] = Fault(
        change=lambda body: body["choices"][0]["message"].update(content=None, refusal=key)
    )
    faults["is_named_it"] = Fault(change=lambda body: body.update(model=key))
    server.plan = {f"case-{name}": always(fault) for name, fault in faults.items()}
    judge = judge_of(server, api_key=key, timeout=1, retries=0)

    with caplog.at_level(logging.DEBUG):
        outcome = run(judge, server.plan, tmp_path, out=tmp_path / "out", concurrency=8, window=64)

    assert len(outcome.rows) == len(faults)
    assert all(key in seen.headers["authorization"] for seen in server.seen)
    assert traces(tmp_path) == []
    out, err = capfd.readouterr()
    assert "canary" not in out + err
    assert not [r for r in caplog.records if "canary" in r.getMessage() and r.name != "asyncio"]
    assert "canary" not in repr(judge)


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("name", [*REJECTIONS, *OUTAGES])
def test_no_exception_shows_the_key(server: Server, name: str, key: str) -> None:
    server.echo = True
    fault = {**{n: f for n, (f, _) in REJECTIONS.items()}, **OUTAGES}[name]
    server.plan = {"*": always(fault)}

    error = failure(judge_of(server, api_key=key, timeout=0.5, retries=0))

    shown = "".join(traceback.format_exception(error))
    assert "canary" not in shown
    link: BaseException | None = error
    while link is not None:
        assert "canary" not in f"{link} {link!r}"
        link = link.__cause__ or link.__context__


def test_key_from_the_environment_is_hidden_too(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEYS[1])
    monkeypatch.setenv("OPENAI_BASE_URL", server.base)
    server.echo = True
    server.plan = {"*": always(REJECTIONS["401"][0])}

    error = failure(judge_of(server, api_base=None))

    assert KEYS[1] in server.seen[0].headers["authorization"]
    assert "canary" not in str(error)
    assert "[key]" in str(error)


def test_key_of_the_environment_is_not_sent_to_a_server_of_ones_own(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEYS[0])

    asyncio.run(ask(judge_of(server)))

    assert "canary" not in repr(server.seen)


async def ask(judge: Any) -> Any:
    async with closing_connections():
        return await judge.ask(request())


def failure(judge: Any) -> JudgekitError:
    with pytest.raises(JudgekitError) as caught:
        asyncio.run(ask(judge))
    return caught.value
