"""`judgekit run` in a process of its own: what it prints, and what a kill leaves behind."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from .asking import UNDER_WAY, command, stored, tokens, write_suite
from .forge import Forge, printed
from .server import Fault, Server, always, error

pytestmark = pytest.mark.loopback


def results(suite: Path) -> list[dict[str, Any]]:
    text = suite.with_name("out").joinpath("results.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def test_run_prints_json_and_nothing_else(server: Server, tmp_path: Path) -> None:
    server.plan = {
        "case-001": [error(429, "slow down")],
        "case-002": [error(500, "oops"), Fault(text="no")],
        "case-003": [Fault(reset=True)],
    }
    suite = write_suite(tmp_path, server, tokens(6), max_wait=0.1)

    done = subprocess.run(
        command(suite, "--json"), capture_output=True, text=True, check=False, timeout=300
    )

    assert json.loads(done.stdout)["cases"] == 6
    assert (done.returncode, done.stderr) == (0, "")


def test_rejected_run_is_one_line_and_exit_code_2(
    server: Server, forge: Forge, tmp_path: Path
) -> None:
    server.plan = {"*": always(error(401, "Incorrect API key provided"))}
    suite = write_suite(tmp_path, server, tokens(6))

    code, out, err = forge.finish(suite)

    assert (code, out) == (2, "")
    host = f"127.0.0.1:{server.port}"
    assert err == (
        f"judgekit: openai/judge at {host}: HTTP 401: Incorrect API key provided; no key was sent: "
        "name the environment variable that holds it in `api_key_env`\n"
    )


def test_first_ctrl_c_keeps_what_arrived(server: Server, forge: Forge, tmp_path: Path) -> None:
    server.latency = 0.15
    suite = write_suite(tmp_path, server, tokens(60))

    process = forge.start(suite)
    server.wait_for(20)
    os.kill(process, signal.SIGINT)
    code = forge.ended()
    out, err = printed(suite)

    assert code == 3
    assert "stopping; what is done is kept" in err
    assert "stopped early" in out
    rows = [line for line in results(suite) if "result" in line]
    assert 0 < len(rows) < 60
    recorded = suite.with_name("tape.jsonl").read_text(encoding="utf-8").count('{"key":')
    assert recorded >= len(rows)

    server.forget()
    code, _, _ = forge.finish(suite)

    assert code == 0
    assert server.calls() <= 60 - recorded
    assert sum("result" in line for line in results(suite)) == 60


@pytest.mark.slow
def test_kill_loses_no_reply_that_had_arrived(server: Server, forge: Forge, tmp_path: Path) -> None:
    """Kill a run at 10 random moments; count at the server what the next ones ask again.

    What the store holds is never asked again, and of what the server answered, no more is missing
    there than a run has under way at once.
    """
    dice = random.Random(10)
    server.latency = 0.02
    suite = write_suite(tmp_path, server, tokens(300))
    kept: set[str] = set()
    for _ in range(10):
        before = server.calls()
        process = forge.start(suite)
        server.wait_for(before + dice.randint(1, 40))
        os.kill(process, signal.SIGKILL)
        assert forge.ended() == -signal.SIGKILL
        asked = server.seen[before:]
        assert not {seen.token for seen in asked} & kept
        answered = {seen.token for seen in asked if seen.answered is not None}
        now = stored(suite)
        assert kept <= now
        assert len(answered - now) <= UNDER_WAY
        kept = now

    assert len(kept) > 50
    server.forget()
    server.latency = 0.0
    forge.start(suite)
    assert forge.ended() == 0
    assert not {seen.token for seen in server.seen} & kept
    assert 0 < server.calls() <= 300 - len(kept)

    (tmp_path / "calm").mkdir()
    calm = write_suite(tmp_path / "calm", server, tokens(300))
    server.forget()
    forge.start(calm)
    assert forge.ended() == 0

    assert results(suite) == results(calm)
    assert suite.with_name("tape.jsonl").read_bytes() == calm.with_name("tape.jsonl").read_bytes()
