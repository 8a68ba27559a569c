"""The commands about jobs, as people type them: messages, exit codes, and what is sent."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from judgekit.batch.courier import SETTLED
from judgekit.batch.journal import Journal
from judgekit.cli import main

from .projects import Project
from .server import Provider

pytestmark = pytest.mark.loopback
Command = Callable[..., tuple[int, str]]
RUN = ("run", "suite.yaml", "--out", "run")


@pytest.fixture
def provider() -> Iterator[Provider]:
    with Provider() as running:
        yield running


@pytest.fixture
def project(tmp_path: Path, provider: Provider, monkeypatch: pytest.MonkeyPatch) -> Project:
    made = Project(tmp_path / "p", provider.base)
    monkeypatch.chdir(made.folder)
    monkeypatch.setenv("JUDGEKIT_HOME", str(made.home))
    return made


@pytest.fixture
def command(
    project: Project, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Command:
    """Runs a command in the project; returns the exit code, and both outputs together."""

    def run(*args: str) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["judgekit", *args])
        code = 0
        try:
            main()
        except SystemExit as exc:
            code = exc.code if isinstance(exc.code, int) else 0
        out, err = capsys.readouterr()
        assert "Traceback" not in out + err
        return code, out + err

    return run


def aged(project: Project, seconds: float) -> None:
    """Let the last submits be older."""
    journal = Journal(project.home)
    with journal.locked():
        for job in journal.jobs():
            earlier = {
                "sent_at": (job.sent_at or 0) - seconds,
                "uptime": (job.uptime or 0) - seconds,
            }
            journal.change(job, **earlier)


@pytest.mark.parametrize(("status", "listed"), [(200, {"data": None}), (501, {})])
def test_unknown_is_said_and_resent_only_when_asked(
    provider: Provider,
    command: Command,
    project: Project,
    monkeypatch: pytest.MonkeyPatch,
    status: int,
    listed: dict[str, object],
) -> None:
    monkeypatch.setattr(provider, "listed", lambda _: listed)
    provider.lists = status
    provider.loses = {"/batches"}
    code, text = command(*RUN, "--batch")
    assert (code, len(provider.jobs)) == (4, 1)
    aged(project, 10 * SETTLED)

    for args in [("batch",), ("batch", "wait"), (*RUN, "--record", "new_episodes")] * 2:
        code, text = command(*args)
        assert "send it again with --resend, or drop it with `judgekit batch cancel`" in text, args
        assert code == (0 if args == ("batch",) else 4), args
    assert (provider.live, len(provider.jobs)) == (0, 1)
    (job,) = project.jobs.all
    assert job.state == "unknown"

    code, text = command(*RUN, "--resend")
    assert (code, len(provider.jobs)) == (0, 2), text
    for flags in [("--resend",), ("--resend", "--batch"), ("--record", "new_episodes")]:
        code, _ = command(*RUN, *flags)
        assert (code, len(provider.jobs), provider.live) == (0, 2, 0), flags


def test_an_unknown_job_can_be_dropped(
    provider: Provider, command: Command, project: Project
) -> None:
    provider.lists = 404
    provider.loses = {"/batches"}
    command(*RUN, "--batch")
    command("batch")
    (job,) = project.jobs.all
    code, text = command("batch", "cancel", job.name[:6])
    assert code == 0
    assert "dropped" in text
    assert command(*RUN, "--record", "new_episodes")[0] == 0
    assert (provider.live, len(provider.jobs)) == (3, 1)


def test_a_job_is_cancelled_by_the_command(
    provider: Provider, command: Command, project: Project
) -> None:
    provider.done = False
    command(*RUN, "--batch")
    code, text = command("batch", "wait", "--timeout", "0s")
    assert code == 4
    assert "batch_1  openai/fake  3 requests" in text
    assert "in_progress" in text
    code, text = command("batch", "cancel", "other")
    assert (code, text) == (2, "judgekit: no open jobs 'other'; the names are: batch_1\n")
    code, text = command("batch", "cancel", "batch_1")
    assert code == 0
    assert "ended (cancelled), 1 reply, 2 without one (may be asked again)" in text
    assert command("batch", "wait")[0] == 0
    assert command(*RUN, "--record", "new_episodes")[0] == 0
    assert provider.live == 2


def test_a_key_that_is_gone_from_the_tape_comes_from_the_job_again(
    provider: Provider, command: Command, project: Project
) -> None:
    command(*RUN, "--batch")
    assert command(*RUN, "--record", "new_episodes")[0] == 0
    before = project.rows()
    tape = project.folder / "tape.jsonl"
    lines = tape.read_text("utf-8").splitlines(keepends=True)
    tape.write_text("".join(line for line in lines if '"key"' not in line))
    assert command(*RUN, "--record", "new_episodes")[0] == 0
    assert (provider.live, len(provider.jobs)) == (0, 1)
    assert project.rows() == before


def test_a_row_that_was_edited_meanwhile_is_another_request(
    provider: Provider, command: Command, project: Project
) -> None:
    provider.done = False
    command(*RUN, "--batch")
    cases = project.folder / "cases.jsonl"
    cases.write_text(cases.read_text("utf-8").replace("It is 1.", "It is not 1."))
    code, _ = command(*RUN, "--record", "new_episodes")
    assert (code, provider.live) == (4, 1)  # the edited one; two are still in the job
    provider.done = True
    assert command(*RUN, "--record", "new_episodes")[0] == 0
    assert provider.live == 1


def test_what_was_answered_live_meanwhile_keeps_its_recording(
    provider: Provider, command: Command, project: Project
) -> None:
    provider.done = False
    command(*RUN, "--batch")
    tape, home = project.folder / "tape.jsonl", project.home
    home.rename(home.with_name("aside"))  # a run in another folder does not know the job
    assert command(*RUN, "--record", "new_episodes")[0] == 0
    assert provider.live == 3
    before = tape.read_bytes()
    for file in home.with_name("aside").glob("batches*"):
        file.rename(home / file.name)
    provider.done = True
    code, text = command(*RUN, "--record", "new_episodes")
    assert (code, provider.live, tape.read_bytes()) == (0, 3, before)
    assert "took" not in text


def test_replies_of_two_snapshots_of_a_model_are_named(
    provider: Provider, command: Command, project: Project
) -> None:
    code, text = command(*RUN, "--batch", "--limit", "1")
    assert (code, "the new jobs have ended; run the suite again" in text) == (4, True)
    provider.model = "fake-2027"
    code, text = command(*RUN, "--record", "new_episodes")
    assert code == 0
    assert "fake-2026" in text
    assert "fake-2027" in text
    lines = (project.folder / "tape.jsonl").read_text("utf-8").splitlines()
    recorded = [json.loads(line) for line in lines]
    models = sorted(row["reply"]["model"] for row in recorded if "reply" in row)
    assert models == ["fake-2026", "fake-2027", "fake-2027"]


@pytest.mark.parametrize(
    ("status", "error", "told"),
    [
        (401, {"message": "bad key"}, "HTTP 401: bad key; check the key"),
        (402, {"message": "no money"}, "HTTP 402: no money; add credit"),
        (400, {"message": "x", "code": "billing_hard_limit_reached"}, "HTTP 400: x; add credit"),
        (413, {"message": "too large"}, "HTTP 413: too large; drop the job with"),
        (404, {}, "HTTP 404: Not Found; the server takes no such jobs; drop the job with"),
        (400, {"message": "strange"}, "HTTP 400: strange; drop the job with"),
        (307, {}, "HTTP 307: Temporary Redirect; redirects are not followed; set api_base"),
        (429, {"message": "slower"}, "the server does not answer: HTTP 429: slower"),
    ],
)
def test_a_refused_submit_says_what_to_do(
    provider: Provider,
    command: Command,
    project: Project,
    status: int,
    error: dict[str, str],
    told: str,
) -> None:
    provider.refuses = [(status, {"error": error})] * 2
    for args in [(*RUN, "--batch"), ("batch",)]:
        _, text = command(*args)
        assert told in text, args
    (job,) = project.jobs.all
    assert (job.state, provider.jobs) == ("uploaded", {})
    assert command("batch")[0] == 0  # the provider takes it now
    assert len(provider.jobs) == 1
    assert len(provider.files) == 1


def test_a_job_that_fails_at_once_says_why(
    provider: Provider, command: Command, project: Project
) -> None:
    provider.rejects = [{"code": "model_not_found", "message": "no such model", "line": 1}]
    code, text = command(*RUN, "--batch")
    assert code == 4
    assert "job batch_1: line 1: no such model; name a model that takes batch jobs" in text
    assert command(*RUN, "--record", "new_episodes")[0] == 0
    assert provider.live == 3


def test_a_score_that_is_pending_ends_with_4(provider: Provider, command: Command) -> None:
    judge = ("--judge", "openai/fake", "--api-base", provider.base, "--tier", "batch")
    text = ("--input", "q", "--output", "x", "--context", "c")
    code, shown = command("score", "--metric", "faithfulness", *text, *judge)
    assert (code, shown.splitlines()[-1]) == (4, "PENDING: faithfulness has no score (pending).")
    assert (provider.live, len(provider.sent)) == (0, 1)
