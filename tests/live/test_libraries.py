"""Exceptions inside litellm: the response is read without it, or the row names what failed."""

from __future__ import annotations

from pathlib import Path

import pytest

from judgekit.core.errors import JudgeRejected
from judgekit.core.score import Failure
from judgekit.judges.litellm import LiteLLMJudge

from .asking import judge_of, run, tokens
from .server import Fault, Server, always

pytestmark = pytest.mark.loopback


def test_a_response_without_a_field_that_only_litellm_needs_is_read(
    server: Server, tmp_path: Path
) -> None:
    """litellm's class for Groq needs `service_tier`, which servers behind gateways leave out."""
    judge = LiteLLMJudge(
        "groq/judge", api_base=server.base, api_key="k", retries=0, timeout=60, via="litellm"
    )

    outcome = run(judge, tokens(3), tmp_path, concurrency=1, window=1)

    assert set(outcome.kinds.values()) == {"scored"}


def anthropic(**fields: object) -> Fault:
    body = {"id": "m", "type": "message", "role": "assistant", "model": "x", **fields}
    return Fault(body=body)


def test_an_exception_in_another_protocol_names_the_library_and_probes_once(
    server: Server, tmp_path: Path
) -> None:
    server.rule = lambda body: anthropic(content=7, stop_reason="end_turn", usage={})
    judge = LiteLLMJudge(
        "anthropic/claude-3-haiku-20240307",
        api_base=server.base,
        api_key="k",
        retries=0,
        reasks=0,
        timeout=60,
    )

    outcome = run(judge, ["case-001"], tmp_path, concurrency=1, window=1)

    row = outcome.rows["case-001"]
    assert isinstance(row, Failure)
    assert row.kind == "invalid_reply"
    assert "litellm raised TypeError" in row.message
    assert "missing" not in row.message
    assert judge.negotiation.probes <= 2


@pytest.mark.parametrize("via", ["direct", "litellm"])
def test_a_faulty_chat_response_names_its_fault(server: Server, tmp_path: Path, via: str) -> None:
    def odd(data: dict) -> None:
        data["usage"] = "many"

    server.plan = {"case-001": always(Fault(change=odd))}
    judge = judge_of(server, via=via, mode="json_object", retries=0, reasks=0, timeout=60)

    outcome = run(judge, ["case-001"], tmp_path, concurrency=1, window=1)

    row = outcome.rows["case-001"]
    assert isinstance(row, Failure)
    assert row.message == "the response is malformed: usage is a text, not an object"


@pytest.mark.parametrize("via", ["direct", "litellm"])
def test_a_proxy_without_a_database_hints_at_the_key(
    server: Server, tmp_path: Path, via: str
) -> None:
    server.rule = lambda body: Fault(
        400, body={"error": {"message": "No connected db.", "type": "no_db_connection"}}
    )
    judge = judge_of(server, via=via, retries=0, timeout=60)

    with pytest.raises(JudgeRejected, match=r"No connected db.*no key was sent.*api_key_env"):
        run(judge, ["case-001"], tmp_path, concurrency=1, window=1)
