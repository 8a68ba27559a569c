"""Trouble with the account, in the forms of providers: the run stops and records nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from judgekit.core.errors import JudgeRejected

from .asking import judge_of, run, tokens
from .server import Fault, Server, always, error

pytestmark = pytest.mark.loopback


def of(status: int, **body: object) -> Fault:
    return Fault(status, body=body)


ACCOUNTS = {
    "OpenAI": error(429, "You exceeded your current quota", code="insufficient_quota"),
    "OpenAI, as 400": error(400, "Billing hard limit has been reached"),
    "Anthropic": error(400, "Your credit balance is too low to access the Anthropic API."),
    "Gemini": Fault(
        400, body=[{"error": {"code": 400, "message": "API key not valid. Please pass one."}}]
    ),
    "DeepSeek": error(402, "Insufficient Balance"),
    "OpenRouter": error(403, "Key limit exceeded (monthly limit)"),
    "OpenRouter, in a 200": of(200, error={"code": 402, "message": "Insufficient credits"}),
    "Groq": error(400, "Organization has been restricted.", code="organization_restricted"),
    "xAI": of(403, code="x", error="Your team has used all available credits"),
    "Fireworks": error(412, "Account x is suspended, possibly due to past invoices"),
    "Qwen": of(400, code="Arrearage", message="Access denied, see your account"),
    "MiniMax": of(200, base_resp={"status_code": 1008, "status_msg": "insufficient balance"}),
    "Baidu": of(200, error_code=17, error_msg="Open api daily request limit reached"),
    "Zhipu": of(429, error={"code": "1113", "message": "no"}),
    "Azure": of(404, error={"code": "DeploymentNotFound", "message": "no"}),
    "Together, as an outage": error(503, "credit limit exceeded for this account"),
    "an odd status": error(999, "insufficient funds"),
    "a proxy": error(407, "proxy authentication required"),
    "a wrong key": error(401, "no"),
}


@pytest.mark.parametrize("name", ACCOUNTS)
@pytest.mark.parametrize("concurrency", [1, 8])
def test_trouble_with_the_account_stops_the_run_and_the_next_goes_on(
    server: Server, tmp_path: Path, name: str, concurrency: int
) -> None:
    # Others were taken before, so that only the words show that all requests are affected.
    server.plan = {token: always(ACCOUNTS[name]) for token in tokens(20)[10:]}
    judge = judge_of(server, retries=3)
    run(judge, tokens(10), tmp_path)

    with pytest.raises(JudgeRejected, match=r"\(case case-\d{3}\)"):
        run(judge, tokens(20), tmp_path, concurrency=concurrency, window=64)
    assert server.calls() <= 10 + concurrency

    server.forget()
    server.plan = {}
    outcome = run(judge_of(server), tokens(20), tmp_path)
    assert set(outcome.kinds.values()) == {"scored"}
    assert {seen.token for seen in server.seen} == set(tokens(20)[10:])
