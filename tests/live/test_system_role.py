"""Models without a system role, parameters that exclude each other, and quoted errors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from judgekit.core.score import Failure
from judgekit.suite.overrides import Overrides
from judgekit.suite.run import run_suite_sync
from judgekit.suite.suite import load_suite

from .asking import judge_of, run, tokens, write_suite
from .server import Fault, Server, error

pytestmark = pytest.mark.loopback
BOTH_WAYS = pytest.mark.parametrize("via", ["direct", "litellm"])


def messages(outcome: Any) -> str:
    return " ".join(row.message for row in outcome.rows.values() if isinstance(row, Failure))


def without_system(status: int) -> Any:
    def rule(body: dict[str, Any]) -> Fault | None:
        roles = {message["role"] for message in body["messages"]}
        return error(status, "System role not supported") if "system" in roles else None

    return rule


@BOTH_WAYS
@pytest.mark.parametrize("status", [400, 500])
def test_the_system_text_goes_into_the_first_user_message(
    server: Server, tmp_path: Path, via: str, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("JUDGEKIT_HOME", raising=False)
    server.rule = without_system(status)
    suite = write_suite(tmp_path, server, tokens(4), via=via, timeout=60)

    report = run_suite_sync(
        load_suite(suite, Overrides(record="new_episodes")), out=tmp_path / "run"
    )

    assert report.exit_code == 0
    taken = [seen.body for seen in server.seen if seen.body["messages"][0]["role"] == "user"]
    refused = len(server.seen) - len(taken)
    assert 1 <= refused <= 2
    verdicts = [body["messages"] for body in taken if "case-" in str(body)]
    assert {len(messages) for messages in verdicts} == {1}
    facts = json.loads((tmp_path / "run" / "run.json").read_text("utf-8"))
    assert "System role not supported" in json.dumps(facts)
    assert "system_in_user" in json.dumps(facts)


def test_a_recording_replays_whatever_the_server_takes(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("JUDGEKIT_HOME", raising=False)
    suite = write_suite(tmp_path, server, tokens(2), timeout=60)
    live = Overrides(record="new_episodes")
    run_suite_sync(load_suite(suite, live))
    server.rule = without_system(400)
    asked = server.calls()

    assert run_suite_sync(load_suite(suite, live)).exit_code == 0
    assert server.calls() == asked


@BOTH_WAYS
def test_of_parameters_that_exclude_each_other_one_is_sent(
    server: Server, tmp_path: Path, via: str
) -> None:
    def rule(body: dict[str, Any]) -> Fault | None:
        words = "`temperature` and `top_p` cannot both be specified for this model. Use only one."
        return error(400, words) if {"temperature", "top_p"} <= body.keys() else None

    server.rule = rule
    judge = judge_of(server, via=via, timeout=60, params={"top_p": 0.9, "temperature": 0})

    outcome = run(judge, tokens(2), tmp_path)

    assert set(outcome.kinds.values()) == {"scored"}
    last = server.seen[-1].body
    assert (last["temperature"], "top_p" in last) == (0, False)
    assert list(judge.knowledge.findings()["dropped_params"]) == ["top_p"]


@BOTH_WAYS
def test_the_error_that_a_router_quotes_is_shown(server: Server, tmp_path: Path, via: str) -> None:
    raw = '{"error": {"message": "upstream is out of tea sk-abcdefghijklmnop1234"}}'
    body = {"error": {"message": "Provider returned error", "code": 502, "metadata": {"raw": raw}}}
    server.plan = {"case-000": [Fault(status=502, body=body)] * 9}

    outcome = run(judge_of(server, via=via, timeout=60, retries=0), tokens(1), tmp_path)

    said = messages(outcome)
    assert "Provider returned error: upstream is out of tea" in said
    assert "sk-abcdefgh" not in said


@BOTH_WAYS
def test_a_server_that_streams_is_named(server: Server, tmp_path: Path, via: str) -> None:
    chunk = 'data: {"choices": [{"delta": {"content": "{"}}]}\n\ndata: [DONE]\n\n'
    stream = Fault(body=chunk.encode(), headers={"Content-Type": "text/event-stream"})
    server.plan = {"case-000": [stream] * 9}

    outcome = run(judge_of(server, via=via, timeout=60, retries=0), tokens(1), tmp_path)

    assert "the server streams its answer (text/event-stream)" in " ".join(
        row.message for row in outcome.rows.values() if isinstance(row, Failure)
    )
