"""`tier: batch` of a judge means what `--batch` means, for this judge."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import judgekit
from judgekit.core.errors import ConfigError

from .projects import Project
from .server import Provider

pytestmark = pytest.mark.loopback


@pytest.fixture
def provider() -> Iterator[Provider]:
    with Provider() as running:
        yield running


def test_a_judge_of_the_tier_sends_jobs_and_others_are_asked_live(
    tmp_path: Path, provider: Provider
) -> None:
    metrics = (
        "  clear: {criteria: {clear: Is it clear?}}\n"
        "  kind: {judge: other, criteria: {kind: Is it kind?}}\n"
    )
    live = Project(tmp_path / "live", provider.base, metrics=metrics)
    live.run()
    project = Project(tmp_path / "p", provider.base, metrics=metrics)
    text = project.suite.read_text("utf-8")
    project.suite.write_text(text.replace("openai/fake,", "openai/fake, tier: batch,"), "utf-8")
    provider.live = 0

    assert project.run().exit_code == 4
    assert (provider.live, len(provider.sent)) == (3, 3)
    assert project.run().exit_code == 0
    assert (provider.live, len(provider.sent)) == (3, 3)
    assert project.rows() == live.rows()
    assert live.replays(project) == project.replays(live)


def test_a_replay_sends_no_job_and_a_renewal_is_refused(tmp_path: Path, provider: Provider) -> None:
    project = Project(tmp_path / "p", provider.base)
    project.run()
    text = project.suite.read_text("utf-8")
    project.suite.write_text(text.replace("openai/fake,", "openai/fake, tier: batch,"), "utf-8")

    assert project.run(record="none").exit_code == 0
    assert provider.sent == []
    with pytest.raises(ConfigError, match=r"suite.yaml:1: tier: batch sends what is not recorded"):
        project.run(record="all")


def test_evaluate_sends_jobs_and_takes_their_replies(
    tmp_path: Path, provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("JUDGEKIT_HOME", str(tmp_path / "home"))
    case = {"id": "a", "input": "What is it?", "output": "It is one."}
    metrics = {"clear": {"criteria": {"clear": "Is it clear?"}}}
    judge = {"model": "openai/fake", "api_base": provider.base, "tier": "batch"}
    for code in (4, 0):
        report = judgekit.evaluate_sync([case], metrics, judge=judge)
        assert report.exit_code == code
        assert (provider.live, len(provider.sent)) == (0, 1)
    assert report.run["batch"]["collected"] == 1

    made = judgekit.LiteLLMJudge("openai/fake", api_base=provider.base, tier="batch")
    with pytest.raises(ConfigError, match="openai/fake is an object, and no job has its requests"):
        judgekit.evaluate_sync([case], metrics, judge=made)
    assert provider.live == 0


@pytest.mark.parametrize("fallback", [None, "flex"])
def test_a_job_asks_for_no_other_tier_and_its_live_calls_for_the_fallback(
    tmp_path: Path, provider: Provider, fallback: str | None
) -> None:
    project = Project(tmp_path / "p", provider.base)
    tier = f"tier: batch, fallback_tier: {fallback}" if fallback else "tier: flex"
    text = project.suite.read_text("utf-8")
    project.suite.write_text(text.replace("openai/fake,", f"openai/fake, {tier},"), "utf-8")
    provider.spoilt = {"case-1": "invalid"}

    assert project.send().exit_code == 4
    bodies = [body for _, body in provider.jobs["batch_1"]["requests"]]
    assert len(bodies) == 3
    assert not any("service_tier" in body for body in bodies)
    assert project.run().exit_code == 0
    assert [body.get("service_tier") for body in provider.asked] == ["flex"]  # the re-ask
