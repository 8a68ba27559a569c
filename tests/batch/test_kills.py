"""A kill at every step of a job: its requests are submitted once, and no reply is lost."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from judgekit.batch.client import NoAnswerError
from judgekit.batch.courier import SETTLED, Courier
from judgekit.batch.job import Job
from judgekit.batch.journal import Journal
from judgekit.batch.protocol import JobProgress
from judgekit.batch.replies import reply_places

IDS = tuple(f"{n:040x}" for n in range(5))


class Killed(BaseException):
    """The process ends here; nothing in it runs further."""


class Fuse:
    """Ends the process at the `at`th step."""

    def __init__(self, at: int) -> None:
        self.left = at

    def step(self) -> None:
        self.left -= 1
        if self.left == 0:
            raise Killed


class KilledJournal(Journal):
    """A journal whose process may end before a write, within it, and after it."""

    def __init__(self, home: Path, fuse: Fuse) -> None:
        super().__init__(home)
        self.fuse = fuse

    def _append(self, fields: dict[str, Any]) -> None:
        self.fuse.step()
        try:
            self.fuse.step()
        except Killed:
            with self.path.open("ab") as file:
                file.write(json.dumps(fields).encode()[:20])  # cut off
            raise
        super()._append(fields)
        self.fuse.step()


class Server:
    """A provider that outlives the processes."""

    def __init__(self, *, lists: bool = True) -> None:
        self.jobs: list[str] = []
        """The marks of all submits."""
        self.files = 0
        self.lists = lists
        """Whether it lists its jobs with their marks."""
        self.looks = 0


class KilledProtocol:
    """Calls of one process; it may end before a call reaches the server, and before the answer."""

    def __init__(self, server: Server, fuse: Fuse, *, loses: bool = False) -> None:
        self.server, self.fuse, self.loses = server, fuse, loses

    def _called(self, work: Callable[[], Any]) -> Any:
        self.fuse.step()
        result = work()
        self.fuse.step()
        return result

    def upload(self, job: Job, file: Path) -> str:
        def work() -> str:
            self.server.files += 1
            return f"file-{self.server.files}"

        answer: str = self._called(work)
        return answer

    def create(self, job: Job, file: Path) -> JobProgress:
        self._called(lambda: self.server.jobs.append(job.tag))
        if self.loses:
            self.loses = False
            raise NoAnswerError("the connection was closed")
        return JobProgress(f"job-{len(self.server.jobs)}", "in_progress")

    def find(self, job: Job, *, others: frozenset[str]) -> list[JobProgress] | None:
        self.fuse.step()
        if not self.server.lists:
            return None
        tags = enumerate(self.server.jobs, 1)
        return [JobProgress(f"job-{n}", "in_progress") for n, tag in tags if tag == job.tag]

    def look(self, job: Job) -> JobProgress:
        self.fuse.step()
        self.server.looks += 1
        ended = self.server.looks > 1
        return JobProgress(job.job or "", "completed" if ended else "in_progress", ended=ended)

    def fetch(self, progress: JobProgress, to: Path) -> None:
        def work() -> None:
            rows = [
                {"custom_id": id, "response": {"status_code": 200, "body": {"n": id}}}
                for id in reversed(IDS)
            ]
            to.write_text("".join(json.dumps(row) + "\n" for row in rows))

        self._called(work)

    def cancel(self, job: Job) -> JobProgress:
        raise AssertionError("no job is cancelled")


def written(journal: Journal) -> None:
    """Write a job as a run does, unless an earlier process has written it."""
    if not journal.jobs():
        journal.requests("00ff" * 4).write_bytes(b"")
        journal.add(
            Job(
                intent="00ff" * 4,
                at="2026-11-27T12:00:00+00:00",
                provider="openai",
                model="openai/x",
                mode="json_schema",
                keys=IDS,
                sha256=sha256(b"").hexdigest(),
            )
        )


def sessions(
    home: Path, server: Server, fuse: Fuse, *, loses: bool = False, most: int = 12
) -> list[Job]:
    """Go on in new processes until the job ends or cannot get further; return the jobs."""
    now = itertools.count(1_000.0, SETTLED)
    for number in range(most):
        journal = KilledJournal(home, fuse)
        protocol = KilledProtocol(server, fuse, loses=loses and number == 0)
        time = next(now)
        courier = Courier(
            journal,
            connect=lambda _, p=protocol: p,  # type: ignore[misc]
            now=lambda t=time: t,  # type: ignore[misc]
            uptime=lambda t=time: t,  # type: ignore[misc]
        )
        try:
            with journal.locked():
                written(journal)
                jobs = [courier.advance(job) for job in journal.jobs()]
        except Killed:
            continue
        if not any(job.open for job in jobs):
            break
    return Journal(home).jobs()


def steps(tmp_path: Path) -> int:
    fuse = Fuse(0)
    sessions(tmp_path / "counted", Server(), fuse)
    return -fuse.left


@pytest.mark.parametrize("loses", [False, True])
def test_a_kill_at_every_step_submits_once_and_loses_nothing(tmp_path: Path, loses: bool) -> None:
    count = steps(tmp_path)
    assert count > 20
    for at in range(1, count + 4):
        home, server = tmp_path / f"{at}", Server()
        (job,) = sessions(home, server, Fuse(at), loses=loses)
        assert job.state == "ended", at
        assert len(server.jobs) == 1, at
        assert reply_places(Journal(home).replies(job.intent)).keys() == set(IDS)


def test_where_jobs_are_not_listed_a_lost_submit_is_unknown(tmp_path: Path) -> None:
    for at in range(1, steps(tmp_path) + 1):
        home, server = tmp_path / f"{at}", Server(lists=False)
        (job,) = sessions(home, server, Fuse(at))
        assert len(server.jobs) <= 1, at
        assert job.state == ("ended" if job.job else "unknown"), at
        if job.state == "unknown":
            assert "send it again with --resend" in job.problem
            courier = Courier(
                Journal(home),
                connect=lambda _, s=server: KilledProtocol(s, Fuse(0)),  # type: ignore[misc]
            )
            again = courier.advance(job, resend=True)
            assert again.job
            assert again.attempt == job.attempt + 1


@pytest.mark.parametrize(
    ("before", "now", "uptime", "sent"),
    [
        (500.0, 1_030.0, 530.0, 0),
        (500.0, 9_999.0, 530.0, 0),  # the clock was set forward
        (500.0, 900.0, 600.0, 0),  # the clock was set back
        (500.0, 1_100.0, 30.0, 0),  # the system was started again
        (500.0, 1_100.0, 60.0, 1),
        (None, 1_100.0, 600.0, 0),  # an older journal
        (500.0, 1_060.0, 560.0, 1),
    ],
)
def test_a_submit_of_a_moment_ago_is_not_repeated(
    tmp_path: Path, before: float | None, now: float, uptime: float, sent: int
) -> None:
    server, journal = Server(), Journal(tmp_path)
    with journal.locked():
        written(journal)
        (job,) = journal.jobs()
        job = journal.change(job, state="sending", file="f", sent_at=1_000.0, uptime=before)
        protocol = KilledProtocol(server, Fuse(0))
        courier = Courier(
            journal, connect=lambda _: protocol, now=lambda: now, uptime=lambda: uptime
        )
        assert courier.advance(job).state == ("sent" if sent else "sending")
        assert ("does not list it yet" in courier.problems.get(job.intent, "")) is (sent == 0)
        assert len(server.jobs) == sent
        later = Courier(
            journal, connect=lambda _: protocol, now=lambda: 2_000.0, uptime=lambda: 2_000.0
        )
        (job,) = journal.jobs()
        assert later.advance(job).state in ("sent", "ended")
        assert len(server.jobs) == 1
