"""Runs with jobs give what live runs give, and pay for each request once."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from judgekit.batch.choice import BatchChoice
from judgekit.batch.journal import Journal
from judgekit.core.errors import ConfigError
from judgekit.suite.merge import merge_shards
from judgekit.suite.run import run_suite_sync

from .projects import SEND, Project
from .server import Provider

pytestmark = pytest.mark.loopback


@pytest.fixture
def provider() -> Iterator[Provider]:
    with Provider() as running:
        yield running


def test_what_a_job_has_is_not_asked_live(tmp_path: Path, provider: Provider) -> None:
    project = Project(tmp_path / "p", provider.base)
    provider.done = False
    first = project.send(limit=2)
    assert first.exit_code == 4
    assert first.run["batch"]["sent"] == 2

    again = project.send()  # the third case goes into a second job
    assert [len(job.keys) for job in project.jobs.all] == [2, 1]
    assert again.figures.incomplete == ("3 rows pending in batch jobs",)
    assert project.run().exit_code == 4
    assert provider.live == 0

    provider.done = True
    done = project.run()
    assert done.exit_code == 0
    assert done.run["batch"] == {"jobs": [], "sent": 0, "dollars": 0.0, "collected": 3}
    # 3 replies of 100 and 20 tokens, at 1 and 2 dollars a million
    assert done.run["spent"] == pytest.approx(3 * 140e-6, abs=1e-6)
    assert (provider.live, len(provider.jobs)) == (0, 2)
    assert (project.folder / "tape.jsonl").read_text("utf-8").count('"tier":"batch"') == 3


@pytest.mark.parametrize(("way", "live"), [("missing", 1), ("errored", 1), ("invalid", 1)])
def test_bad_lines_are_asked_again(tmp_path: Path, provider: Provider, way: str, live: int) -> None:
    project = Project(tmp_path / "p", provider.base)
    provider.spoilt = {"case-1": way}
    assert project.send().exit_code == 4
    jobs = project.jobs
    jobs.look()
    assert [job.replies for job in jobs.all] == [3 if way == "invalid" else 2]

    assert project.run().exit_code == 0
    assert provider.live == live


def test_a_refusal_in_a_job_is_that_of_a_live_call(tmp_path: Path, provider: Provider) -> None:
    project = Project(tmp_path / "p", provider.base)
    provider.spoilt = {"case-1": "400"}
    project.send()

    report = project.run()
    assert report.metrics["clear"].failures == {"refused": 1}
    assert project.run(record="none").metrics["clear"].failures == {"refused": 1}
    assert provider.live == 0


def test_a_job_that_expires_leaves_its_rest(tmp_path: Path, provider: Provider) -> None:
    project = Project(tmp_path / "p", provider.base)
    provider.done = False
    project.send()
    provider.end(provider.jobs["batch_1"], "expired", most=1)

    assert project.send().exit_code == 4  # the rest goes into another job
    assert [len(job.keys) for job in project.jobs.all] == [3, 2]
    assert [job.shown for job in project.jobs.all] == ["ended (expired)", "in_progress"]
    provider.done = True
    assert project.run().exit_code == 0
    assert provider.live == 0


def test_a_full_queue_is_waited_for(tmp_path: Path, provider: Provider) -> None:
    project = Project(tmp_path / "p", provider.base)
    provider.rejects = [{"code": "token_limit_exceeded", "message": "queue full", "line": None}]
    project.send()
    (job,) = project.jobs.all
    assert (job.state, job.problem) == (
        "waiting",
        "queue full; the job waits until others have ended",
    )

    assert project.run().exit_code == 0
    assert (provider.live, len(provider.jobs)) == (0, 2)


def test_a_refused_file_names_line_and_error(tmp_path: Path, provider: Provider) -> None:
    project = Project(tmp_path / "p", provider.base)
    provider.rejects = [{"code": "model_not_found", "message": "no such model", "line": 2}]
    assert project.send().exit_code == 4
    (job,) = project.jobs.all
    assert (job.shown, job.replies) == ("ended (failed)", 0)
    assert job.problem.startswith("line 2: no such model; name a model that takes batch jobs, ")


def test_a_cancelled_job_keeps_its_replies(tmp_path: Path, provider: Provider) -> None:
    project = Project(tmp_path / "p", provider.base)
    provider.done = False
    project.send()
    jobs = project.jobs
    with pytest.raises(ConfigError, match="no open jobs 'x'; the names are: batch_1"):
        jobs.cancel("x")
    jobs.cancel("batch")
    assert [(job.shown, job.replies) for job in jobs.all] == [("ended (cancelled)", 1)]

    assert project.run().exit_code == 0
    assert provider.live == 2


def test_a_whole_job_is_reserved_in_the_budget(tmp_path: Path, provider: Provider) -> None:
    project = Project(tmp_path / "p", provider.base, cases=6, more="limits: {max_cost: 0.0014}\n")
    provider.done = False
    report = project.send()
    (job,) = project.jobs.all
    assert len(job.keys) == 2
    assert job.dollars is not None
    assert job.dollars < 0.0014
    assert report.exit_code == 4
    assert report.figures.incomplete == ("2 rows pending in batch jobs", "4 rows not run")

    # While the job is open, its price is not there for live calls; its replies cost less.
    project.run()
    assert 0 < provider.live < 4
    provider.done = True
    assert project.run().exit_code == 0
    assert provider.live == 4


def test_a_file_is_sent_and_collected_by_hand(tmp_path: Path, provider: Provider) -> None:
    project = Project(tmp_path / "p", provider.base)
    file = tmp_path / "out.jsonl"
    assert project.run(batches=BatchChoice(sending=True, file=file)).exit_code == 4
    assert (provider.live, provider.probes, len(provider.jobs)) == (0, 0, 0)
    assert project.run().exit_code == 4  # a person may have sent it

    lines = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    assert {line["url"] for line in lines} == {"/v1/chat/completions"}
    provider.files["by hand"] = file.read_bytes()
    job = provider.create({"input_file_id": "by hand"})
    provider.end(job, "completed")
    replies = tmp_path / "replies.jsonl"
    replies.write_bytes(provider.content(job))
    project.jobs.take(replies)
    assert project.run().exit_code == 0
    assert provider.live == 0

    replies.write_text('{"custom_id": "other", "response": {"status_code": 200, "body": {}}}\n')
    with pytest.raises(ConfigError, match="has no reply to a request of a job"):
        project.jobs.take(replies)


def test_a_lost_answer_to_a_submit_is_found_again(tmp_path: Path, provider: Provider) -> None:
    project = Project(tmp_path / "p", provider.base)
    provider.loses = {"/batches"}
    report = project.send()
    assert [job.state for job in project.jobs.all] == ["sending"]
    assert report.exit_code == 4

    assert project.run().exit_code == 0
    assert (provider.live, len(provider.jobs)) == (0, 1)


def test_renewed_replies_do_not_come_from_jobs(tmp_path: Path, provider: Provider) -> None:
    project = Project(tmp_path / "p", provider.base)
    project.send()
    project.run()
    assert project.run(record="all").exit_code == 0
    assert provider.live == 3


def test_exports_and_merge_say_that_rows_are_pending(tmp_path: Path, provider: Provider) -> None:
    project = Project(tmp_path / "p", provider.base, cases=4)
    provider.done = False
    suites = [project.opened(batches=SEND, shard=f"{n}/2") for n in (1, 2)]
    folders = [tmp_path / "shard1", tmp_path / "shard2"]
    reports = [run_suite_sync(suite, out=out) for suite, out in zip(suites, folders, strict=True)]
    assert {report.exit_code for report in reports} <= {0, 4}
    merged = merge_shards(project.suite, folders, out=tmp_path / "merged")
    assert merged.exit_code == 4

    junit = merged.export("junit", tmp_path / "junit.xml").read_text("utf-8")
    assert junit.count('type="pending"') == 4
    assert "4 rows pending in batch jobs" in junit


def test_a_judge_without_jobs_is_refused(tmp_path: Path, provider: Provider) -> None:
    project = Project(tmp_path / "p", provider.base)
    with pytest.raises(ConfigError, match="bedrock/x: --batch cannot send its requests"):
        project.opened(batches=SEND, judge="bedrock/x")


def test_two_runs_at_once_send_a_request_once(tmp_path: Path, provider: Provider) -> None:
    project = Project(tmp_path / "p", provider.base, cases=4)
    provider.done = False
    other = Project(tmp_path / "other", provider.base, cases=4)
    other.send(limit=2)
    slow = project.opened(batches=SEND)
    assert slow.batches is not None
    finish = slow.batches.finish

    def later(*, send: bool) -> Any:
        slow.batches.finish = finish  # type: ignore[method-assign,union-attr]
        # Another run has sent two of the requests that this one has collected.
        shutil.copytree(other.home, project.home, dirs_exist_ok=True)
        return finish(send=send)

    slow.batches.finish = later  # type: ignore[method-assign]
    report = run_suite_sync(slow, out=tmp_path / "slow")
    assert report.exit_code == 4
    assert sorted(len(job.keys) for job in project.jobs.all) == [2, 2]
    assert len(provider.sent) == len(set(provider.sent)) == 4
    for job in project.jobs.all:  # what was left out is not in the file, either
        lines = Journal(project.home).requests(job.intent).read_text("utf-8").splitlines()
        assert [json.loads(line)["custom_id"] for line in lines] == list(job.keys)
    provider.done = True
    assert project.run().exit_code == 0
    assert provider.live == 0
