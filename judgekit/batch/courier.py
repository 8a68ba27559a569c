"""The courier: takes each job one step further, and notes every step before it is taken."""

from __future__ import annotations

import time
from collections.abc import Callable
from hashlib import file_digest
from pathlib import Path

from judgekit.batch.advice import advised
from judgekit.batch.client import GONE, NoAnswerError, NotDoneError, RefusedError
from judgekit.batch.job import BY_HAND, Job
from judgekit.batch.journal import Journal
from judgekit.batch.protocol import TOKEN_LIMIT, BatchProtocol, JobProgress
from judgekit.batch.protocols import PROTOCOLS
from judgekit.batch.provider import key_of, provider_named
from judgekit.batch.replies import reply_places
from judgekit.judges.endpoint import variable_shown

SETTLED = 60.0
"""Seconds after which a submit that the provider does not list was not carried out."""
_NOT_ALLOWED = frozenset({401, 403})
_NO_ID = "the provider gave the job no id"
Connect = Callable[[Job], BatchProtocol | str]
"""Returns the protocol for the server of a job, or why it cannot be called."""


def connect(job: Job) -> BatchProtocol | str:
    """Return the protocol for the server of a job, or why it cannot be called."""
    provider = provider_named(job.provider)
    base = job.api_base or (provider.address if provider is not None else None)
    if provider is None or base is None:
        return f"{job.provider[:40]} takes no jobs in this version"
    variable = job.api_key_env
    key = key_of(provider, model=job.model, api_base=job.api_base, variable=variable)
    needed = variable or (provider.key if job.api_base is None else None)
    if needed and not key:
        return f"{variable_shown(needed)} is not set in the environment; set it"
    headers = {name: job.headers[name] for name in provider.headers if name in job.headers}
    return PROTOCOLS[provider.protocol](base, key=key, headers=headers)


class Courier:
    """Sends, follows and collects the jobs of a journal; the caller holds its lock.

    A job whose server does not answer stays as it is, and `problems` says why.

    Args:
        journal: the journal.
        connect: returns the protocol for the server of a job.
        now: seconds since 1970.
        uptime: seconds of a clock that begins with the system and that nothing adjusts.
    """

    def __init__(
        self,
        journal: Journal,
        *,
        connect: Connect = connect,
        now: Callable[[], float] = time.time,
        uptime: Callable[[], float] = time.monotonic,
    ) -> None:
        self._journal, self._connect = journal, connect
        self._now, self._uptime = now, uptime
        self.problems: dict[str, str] = {}
        """Intent -> why its job did not get further."""

    def advance(self, job: Job, *, resend: bool = False) -> Job:
        """Take a job as far as it gets now, and return it.

        Args:
            job: the job.
            resend: whether to submit a job again that may exist at the provider.
        """
        self.problems.pop(job.intent, None)
        if not job.open or job.provider == BY_HAND:
            return job
        protocol = self._connect(job)
        if isinstance(protocol, str):
            self.problems[job.intent] = protocol
            return job
        steps = {
            "written": self._upload,
            "uploaded": self._submit,
            "waiting": self._submit_again,
            "sending": self._recover,
            "unknown": self._recover,
            "sent": self._follow,
        }
        if resend and job.state in ("sending", "unknown"):
            steps |= {"sending": self._submit_again, "unknown": self._submit_again}
        try:
            while True:
                further = steps[job.state](job, protocol)
                if further.state in (job.state, "waiting") or not further.open:
                    return further
                job = further
        except RefusedError as exc:
            self.problems[job.intent] = _problem_of(exc)
            return self._current(job)
        except NoAnswerError as exc:
            lost = "" if job.state != "sending" else "the answer to its submit was lost; "
            self.problems[job.intent] = f"{lost}the server does not answer: {exc}"
            return self._current(job)
        except OSError as exc:
            # The step counts as not taken, so a later look takes it again.
            problem = f"{self._journal.folder} cannot be written: {exc.strerror}; make room"
            self.problems[job.intent] = problem
            return self._current(job)

    def _current(self, job: Job) -> Job:
        """Return a job as the journal has it, after a step that failed half-way."""
        return next(one for one in self._journal.jobs() if one.intent == job.intent)

    def _upload(self, job: Job, protocol: BatchProtocol) -> Job:
        file = protocol.upload(job, self._requests(job))
        return self._journal.change(job, state="uploaded", file=file)

    def _requests(self, job: Job) -> Path:
        """Return the file of the requests of a job, which has to be as the run wrote it.

        Raises:
            RefusedError: it is not, so its replies would be those of other requests.
        """
        path = self._journal.requests(job.intent)
        try:
            with path.open("rb") as file:
                whole = file_digest(file, "sha256").hexdigest() == job.sha256
        except OSError:
            whole = False
        if not whole:
            raise RefusedError(
                f"{path} was changed or cannot be read; restore it, or drop the job with "
                "`judgekit batch cancel`",
                status=0,
            )
        return path

    def _submit_again(self, job: Job, protocol: BatchProtocol) -> Job:
        others = (one for one in self._journal.jobs() if one.intent != job.intent)
        if job.state == "waiting" and any(
            one.state == "sent" and one.model == job.model for one in others
        ):
            return job
        return self._submit(job, protocol, attempt=job.attempt + 1)

    def _submit(self, job: Job, protocol: BatchProtocol, *, attempt: int | None = None) -> Job:
        attempt = attempt or job.attempt
        path = self._journal.requests(job.intent) if job.file is not None else self._requests(job)
        times = {"sent_at": self._now(), "uptime": self._uptime()}
        job = self._journal.change(job, state="sending", attempt=attempt, problem="", **times)
        try:
            progress = protocol.create(job, path)
        except RefusedError as exc:
            if TOKEN_LIMIT in exc.codes:
                return self._journal.change(job, state="waiting", problem=_problem_of(exc))
            self._journal.change(
                job, state="uploaded", attempt=attempt + 1, problem=_problem_of(exc)
            )
            raise
        except NotDoneError:
            self._journal.change(job, state="uploaded")
            raise
        return self._sent(job, progress)

    def _sent(self, job: Job, progress: JobProgress) -> Job:
        if not progress.id:
            return self._journal.change(job, state="unknown", problem=_NO_ID)
        return self._journal.change(
            job, state="sent", job=progress.id, status=progress.status[:80], problem=""
        )

    def _recover(self, job: Job, protocol: BatchProtocol) -> Job:
        """Find the job of a submit whose answer was lost."""
        others = (one for one in self._journal.jobs() if one.intent != job.intent)
        try:
            jobs = protocol.find(job, others=frozenset(one.job for one in others if one.job))
        except RefusedError as exc:
            if exc.status in _NOT_ALLOWED:
                raise
            jobs = None  # a server without a list
        if jobs is not None and len(jobs) == 1:
            return self._sent(job, jobs[0])
        if jobs == [] and job.problem != _NO_ID:
            if self._settled(job):
                return self._submit(job, protocol, attempt=job.attempt + 1)
            # The provider may not have read the request yet.
            self.problems[job.intent] = (
                "the answer to its submit was lost, and the provider does not list it yet; "
                f"look again in {SETTLED:g} s"
            )
            return job
        count = "several jobs" if jobs else "a job"
        problem = (
            f"the answer to its submit was lost, and the provider may have {count} of it; look "
            "there, then send it again with --resend, or drop it with `judgekit batch cancel`"
        )
        self.problems[job.intent] = problem
        if job.state == "unknown":
            return job
        return self._journal.change(job, state="unknown", problem=problem)

    def _settled(self, job: Job) -> bool:
        """Return whether `SETTLED` seconds have passed since a submit for certain.

        People and services set the clock, so the system's uptime decides, too. After a restart it
        is smaller than it was, and at least that time has passed; it is never more.
        """
        up = self._uptime()
        if job.uptime is None:
            self._journal.change(job, uptime=up)
            return False
        passed = up - job.uptime if up >= job.uptime else up
        return min(self._now() - (job.sent_at or 0.0), passed) >= SETTLED

    def _follow(self, job: Job, protocol: BatchProtocol) -> Job:
        progress = protocol.look(job)
        if progress.id not in ("", job.job):
            raise NoAnswerError(f"it shows the job {progress.id[:80]} instead")
        return self.noted(job, progress._replace(id=job.job or ""), protocol)

    def noted(
        self, job: Job, progress: JobProgress, protocol: BatchProtocol, *, whole: bool = True
    ) -> Job:
        """Note what the provider says about a job, and collect the replies of one that ended.

        Args:
            job: the job.
            progress: what the provider says.
            protocol: the protocol of its server.
            whole: whether the job stays open while the file has fewer replies than the provider
                counts.
        """
        if progress.waits:
            problem = advised(progress.problem, codes=progress.codes)
            return self._journal.change(job, state="waiting", status="", job=None, problem=problem)
        if progress.late:
            self.problems[job.intent] = (
                "it has ended, and its replies are not there yet; look again, or drop the job with "
                "`judgekit batch cancel`, after which its requests are asked and paid for again"
            )
        if not progress.ended:
            if progress.status != job.status:
                return self._journal.change(job, status=progress.status[:80])
            return job
        path = self._journal.replies(job.intent)
        problem = advised(progress.problem, codes=progress.codes)
        try:
            protocol.fetch(progress, path)
        except RefusedError as exc:
            if exc.status not in GONE:
                raise
            # Its requests were paid for, so a person decides whether they are asked again.
            raise RefusedError(
                f"its replies are not there ({exc}); look again, or drop the job with `judgekit "
                "batch cancel`, after which its requests are asked and paid for again",
                status=0,
            ) from None
        there = len(reply_places(path, among=set(job.keys)))
        if whole and there < (progress.replies or 0) <= len(job.keys):
            raise RefusedError(
                f"the provider counts {progress.replies:,} replies, and its file has {there:,}; "
                "look again, or end the job with `judgekit batch cancel`, after which the other "
                "requests are asked and paid for again",
                status=0,
            )
        return self.ended(job, status=progress.status, problem=problem)

    def ended(self, job: Job, *, status: str = "", problem: str = "") -> Job:
        """Note that the replies of a job are on disk."""
        ids = reply_places(self._journal.replies(job.intent), among=set(job.keys))
        return self._journal.change(
            job, state="ended", status=status[:80], problem=problem[:2000], replies=len(ids)
        )

    def cancel(self, job: Job) -> Job:
        """Cancel a job at its provider, or drop one that the provider does not have.

        Raises:
            NoAnswerError: the server does not answer.
            RefusedError: it does not cancel the job.
        """
        if job.state != "sent" or job.provider == BY_HAND:
            return self._journal.change(job, state="dropped", problem="")
        protocol = self._connect(job)
        if isinstance(protocol, str):
            raise RefusedError(protocol, status=0)
        progress = self._cancelled(job, protocol)
        if progress is None or (progress.ended and not self._is_there(progress, job, protocol)):
            return self._journal.change(job, state="dropped", problem="")
        return self.noted(job, progress, protocol, whole=False)

    def _cancelled(self, job: Job, protocol: BatchProtocol) -> JobProgress | None:
        """Return what the provider says after a cancellation; `None` if it has no such job."""
        try:
            return protocol.cancel(job)
        except (RefusedError, NoAnswerError) as refusal:  # of a job that has ended, too
            try:
                progress = protocol.look(job)
            except RefusedError as exc:
                if exc.status in GONE:
                    return None
                raise
            if progress.late:
                return None
            if not progress.ended:
                raise refusal from None
            return progress

    def _is_there(self, progress: JobProgress, job: Job, protocol: BatchProtocol) -> bool:
        """Return whether the provider has the replies of a job that ended."""
        try:
            protocol.fetch(progress, self._journal.replies(job.intent))
        except RefusedError as exc:
            if exc.status in GONE:
                return False
            raise
        return True


def _problem_of(refusal: RefusedError) -> str:
    return advised(str(refusal), codes=refusal.codes, status=refusal.status)
