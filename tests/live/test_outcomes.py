"""Odd responses of providers, through both ways: the row that the table says, and no other."""

from __future__ import annotations

from pathlib import Path

import pytest

from judgekit.core.errors import JudgeRejected

from .asking import judge_of, run
from .server import Fault, Server, always, error

pytestmark = pytest.mark.loopback
BOTH_WAYS = pytest.mark.parametrize("via", ["direct", "litellm"])


def body(**fields):
    return Fault(body=fields)


def parts(good):
    thought = {"type": "thinking", "thinking": [{"type": "text", "text": "Let me see."}]}
    return [thought, {"type": "text", "text": good}]


def change(path, value):
    def apply(data):
        data["choices"][0][path] = value

    return Fault(change=apply)


def in_message(name, value):
    def apply(data):
        data["choices"][0]["message"][name] = value

    return Fault(change=apply)


def with_parts(data):
    message = data["choices"][0]["message"]
    message["content"] = parts(message["content"])


DROPPED = Fault(
    400,
    body={
        "error": {
            "message": "Failed to generate JSON.",
            "type": "invalid_request_error",
            "code": "json_validate_failed",
            "failed_generation": '{"a": ',
        }
    },
)
ROWS = {
    "policy of Qwen": (error(400, "x", code="data_inspection_failed"), "refused"),
    "policy of DeepSeek": (error(400, "Content Exists Risk"), "refused"),
    "a moderated case": (error(403, "requires moderation, and your input was flagged"), "refused"),
    "a dropped reply": (DROPPED, "invalid_reply"),
    "parts with thoughts": (Fault(change=with_parts), "scored"),
    "an empty refusal": (in_message("refusal", ""), "scored"),
    "no reasoning": (in_message("reasoning", ""), "scored"),
    "no tool calls": (in_message("tool_calls", []), "scored"),
    "an error in a choice": (change("error", {"code": 502, "message": "up"}), "unavailable"),
    "an error as finish": (change("finish_reason", "error"), "unavailable"),
    "no resources": (change("finish_reason", "insufficient_system_resource"), "unavailable"),
    "an outage without a code": (
        body(error={"message": "the server is overloaded"}),
        "unavailable",
    ),
    "an unknown error": (body(error={"message": "something", "code": True}), "unavailable"),
    "an outage beside no choices": (body(choices=None, message="Overloaded"), "unavailable"),
    "an outage as detail": (body(choices=[], detail="the server is busy", usage={}), "unavailable"),
    "no choice and no tokens": (body(id="x", choices=[]), "unavailable"),
    "a detail alone": (body(detail="model is being loaded"), "unavailable"),
    "MiniMax": (
        body(choices=None, base_resp={"status_code": 1002, "status_msg": "rate limit"}),
        "unavailable",
    ),
    "Baidu": (body(error_code=336100, error_msg="the server is busy"), "unavailable"),
}


@BOTH_WAYS
def test_odd_responses_get_the_row_of_the_table(server: Server, tmp_path: Path, via: str) -> None:
    server.plan = {f"case-{n}": always(fault) for n, (fault, _) in enumerate(ROWS.values())}
    judge = judge_of(server, via=via, mode="json_object", retries=0, reasks=0, timeout=60)

    outcome = run(judge, ["case-good", *server.plan], tmp_path, concurrency=1, window=1)

    wanted = {f"case-{n}": kind for n, (_, kind) in enumerate(ROWS.values())}
    assert outcome.kinds == {"case-good": "scored", **wanted}


@BOTH_WAYS
def test_a_dropped_reply_is_asked_for_again(server: Server, tmp_path: Path, via: str) -> None:
    server.plan = {"case-1": [DROPPED]}
    judge = judge_of(server, via=via, mode="json_object", retries=0, timeout=60)

    outcome = run(judge, ["case-1"], tmp_path, concurrency=1)

    assert outcome.kinds == {"case-1": "scored"}
    assert server.calls("case-1") == 2


@BOTH_WAYS
@pytest.mark.parametrize(
    "fault",
    [
        error(400, "Your credit balance is too low to access the Anthropic API."),
        error(412, "Account x is suspended, possibly due to past invoices"),
        body(base_resp={"status_code": 1008, "status_msg": "insufficient balance"}),
    ],
)
def test_trouble_with_the_account_stops_the_run(
    server: Server, tmp_path: Path, via: str, fault: Fault
) -> None:
    server.plan = {"case-2": always(fault)}
    judge = judge_of(server, via=via, mode="json_object", retries=0, timeout=60)

    with pytest.raises(JudgeRejected, match="account"):
        run(judge, ["case-1", "case-2", "case-3"], tmp_path, concurrency=1, window=1)

    server.forget()
    server.plan = {}
    outcome = run(judge, ["case-1", "case-2", "case-3"], tmp_path, concurrency=1, window=1)
    assert set(outcome.kinds.values()) == {"scored"}
    assert [seen.token for seen in server.seen] == ["case-2", "case-3"]
