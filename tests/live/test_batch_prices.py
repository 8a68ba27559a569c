"""Replies of jobs cost what the providers ask for them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from judgekit.batch.journal import Journal
from judgekit.judges.price import TokenCounts
from judgekit.judges.prices import listed_rates
from tests.batch.projects import Project
from tests.batch.server import completion, message

pytestmark = pytest.mark.loopback

CHAT: dict[str, Any] = {"service_tier": "default"}
MESSAGE: dict[str, Any] = {
    "usage": {"input_tokens": 100, "output_tokens": 20, "service_tier": "batch"}
}


@pytest.mark.parametrize(
    ("model", "share", "more"),
    [
        ("openai/gpt-4.1-mini", 0.5, CHAT),
        ("openai/gpt-5.6", 0.5, CHAT),
        ("groq/openai/gpt-oss-20b", 0.75, {"service_tier": "on_demand"}),
        ("mistral/mistral-large-latest", 0.5, {}),
        ("anthropic/claude-sonnet-4-5", 0.5, MESSAGE),
    ],
)
def test_a_reply_of_a_job_costs_less(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    model: str,
    share: float,
    more: dict[str, Any],
) -> None:
    provider = model.partition("/")[0]
    monkeypatch.setenv(f"{provider.upper()}_API_KEY", "sk-of-this-test")
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:1")  # no server is reached
    project = Project(tmp_path / "p", "x", cases=1)
    project.suite.write_text(
        f"judge: {{model: {model}, mode: json_schema}}\ncassette: tape.jsonl\n"
        "cases: cases.jsonl\nmetrics: {clear: {criteria: {clear: Is it clear?}}}\n"
    )
    assert project.send().exit_code == 4
    journal = Journal(project.home)
    (job,) = journal.jobs()
    assert job.state == ("uploaded" if provider == "anthropic" else "written")
    assert job.dollars is not None
    line = json.loads(journal.requests(job.intent).read_bytes())
    if provider == "anthropic":
        body = {**message(line["params"], model="x"), **more}
        row: dict[str, Any] = {"result": {"type": "succeeded", "message": body}}
    else:
        body = {**completion(line["body"]), **more}
        row = {"response": {"status_code": 200, "body": body}}
    row["custom_id"] = job.keys[0]
    journal.replies(job.intent).write_text(json.dumps(row))
    with journal.locked():
        journal.change(job, state="ended", replies=1)

    report = project.run()
    assert report.exit_code == 0
    rates = listed_rates(model, TokenCounts(100, 20))
    assert rates is not None
    live = rates.cost(TokenCounts(100, 20))
    (reply,) = (
        row["reply"]
        for row in map(json.loads, (project.folder / "tape.jsonl").read_text().splitlines())
        if "reply" in row
    )
    assert reply["tier"] == "batch"
    assert reply["cost"] == pytest.approx(live * share)
    assert reply["saved"] == pytest.approx(live * (1 - share))
    assert report.run["spent"] == pytest.approx(live * share, abs=1e-6)
