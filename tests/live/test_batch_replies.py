"""Jobs of requests that go through litellm: they have the bodies of live calls, and the replies
pass through litellm."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from judgekit.core.errors import ConfigError
from tests.batch.projects import Project
from tests.batch.server import Provider
from tests.batch.test_one_key import in_jobs, same_everywhere

pytestmark = pytest.mark.loopback

TWO_STEPS = """\
  jury: {criteria: {clear: Is it clear?}, jury: [judge, other]}
  claims: {metric: faithfulness}
"""
LONG = f"  clear: {{criteria: {{clear: Is it clear? {'Mind the style. ' * 400}}}}}\n"
HOSTED = [
    ("openai", "openai/o3", "{reasoning_effort: low}"),
    ("openai", "groq/openai/gpt-oss-20b", "{temperature: 0}"),
    ("mistral", "mistral/mistral-large-latest", "{temperature: 0}"),
    ("anthropic", "anthropic/claude-sonnet-4-5", "{temperature: 0, max_tokens: 900}"),
]


@pytest.mark.parametrize(("protocol", "model", "params"), HOSTED)
def test_jobs_give_what_live_calls_give(
    tmp_path: Path, protocol: str, model: str, params: str
) -> None:
    with Provider(protocol) as provider:
        live, batch = (
            Project(tmp_path / name, provider.base, model=model, params=params)
            for name in ("live", "batch")
        )
        reports = [live.run()]
        assert (provider.live, provider.jobs) == (3, {})
        assert batch.send().exit_code == 4
        reports.append(batch.run())
        assert (provider.live, len(provider.jobs)) == (3, 1)
        bodies = [body for _, body in provider.jobs["batch_1"]["requests"]]
        assert in_order(bodies) == in_order(provider.asked)

        assert (batch.folder / "tape.jsonl").read_text("utf-8").count('"tier":"batch"') == 3
        same_everywhere([live, batch], reports)


@pytest.mark.thorough  # the quick tests show the same for one metric
def test_claude_live_in_jobs_and_mixed(tmp_path: Path) -> None:
    with Provider("anthropic") as provider:
        model = "anthropic/claude-sonnet-4-5"
        live, batch, mixed = projects = [
            Project(tmp_path / name, provider.base, model=model, metrics=TWO_STEPS, cases=2)
            for name in ("live", "batch", "mixed")
        ]
        reports = [live.run()]
        asked, provider.live = provider.live, 0
        reports.append(in_jobs(batch))
        assert provider.live == 0
        assert len(provider.sent) == len(set(provider.sent)) == asked
        mixed.send(limit=1)
        mixed.run()
        reports.append(mixed.run())
        assert {report.exit_code for report in reports} == {0}
        same_everywhere(projects, reports)


def test_requests_of_a_job_share_a_prefix_for_an_hour(tmp_path: Path) -> None:
    with Provider("anthropic") as provider:
        model = "anthropic/claude-sonnet-4-5"
        live, batch = (
            Project(tmp_path / name, provider.base, model=model, metrics=LONG, cases=3)
            for name in ("live", "batch")
        )
        for one in (live, batch):
            text = one.suite.read_text("utf-8")
            one.suite.write_text(text.replace("judge: {", "judge: {cache: auto, "))
        reports = [live.run(), in_jobs(batch)]
        same_everywhere([live, batch], reports)
        bodies = [body for job in provider.jobs.values() for _, body in job["requests"]]
        marks = [
            part["cache_control"]
            for body in bodies
            for part in body["system"]
            if "cache_control" in part
        ]
        assert marks == [{"type": "ephemeral", "ttl": "1h"}] * 3
        live_marks = str(provider.asked).count("cache_control")
        assert live_marks == str(provider.asked).count("{'type': 'ephemeral'}") > 0


def in_order(bodies: list[dict[str, Any]]) -> list[str]:
    return sorted(json.dumps(body) for body in bodies)


def test_keys_and_headers_of_jobs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "sk-of-this-test")
    # litellm marks some requests as those of a beta, which the whole job has to be.
    params = "{thinking: {type: enabled, budget_tokens: 1024}, max_tokens: 2000}"
    with Provider("anthropic") as provider:
        project = Project(
            tmp_path / "p", provider.base, model="anthropic/claude-sonnet-4-5", params=params
        )
        text = project.suite.read_text("utf-8")
        project.suite.write_text(text.replace("judge: {", "judge: {api_key_env: MY_KEY, "))
        assert project.send().exit_code == 4
        assert project.run().exit_code == 0
        assert provider.live == 0
        assert provider.keys == {"sk-of-this-test"}
        heads = {
            path: headers.get("anthropic-beta", "")
            for method, path, headers in provider.seen
            if method == "POST"
        }
        assert heads["/v1/messages/batches"] == heads["/v1/messages"] != ""
    for file in (tmp_path / "p").rglob("*"):
        assert file.is_dir() or b"sk-of-this-test" not in file.read_bytes()


def test_live_calls_to_another_address_have_no_job(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Provider() as provider:
        monkeypatch.setenv("OPENAI_BASE_URL", provider.base)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-of-this-test")
        project = Project(tmp_path / "p", provider.base)
        text = project.suite.read_text("utf-8")
        project.suite.write_text(text.replace(f"api_base: {provider.base}, ", ""))
        with pytest.raises(ConfigError, match=r"its live calls go to http://127.+; set api_base"):
            project.send()
        assert (provider.live, provider.jobs) == (0, {})
