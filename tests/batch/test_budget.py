"""One budget over live calls, open jobs and the replies of ended ones."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from judgekit.core.errors import ConfigError
from judgekit.suite.estimate import plan_run
from judgekit.suite.overrides import Overrides
from judgekit.suite.resolved import resolve
from judgekit.suite.run import failed_keys, run_suite_sync
from judgekit.suite.suite import open_suite

from .projects import SEND, Project
from .server import Provider

pytestmark = pytest.mark.loopback
REPLY = 140e-6
"""US dollars of a reply: 100 and 20 tokens, at 1 and 2 dollars a million."""


@pytest.fixture
def provider() -> Iterator[Provider]:
    with Provider() as running:
        yield running


def limits(dollars: float, more: str = "") -> str:
    return f"limits: {{max_cost: {dollars}{more}}}\n"


def test_replies_that_are_not_taken_yet_are_held(tmp_path: Path, provider: Provider) -> None:
    project = Project(tmp_path / "p", provider.base, cases=6, more=limits(0.0012))
    # The cases at the end are in a job; those at the start are asked live, and would come first.
    cases = project.folder / "cases.jsonl"
    rows = cases.read_text().splitlines(keepends=True)
    cases.write_text(rows[5])
    project.send()
    cases.write_text("".join(rows))
    project.jobs.look()

    report = project.run()
    assert report.run["spent"] <= 0.0012
    assert report.run["batch"]["collected"] == 1
    assert 0 < provider.live < 5 or report.exit_code == 0
    (job,) = project.jobs.all
    assert (job.taken, job.suite) == (True, "suite.yaml")


def test_a_reply_is_taken_although_the_money_is_spent(tmp_path: Path, provider: Provider) -> None:
    project = Project(tmp_path / "p", provider.base, cases=3)
    project.send()
    text = project.suite.read_text()
    project.suite.write_text(text + limits(1e-6, ", concurrency: 1"))
    cases = project.folder / "cases.jsonl"
    new = '{"id": "new", "input": "case-new", "output": "x", "reference": "y"}\n'
    cases.write_text(new + cases.read_text())

    report = project.run()
    assert provider.live == 0
    assert report.metrics["clear"].scored == 3
    assert report.metrics["clear"].failures == {"not_run": 1}
    assert report.exit_code == 3


def test_jobs_of_another_suite_are_not_in_the_budget(tmp_path: Path, provider: Provider) -> None:
    project = Project(tmp_path / "p", provider.base)
    provider.done = False
    project.send()
    other = project.folder / "other.yaml"
    text = project.suite.read_text().replace("Is it clear?", "Is it short?")
    other.write_text(text.replace("tape", "other") + limits(0.004))
    (job,) = project.jobs.all
    assert job.dollars is not None
    held = {}
    for path in (project.suite, other):
        suite = open_suite(resolve(path, Overrides(record="new_episodes")))
        report = run_suite_sync(suite, out=tmp_path / path.stem)
        assert suite.batches is not None
        budget = suite.batches._budget  # nothing shows what is held
        held[path.stem] = (report.exit_code, 0.0 if budget is None else budget.held)
        assert (suite.batch_facts is None) == (path == other)
    assert held == {"suite": (4, job.dollars), "other": (0, 0.0)}


def planned(project: Project, again: frozenset[str]) -> tuple[int, int]:
    """Return the requests to send, and those with a reply in an ended job."""
    flags = Overrides(record="new_episodes", again=again)
    (model,) = plan_run(resolve(project.suite, flags), SEND).models
    return model.requests[0], model.in_ended_jobs


def test_retry_failed_asks_once(tmp_path: Path, provider: Provider) -> None:
    """What failed is asked again, in one job or live, and its new reply is taken."""
    project = Project(tmp_path / "p", provider.base)
    provider.spoilt = {"case-1": "400"}
    project.send()
    report = project.run()
    assert report.metrics["clear"].failures == {"refused": 1}
    provider.spoilt, provider.live, sent = {}, 0, len(provider.sent)

    again = failed_keys(project.folder / "run")
    assert len(again) == 1
    assert planned(project, again) == (1, 0)
    assert project.send(again=again).exit_code == 4
    assert len(provider.sent) == sent + 1
    project.jobs.look()
    assert planned(project, again) == (0, 1)
    done = project.run(again=again)
    assert (done.exit_code, provider.live, len(provider.sent)) == (0, 0, sent + 1)


def test_retry_failed_takes_what_was_pending(tmp_path: Path, provider: Provider) -> None:
    project = Project(tmp_path / "p", provider.base)
    assert project.send().exit_code == 4
    again = failed_keys(project.folder / "run")
    assert again == frozenset()
    assert project.run(again=again).exit_code == 0
    assert provider.live == 0


def test_an_invalid_reply_is_asked_again_within_the_budget(
    tmp_path: Path, provider: Provider
) -> None:
    project = Project(tmp_path / "p", provider.base, cases=1, more=limits(0.0012))
    provider.spoilt = {"case-0": "invalid"}
    project.send()
    done = project.run()
    assert (done.exit_code, provider.live) == (0, 1)
    assert done.run["spent"] == pytest.approx(2 * REPLY)

    poor = Project(tmp_path / "q", provider.base, cases=1)
    poor.send()
    poor.suite.write_text(poor.suite.read_text() + limits(1e-6))
    done = poor.run()
    assert (done.exit_code, provider.live) == (3, 1)
    assert done.metrics["clear"].failures == {"not_run": 1}
    poor.suite.write_text(poor.suite.read_text().replace("1e-06", "1"))
    assert poor.run().exit_code == 0  # the reply of the job is still there


def test_a_budget_below_one_request(tmp_path: Path, provider: Provider) -> None:
    project = Project(tmp_path / "p", provider.base, more=limits(1e-5))
    suite = project.opened(batches=SEND)
    report = run_suite_sync(suite, out=project.folder / "run")
    assert (report.exit_code, len(provider.jobs), provider.live) == (3, 0, 0)
    assert suite.batch_facts is not None
    assert suite.batch_facts.problems[0].startswith(
        "not all requests were sent, because of max_cost: not sent: it may cost $0.0"
    )


def test_a_full_disk_is_said_and_nothing_is_sent(tmp_path: Path, provider: Provider) -> None:
    project = Project(tmp_path / "p", provider.base)
    suite = project.opened(batches=SEND)
    assert suite.batches is not None
    suite.batches.journal.requests = lambda intent: tmp_path / "full" / intent  # type: ignore[method-assign]
    with pytest.raises(ConfigError, match=r"batches: cannot be written: .*; make room"):
        run_suite_sync(suite, out=project.folder / "run")
    assert provider.jobs == {}

    provider.done = False
    assert project.send().exit_code == 4
    jobs, provider.done = project.jobs, True
    (project.home / "batches" / f"{jobs.all[0].intent}.out.jsonl").mkdir()  # cannot be written
    jobs.look()
    assert [job.state for job in jobs.all] == ["sent"]
    assert "cannot be written" in next(iter(jobs.problems.values()))
    (project.home / "batches" / f"{jobs.all[0].intent}.out.jsonl").rmdir()
    assert project.run().exit_code == 0
    assert (provider.live, len(provider.jobs)) == (0, 1)
