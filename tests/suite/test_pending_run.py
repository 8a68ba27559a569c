"""`submit`: a run in batch jobs from Python, collected later, or by another process."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import judgekit
from judgekit.core.errors import ConfigError
from tests.batch.projects import Project
from tests.batch.server import Provider

CASES = [{"id": f"c{n}", "input": f"case-{n}", "output": "x", "context": ["y"]} for n in range(2)]


@pytest.fixture
def provider() -> Iterator[Provider]:
    with Provider() as running:
        yield running


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, provider: Provider) -> Project:
    made = Project(tmp_path / "p", provider.base, metrics="  claims: {metric: faithfulness}\n")
    monkeypatch.setenv("JUDGEKIT_HOME", str(made.home))
    return made


@pytest.mark.loopback
def test_a_suite_is_submitted_and_collected(project: Project, provider: Provider) -> None:
    provider.done = False

    async def run() -> None:
        pending = await judgekit.submit(project.suite, out=project.folder / "run")
        assert [len(job.keys) for job in pending.jobs] == [3]
        assert pending.report.exit_code == 4
        assert not await pending.wait(timeout=0)

        # Another process, or another call, sends nothing twice.
        other = await judgekit.submit(str(project.suite))
        assert [job.name for job in other.jobs] == [job.name for job in pending.jobs]
        provider.done = True
        assert await other.wait()
        second = await other.collect()  # the claims; their verdicts go into another job
        assert second.exit_code == 4
        assert await other.wait()
        assert (await other.collect()).exit_code == 0
        assert other.jobs == ()
        assert (await pending.collect()).exit_code == 0

    asyncio.run(run())
    assert (provider.live, len(provider.jobs)) == (0, 2)
    assert json.loads((project.folder / "run" / "report.json").read_text())["cases"] == 3


@pytest.mark.loopback
def test_cases_and_metrics_by_name(project: Project, provider: Provider) -> None:
    calls = []

    def shout(case: judgekit.Case) -> float:
        calls.append(case.id)
        return 1.0

    judge: dict[str, Any] = {"model": "openai/fake", "api_base": provider.base}
    judge["price"] = {"input": 1, "output": 2}
    provider.done = False
    metrics = ["coherence", shout]
    pending = judgekit.submit_sync(CASES, metrics, judge=judge, max_cost=1.0)
    assert len(pending.jobs) == 1
    assert pending.report.metrics["shout"].scored == 2
    pending.cancel_sync()  # the server has one reply by then

    report = pending.collect_sync(live=True)
    assert report.exit_code == 0
    assert (provider.live, len(provider.jobs)) == (1, 1)
    assert report.run["batch"]["collected"] == 1
    assert calls == ["c0", "c1"]  # in the first round alone
    assert repr(pending) == "PendingRun(jobs=[], exit_code=0)"


def test_what_cannot_be_submitted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUDGEKIT_HOME", str(tmp_path))

    async def reply(request: judgekit.Request) -> judgekit.Reply:
        raise AssertionError

    for arguments, message in (
        ({"suite": CASES}, "give the path of a suite file, or cases and metrics"),
        ({"suite": "suite.yaml", "max_cost": 1.0}, "max_cost: the suite file has it"),
        ({"suite": "suite.yaml", "judge": {}}, "judge: of a suite file, a model string"),
        ({"suite": CASES, "metrics": ["safety"], "judge": reply}, "is an object, and no job"),
        ({"suite": CASES, "metrics": ["safety"], "judge": "bedrock/x"}, "--batch cannot send"),
    ):
        with pytest.raises(ConfigError, match=message):
            judgekit.submit_sync(**arguments)  # type: ignore[arg-type]
