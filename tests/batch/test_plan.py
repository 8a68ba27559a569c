"""A plan says where the requests of a run go, and a run on a server then does it."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from judgekit.batch.choice import BatchChoice
from judgekit.batch.provider import provider_named
from judgekit.batch.room import JobRoom
from judgekit.cli.plan import plan_text
from judgekit.suite.estimate import RunPlan, plan_run
from judgekit.suite.overrides import Overrides
from judgekit.suite.resolved import resolve

from .projects import PAIRS, SEND, Project
from .server import Provider

pytestmark = pytest.mark.loopback


@pytest.fixture
def provider() -> Iterator[Provider]:
    with Provider() as running:
        yield running


def plan(project: Project, batches: BatchChoice | None = None, **flags: object) -> RunPlan:
    overrides = Overrides(record="new_episodes", **flags)  # type: ignore[arg-type]
    return plan_run(resolve(project.suite, overrides), batches)


CLAIMS = "  claims: {metric: faithfulness}\n"


@pytest.mark.parametrize(
    ("metrics", "redact", "recorded"),
    [(PAIRS.replace(CLAIMS, ""), True, True), (CLAIMS, False, False)],
)
def test_a_plan_agrees_with_the_run(
    tmp_path: Path, provider: Provider, metrics: str, redact: bool, recorded: int
) -> None:
    more = "redact: [{find: email}]\n" if redact else ""
    project = Project(tmp_path / "p", provider.base, metrics=metrics, cases=2, more=more)
    project.opened(record="none").close()
    if recorded:  # a part is recorded, live
        live = plan(project, limit=1)
        project.run(limit=1)
        low, high = (sum(model.requests[n] for model in live.models) for n in (0, 1))
        assert low <= provider.live <= high
        assert low == provider.live or live.further
        recorded, provider.live = provider.live, 0

    rounds = 0
    first = plan(project, SEND)
    for _ in range(4):
        expected = plan(project, SEND)
        before = len(provider.sent), len(provider.jobs)
        report = project.send()
        sent, jobs = len(provider.sent) - before[0], len(provider.jobs) - before[1]
        assert sum(model.recorded for model in expected.models) == recorded
        steps = any(model.in_ended_jobs for model in expected.models) and expected.further
        if not steps:
            assert sum(model.batch for model in expected.models) == sent
            assert sum(model.jobs for model in expected.models) == jobs
        taken = report.run["batch"]["collected"]
        assert sum(model.in_ended_jobs for model in expected.models) == taken
        recorded += taken
        rounds += bool(sent)
        if report.exit_code == 0:
            break
        project.jobs.look()
    assert provider.live == 0
    assert first.rounds[0] <= rounds <= first.rounds[1]
    low, high = (sum(model.requests[n] for model in first.models) for n in (0, 1))
    assert low <= len(provider.sent) <= high


def test_open_jobs_and_live_requests(tmp_path: Path, provider: Provider) -> None:
    project = Project(tmp_path / "p", provider.base)
    provider.done = False
    project.send(limit=2)

    done = plan(project)
    (model,) = done.models
    assert (model.in_open_jobs, model.in_ended_jobs, model.requests) == (2, 0, (1, 1))
    assert (model.batch, done.rounds) == (0, (0, 0))
    assert "openai/fake: open batch jobs have 2 requests, which no run asks again\n" in plan_text(
        done
    )
    project.run()
    assert provider.live == 1

    provider.done = True
    project.jobs.look()
    (model,) = plan(project).models
    assert (model.recorded, model.in_open_jobs, model.in_ended_jobs) == (1, 0, 2)
    assert model.requests == (0, 0)


def test_what_does_not_fit_into_the_budget(tmp_path: Path, provider: Provider) -> None:
    project = Project(tmp_path / "p", provider.base, cases=6, more="limits: {max_cost: 0.0014}\n")
    provider.done = False
    done = plan(project, SEND)
    (model,) = done.models
    project.send()

    (job,) = project.jobs.all
    assert (model.batch, model.unsent) == (len(job.keys), 6 - len(job.keys)) == (2, 4)
    assert "2 requests in 1 new batch job, 4 not sent (max_cost)\n" in plan_text(done)

    beside = plan(project)
    assert beside.budget is not None
    assert beside.budget.held == job.dollars
    assert beside.budget.share is not None
    assert 0 < beside.budget.share[0] < beside.budget.share[1] <= 1
    assert "is reserved for batch jobs; it pays for" in plan_text(beside)


def test_a_job_ends_at_the_limits_of_its_provider() -> None:
    known = provider_named("openai")
    assert known is not None
    limits = dataclasses.replace(known, lines=3, bytes=100)
    room = JobRoom(limits)
    assert [room.takes(size) for size in (40, 40, 40, 20, 1)] == [True, True, False, True, False]
    assert JobRoom(limits).takes(500)  # no other job has more room


def test_a_plan_has_prices_by_tier(tmp_path: Path) -> None:
    suite = tmp_path / "suite.yaml"
    suite.write_text(
        "judge: openai/gpt-5-mini\ncases: [{id: a, input: Why?, output: So.}]\n"
        "metrics: {clear: {criteria: {clear: Is it clear?}}}\n",
        encoding="utf-8",
    )
    (live,) = plan_run(resolve(suite, Overrides(record="new_episodes"))).models
    (batch,) = plan_run(resolve(suite, Overrides(record="new_episodes")), SEND).models

    assert live.dollars == live.tiers["standard"]
    assert batch.dollars == batch.tiers["batch"]
    for tier in ("flex", "batch"):
        assert live.tiers[tier] == pytest.approx(
            [one / 2 for one in live.tiers["standard"]], abs=1e-6
        )


@pytest.mark.parametrize(("cache", "size"), [("auto", 6_000), ("auto", 60), ("none", 6_000)])
def test_a_plan_estimates_the_prompt_cache(tmp_path: Path, cache: str, size: int) -> None:
    criteria = [{"criterion": f"Names step {n}", "points": 1} for n in range(4)]
    cases = [
        {"id": f"c{n}", "output": "x" * size + str(n), "expected": {"criteria": criteria}}
        for n in range(3)
    ]
    price = {"input": 1.0, "output": 4.0, "cache_read": 0.1, "cache_write": 1.25}
    data = {
        "judge": {"model": "openai/gpt-5-mini", "cache": cache, "price": price},
        "cases": cases,
        "metrics": {"checks": {"metric": "points", "calls": 2}},
    }
    suite = tmp_path / "suite.yaml"
    suite.write_text(json.dumps(data), encoding="utf-8")

    done = plan_run(resolve(suite, Overrides(record="new_episodes")))
    (model,) = done.models
    assert model.requests[0] == 6
    if cache == "none":
        assert (model.cache_tokens, model.cache_saves) == (None, None)
    elif size == 60:
        assert (model.cache_tokens, model.cache_saves) == ((0, 0), 0.0)
        assert "no two requests begin alike for long enough" in plan_text(done)
    else:
        # The first request about a case writes what the second one reads.
        assert model.cache_tokens is not None
        read, written = model.cache_tokens
        assert read == written
        assert 3 * 6_000 < read * 4 < 3 * 8_500
        assert model.cache_saves == pytest.approx(read * (0.9 - 0.25) / 1e6, abs=1e-6)
