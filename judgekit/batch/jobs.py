"""All jobs of a project, for the commands that follow, cancel and collect them."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from judgekit.batch.client import NoAnswerError, RefusedError
from judgekit.batch.courier import Connect, Courier, connect
from judgekit.batch.job import BY_HAND, Job
from judgekit.batch.journal import Journal
from judgekit.batch.replies import Place, line_ids, reply_places
from judgekit.core.errors import ConfigError
from judgekit.core.output_file import whole_file


class Jobs:
    """The jobs of a project.

    Args:
        home: the private folder of the project.
        only: the intents of the jobs that count; by default all.
        connect: returns the protocol for the server of a job.
    """

    def __init__(
        self, home: Path, *, only: Collection[str] | None = None, connect: Connect = connect
    ) -> None:
        self._journal = Journal(home)
        self._connect, self._only = connect, only
        self.all: list[Job] = self._journal.jobs()
        self.problems: dict[str, str] = {}
        """Intent -> why its job did not get further."""

    @property
    def open(self) -> list[Job]:
        """The jobs that may still be answered."""
        only = self._only
        return [job for job in self.all if job.open and (only is None or job.intent in only)]

    @property
    def moving(self) -> bool:
        """Whether waiting may help: a job is open, and no person has to decide about it."""
        return any(job.state != "unknown" and job.provider != "file" for job in self.open)

    def look(self) -> None:
        """Take every open job as far as it gets now."""
        if not self.open:
            return
        with self._journal.locked():
            courier = Courier(self._journal, connect=self._connect)
            self.all = [courier.advance(job) for job in self._journal.jobs()]
            self.problems = courier.problems

    def cancel(self, name: str) -> None:
        """Cancel a job by its name, or the beginning of it.

        Raises:
            ConfigError: there is no such open job, or several, or it cannot be cancelled.
        """
        if not self.all:
            raise ConfigError("no batch jobs in this folder")
        with self._journal.locked():
            self.all = self._journal.jobs()
            jobs = [job for job in self.open if job.name == name]
            jobs = jobs or [job for job in self.open if job.name.startswith(name)]
            if len(jobs) != 1:
                known = ", ".join(job.name for job in (jobs or self.open)[:5]) or "none"
                count = "several" if jobs else "no"
                raise ConfigError(f"{count} open jobs {name!r}; the names are: {known}")
            courier = Courier(self._journal, connect=self._connect)
            try:
                changed = courier.cancel(jobs[0])
            except (NoAnswerError, RefusedError) as exc:
                raise ConfigError(f"job {jobs[0].name} is not cancelled: {exc}") from exc
            self.all = [changed if job.intent == changed.intent else job for job in self.all]

    def take(self, file: Path) -> None:
        """Take replies from a file, for the jobs that have their requests.

        Raises:
            ConfigError: the file cannot be read, or has no reply to a request of a job.
        """
        try:
            ids, places = line_ids(file), reply_places(file)
        except OSError as exc:
            raise ConfigError(f"cannot be read: {exc.strerror}", where=str(file)) from exc
        with self._journal.locked():
            courier = Courier(self._journal, connect=self._connect)
            chosen = [
                job
                for job in self._journal.jobs()
                if job.state != "dropped" and not places.keys().isdisjoint(job.keys)
            ]
            for job in chosen:
                self._check_whole(job, ids, file)
            for job in chosen:
                self._add(job, places, file)
                courier.ended(job, status="collected from a file")
            self.all = self._journal.jobs()
        if not chosen:
            message = "has no reply to a request of a job; give the output of the job"
            raise ConfigError(message, where=str(file))

    def _check_whole(self, job: Job, ids: set[str], file: Path) -> None:
        """Reject a part of what an open job may still answer: the rest would be asked again."""
        missing = len(set(job.keys) - ids)
        if job.open and job.provider != BY_HAND and missing:
            raise ConfigError(
                f"job {job.name} is open, and the file has no line for {missing:,} of its "
                f"{len(job.keys):,} requests; wait for the job, or give all its files in one",
                where=str(file),
            )

    def _add(self, job: Job, places: dict[str, Place], file: Path) -> None:
        """Add the replies of a file to those that the job has already, which stay."""
        path = self._journal.replies(job.intent)
        there = reply_places(path, among=set(job.keys)) if job.state == "ended" else {}
        sources = [(path, there)] if there else []
        new = {id: places[id] for id in job.keys if id in places and id not in there}
        with whole_file(path, mode=0o600, sync=True) as to:
            for source, chosen in [*sources, (file, new)]:
                with source.open("rb") as lines:
                    for place in chosen.values():
                        lines.seek(place.start)
                        to.write(lines.read(place.size).rstrip(b"\n") + b"\n")
