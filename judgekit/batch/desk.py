"""The desk: what judges ask before their servers in a run."""

from __future__ import annotations

import hashlib
import os
import secrets
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from judgekit.batch.choice import BatchChoice
from judgekit.batch.courier import Connect, Courier, connect
from judgekit.batch.job import BY_HAND, ID, Job
from judgekit.batch.journal import Journal
from judgekit.batch.protocols import PROTOCOLS
from judgekit.batch.provider import BatchProvider, provider_of
from judgekit.batch.replies import Place, reply_at, reply_places
from judgekit.batch.room import JobRoom
from judgekit.core.errors import BudgetExceeded, ConfigError, JudgePending
from judgekit.core.shared import SharedCall
from judgekit.judges.budget import LocalBudget, estimated_tokens
from judgekit.judges.endpoint import shown_address
from judgekit.judges.output_mode import Mode
from judgekit.judges.price import ModelPrice
from judgekit.judges.wire import LateResponse, LiveCall

if TYPE_CHECKING:
    from judgekit.core.request import Request

TIER = "batch"
_LONG_WRITE = 2.0
"""Price of a token that is written to the prompt cache for an hour, as a share of one that is read
by the model (Anthropic docs, build-with-claude/prompt-caching)."""


class BatchedJudge(NamedTuple):
    """A judge whose requests may be in jobs."""

    model: str
    api_base: str | None
    api_key_env: str | None
    provider: BatchProvider
    price: ModelPrice | None
    """The price of live requests."""
    sending: bool = False
    """Whether its requests that no job has go into new jobs."""

    @property
    def share(self) -> float:
        """The price of a request in a job, as a share of a live one."""
        return share_of(self.provider, self.api_base)


def provider_for(model: str, *, headers: bool, choice: BatchChoice) -> BatchProvider | None:
    """Return the provider of a model's jobs; `None` if it takes none.

    Args:
        model: the model string.
        headers: whether its requests have headers of the suite.
        choice: what the run does with jobs.

    Raises:
        ConfigError: its requests cannot be sent in jobs, and this run should do so.
    """
    provider = provider_of(model)
    if provider is None and choice.file is not None:
        provider = provider_of("openai/")
    if choice.sending and provider is None:
        raise ConfigError(f"{model}: --batch cannot send its requests; leave out --batch")
    if choice.sending and headers:
        raise ConfigError(f"{model}: --batch sends no `headers`; leave out one of them")
    return provider


def share_of(provider: BatchProvider, api_base: str | None) -> float:
    """Return the price of a request in a job, as a share of a live one; 1 at another address."""
    return provider.share if api_base is None else 1.0


class JobKind(NamedTuple):
    """What all requests of one job share."""

    judge: BatchedJudge
    mode: Mode
    api_base: str | None
    """The address before the path of a call, where the judge names a server."""
    endpoint: str
    headers: tuple[tuple[str, str], ...]

    @property
    def line(self) -> Callable[[str, str, bytes], bytes]:
        """Returns the line of a request in the file of a job."""
        return PROTOCOLS[self.judge.provider.protocol].line


class BatchFacts(NamedTuple):
    """What a run did with jobs, for `run.json` and the terminal."""

    jobs: tuple[Job, ...]
    """The jobs that are open after the run."""
    new: int
    """Requests in the jobs that this run wrote."""
    dollars: float | None
    """The estimated price of these requests; `None` if it is unknown."""
    collected: int
    """Replies that this run took from jobs."""
    problems: tuple[str, ...] = ()

    def described(self) -> dict[str, Any]:
        """Return the facts for `run.json`."""
        jobs = [
            {"job": job.name, "model": job.model, "requests": len(job.keys), "state": job.shown}
            for job in self.jobs
        ]
        known = {"jobs": jobs, "sent": self.new, "dollars": self.dollars}
        return {**known, "collected": self.collected}


class BatchDesk:
    """Answers requests with the replies of jobs, and collects requests for new jobs.

    Args:
        home: returns the private folder of the project.
        choice: what the run does with jobs.
        taking: whether the replies of jobs answer requests; false if recorded ones are renewed.
        again: keys of requests to ask live, although a job has replied.
        budget: receives the cost of jobs: while they are open, and of their replies.
        suite: the name of the suite in the journal: its budget holds what its own jobs cost.
        following: whether open jobs are looked at; false in the processes of a shared run.
        connect: returns the protocol for the server of a job.
    """

    def __init__(
        self,
        home: Callable[[], Path],
        *,
        choice: BatchChoice = BatchChoice(),  # noqa: B008 - an immutable value
        taking: bool = True,
        again: frozenset[str] = frozenset(),
        budget: LocalBudget | None = None,
        suite: str = "",
        following: bool = True,
        connect: Connect = connect,
    ) -> None:
        self._home = home
        self.sending, self._resend, self._file = choice
        self._taking, self._again = taking, again
        self._budget, self._suite = budget, suite
        self._following, self._connect = following, connect
        self._ready = SharedCall(self._open)
        self._looked = False
        self._size = 0
        """Size of the journal at the last look."""
        self._known: dict[str, Job] = {}
        """Intent -> job, of the jobs that were looked at."""
        self._others: set[str] = set()
        """Ids of the requests that other processes have sent since this run began."""
        self._opened: Journal | None = None
        self._held: dict[str, Job] = {}
        """Id of a request -> the open job that has it."""
        self._jobs: dict[str, list[Job]] = {}
        """Id of a request -> the ended jobs that had it, the newest first."""
        self._places: dict[str, dict[str, Place]] = {}
        """Intent -> the places of the replies of its job."""
        self._files: dict[JobKind, list[_NewFile]] = {}
        self._new: set[str] = set()
        """Ids of the requests in new jobs."""
        self._estimate: float | None = 0.0
        self._collected = 0
        self._problems: list[str] = []
        self._met: set[str] = set()
        """Intents of the open jobs that have a request of this run."""
        self._reserved: dict[str, float] = {}
        """Intent -> US dollars that are held for each reply of an ended job."""

    @property
    def journal(self) -> Journal:
        """The journal of the project."""
        if self._opened is None:
            self._opened = Journal(self._home())
        return self._opened

    def joined(
        self,
        *,
        model: str,
        api_base: str | None,
        api_key_env: str | None,
        headers: bool,
        price: ModelPrice | None,
        sending: bool = False,
    ) -> Callable[[Request], Any] | None:
        """Return what a judge asks first; `None` if its provider takes no jobs.

        Args:
            model: its model string.
            api_base: the address of its server.
            api_key_env: the environment variable with its key.
            headers: whether its requests have headers of the suite.
            price: its price.
            sending: whether its tier is `batch`, so that it sends jobs without `--batch`, too.

        Raises:
            ConfigError: its requests cannot be sent in jobs, and this run should do so.
        """
        sending = sending or self.sending
        provider = provider_for(
            model, headers=headers, choice=BatchChoice(sending, file=self._file)
        )
        if provider is None:
            return None
        judge = BatchedJudge(model, api_base, api_key_env, provider, price, sending)
        return partial(self.late_reply, judge)

    async def late_reply(self, judge: BatchedJudge, request: Request) -> _Late | None:
        """Return what answers a request; `None` for a live call.

        Raises:
            JudgePending: an open job has the request.
        """
        if not self._looked:
            await self._ready()
        self._meet_others()
        id = request.key[:ID]
        if (job := self._held.get(id)) is not None:
            self._met.add(job.intent)
            raise JudgePending(f"job {job.name} has not answered yet ({job.shown})")
        for job in self._replied(request):
            if (response := self._reply(job, id)) is not None:
                return _Late(self, judge, request, job=job, mode=job.mode, response=response)
        if not judge.sending:
            return None
        if id in self._new:
            raise JudgePending("its request is in a new batch job")
        mode: Mode | None = "json_schema" if self._file is not None else None
        return _Late(self, judge, request, mode=request.mode or mode)  # type: ignore[arg-type]

    def has(self, request: Request) -> bool:
        """Return whether a job has a request or its reply, so that no call is needed."""
        id = request.key[:ID]
        if id in self._held or id in self._new:
            return True
        return any(id in self._places_of(job) for job in self._replied(request))

    def _replied(self, request: Request) -> Iterator[Job]:
        """Yield the ended jobs that may answer a request, the newest first.

        A reply that is asked again answers nothing, but one that no run has taken yet does.
        """
        again = request.key in self._again
        for job in self._jobs.get(request.key[:ID], ()) if self._taking else ():
            if not (again and job.taken):
                yield job

    async def _open(self) -> None:
        """Look at the jobs once, before the first request."""
        import asyncio

        # In a thread, because it waits for servers.
        await asyncio.to_thread(self._look)
        self._looked = True

    def _look(self) -> None:
        jobs = self.journal.jobs()
        if self._following and any(job.open for job in jobs):
            try:
                with self.journal.locked():
                    courier = Courier(self.journal, connect=self._connect)
                    # Another process may have taken them further while this one waited.
                    before = self.journal.jobs()
                    jobs = [courier.advance(job, resend=self._resend) for job in before]
                    self._note(jobs, courier, before=before)
            except OSError as exc:
                raise self._full(exc) from exc
        self._size = self.journal.size
        for job in jobs:
            self._meet(job)

    def _meet(self, job: Job) -> None:
        self._known[job.intent] = job
        self._reserve(job)
        if job.open:
            self._held.update(dict.fromkeys(job.keys, job))
        elif job.state == "ended":
            for id in job.keys:
                self._jobs.setdefault(id, []).insert(0, job)

    def _meet_others(self) -> None:
        """Meet the jobs that other processes have written since the last look."""
        size = self.journal.size
        if size == self._size:
            return
        self._size = size
        for job in self.journal.jobs():
            if job.intent not in self._known:
                self._meet(job)
                if job.open:
                    self._others.update(job.keys)
                elif job.state == "ended":
                    self._others.update(id for id in job.keys if self._reply(job, id) is not None)

    def _reserve(self, job: Job) -> None:
        """Hold what a job of this suite may still cost: while it is open, and its replies."""
        if self._budget is None or not job.dollars:
            return
        if job.open and job.suite in (None, self._suite):
            self._budget.held += job.dollars
        elif job.state == "ended" and job.suite == self._suite and not job.taken and self._taking:
            each = self._reserved[job.intent] = job.dollars / len(job.keys)
            self._budget.held += each * (job.replies or 0)

    def _note(self, jobs: list[Job], courier: Courier, *, before: list[Job]) -> None:
        for job, earlier in zip(jobs, before, strict=True):
            ended = job.problem if earlier.open and not job.open else ""
            if problem := courier.problems.get(job.intent, ended):
                self._problems.append(f"job {job.name}: {problem}")

    def _places_of(self, job: Job) -> dict[str, Place]:
        if job.intent not in self._places:
            path = self.journal.replies(job.intent)
            try:
                places = reply_places(path, among=set(job.keys))
            except OSError as exc:
                raise self._lost(job, exc.strerror or "cannot be read") from exc
            if len(places) < (job.replies or 0) and not self._resend:
                count = f"{len(places):,} of {job.replies:,} replies are there"
                raise self._lost(job, count)
            self._places[job.intent] = places
        return self._places[job.intent]

    def _reply(self, job: Job, id: str) -> LateResponse | None:
        place = self._places_of(job).get(id)
        if place is None:
            return None
        response = reply_at(self.journal.replies(job.intent), place, id=id)
        if response is None:
            raise self._lost(job, "the file was changed")
        return response

    def _lost(self, job: Job, problem: str) -> ConfigError:
        """Return the error for replies that were paid for and are not on disk."""
        advice = "restore the file, or run with --resend, which asks and pays for them again"
        message = f"the replies of job {job.name}: {problem}; {advice}"
        return ConfigError(message, where=str(self.journal.replies(job.intent)))

    # -- new jobs ---------------------------------------------------------------------

    def collect(self, mode: Mode, judge: BatchedJudge, request: Request, call: LiveCall) -> None:
        """Add a request to a new job.

        Args:
            mode: its output mode.
            judge: its judge.
            request: the request.
            call: what a live call would send.

        Raises:
            BudgetExceeded: the jobs would cost more than the rest of the budget.
            ConfigError: no job can have the call.
        """
        kind = _kind(judge, mode, call)
        read, written = estimated_tokens(request)
        dollars = None
        if (price := judge.price) is not None:
            if b'"ttl"' in call.body:  # a mark of the prompt cache
                price = price._replace(cache_write=_LONG_WRITE * price.input)
            dollars = price.estimate(read, written) * judge.share
        if self._budget is not None:
            try:
                self._budget.hold(dollars or 0.0)
            except BudgetExceeded as exc:
                self._problems.append(f"not all requests were sent, because of max_cost: {exc}")
                raise
        known = self._estimate
        self._estimate = None if dollars is None or known is None else known + dollars
        id = request.key[:ID]
        # A line end in JSON is white space.
        line = kind.line(id, kind.endpoint, call.body.replace(b"\n", b" "))
        try:
            self._add(kind, id, line, dollars)
        except OSError as exc:
            raise self._full(exc) from exc
        self._new.add(id)

    def _full(self, error: OSError) -> ConfigError:
        place = str(self.journal.folder)
        return ConfigError(
            f"cannot be written: {error.strerror}; make room, or make it writable", where=place
        )

    def _add(self, kind: JobKind, id: str, line: bytes, dollars: float | None) -> None:
        files = self._files.setdefault(kind, [])
        if not files or not files[-1].room.takes(len(line)):
            files.append(_NewFile(self.journal, JobRoom(kind.judge.provider)))
            files[-1].room.takes(len(line))
        files[-1].add(id, line, dollars)

    def note_paid(self, job: Job | None, dollars: float | None) -> None:
        """Count a reply of a job, and what it cost instead of what was held for it."""
        self._collected += 1
        if self._budget is None:
            return
        each = 0.0 if job is None else self._reserved.get(job.intent, 0.0)
        self._budget.held = max(0.0, self._budget.held - each)
        self._budget.spent += each if dollars is None else dollars

    def finish(self, *, send: bool) -> BatchFacts | None:
        """Send the new jobs, and return what happened; `None` if no job has to do with this run.

        Args:
            send: whether the run was complete; otherwise the collected requests are dropped.
        """
        files = [(kind, file) for kind, several in self._files.items() for file in several]
        self._files = {}
        if not send:
            for _, file in files:
                file.drop()
            files = []
        if send and self._following:
            with suppress(OSError):  # a later run notes it
                self._note_taken()
        if not (files or self._met or self._collected or self._problems):
            return None
        try:
            jobs = self._sent(files) if files else []
        except OSError as exc:
            for _, file in files:
                file.drop(unless={job.intent for job in self.journal.jobs()})
            raise self._full(exc) from exc
        met = [self._known[intent] for intent in self._met]
        open_jobs = {job.intent: job for job in [*met, *jobs] if job.open}
        return BatchFacts(
            jobs=tuple(open_jobs.values()),
            new=sum(len(job.keys) for job in jobs),
            dollars=None if self._estimate is None else round(self._estimate, 6),
            collected=self._collected,
            problems=tuple(dict.fromkeys(self._problems)),
        )

    def _note_taken(self) -> None:
        """Note that a complete run had the replies of this suite's jobs, so it has paid them."""
        ended = [
            job
            for job in self._known.values()
            if job.state == "ended" and job.suite == self._suite and not job.taken
        ]
        if ended and self._taking:
            with self.journal.locked():
                for job in ended:
                    self.journal.change(job, taken=True)

    def _sent(self, files: list[tuple[JobKind, _NewFile]]) -> list[Job]:
        journal = self.journal
        with journal.locked():
            jobs = []
            self._meet_others()
            for kind, file in files:
                # Another process may have sent the same requests while this one collected them.
                if not file.keep(set(file.ids) - self._others):
                    continue
                judge = kind.judge
                job = Job(
                    intent=file.intent,
                    at=datetime.now(UTC).isoformat(timespec="seconds"),
                    provider=BY_HAND if self._file is not None else judge.provider.name,
                    model=judge.model,
                    api_base=kind.api_base,
                    api_key_env=judge.api_key_env,
                    mode=kind.mode,
                    endpoint=kind.endpoint,
                    headers=dict(kind.headers),
                    keys=tuple(file.ids),
                    sha256=file.close(),
                    dollars=None if file.dollars is None else round(file.dollars, 6),
                    suite=self._suite,
                    state="sent" if self._file is not None else "written",
                )
                jobs.append(journal.add(job))
            if self._file is not None:
                self._write(self._file, jobs)
                return jobs
            courier = Courier(journal, connect=self._connect)
            sent = [courier.advance(job) for job in jobs]
            self._note(sent, courier, before=jobs)
            return sent

    def _write(self, path: Path, jobs: list[Job]) -> None:
        from judgekit.core.output_file import whole_file

        with whole_file(path, sync=True) as file:
            for job in jobs:
                with self.journal.requests(job.intent).open("rb") as lines:
                    while piece := lines.read(1 << 20):
                        file.write(piece)


def _kind(judge: BatchedJudge, mode: Mode, call: LiveCall) -> JobKind:
    """Return which job may have a call.

    Raises:
        ConfigError: none.
    """
    provider = judge.provider
    base = (judge.api_base or provider.address or "").rstrip("/")
    endpoints = provider.endpoints.items()
    for path, endpoint in endpoints:
        root = call.url.removesuffix(path)
        # A library may call another server than the job, as variables of the environment say.
        if root != call.url and (root == base if judge.api_base is None else _below(root, base)):
            headers = [
                (name, call.headers[name]) for name in provider.headers if name in call.headers
            ]
            address = None if judge.api_base is None else root
            return JobKind(judge, mode, address, endpoint, tuple(headers))
    where = shown_address(call.url)
    known = ", ".join(provider.endpoints)
    message = f"its live calls go to {where}, but jobs of {provider.name} have calls to {base} only"
    raise ConfigError(f"{judge.model}: {message} ({known}); set api_base, or leave out --batch")


def _below(root: str, base: str) -> bool:
    return root == base or root.startswith(f"{base}/")


class _Late:
    """What answers one request; see `judgekit.judges.late_reply.LateReply`."""

    tier = TIER

    def __init__(
        self,
        desk: BatchDesk,
        judge: BatchedJudge,
        request: Request,
        *,
        mode: Mode | None,
        job: Job | None = None,
        response: LateResponse | None = None,
    ) -> None:
        self._desk, self._judge, self._request, self._response = desk, judge, request, response
        self._job = job
        self.mode, self.open, self.share = mode, True, judge.share

    def answer(self, call: LiveCall) -> LateResponse:
        self.open = False
        if self._response is not None:
            return self._response
        assert self.mode is not None  # noqa: S101 - the judge sets it before the call
        self._desk.collect(self.mode, self._judge, self._request, call)
        raise JudgePending("its request is in a new batch job")

    def paid(self, dollars: float | None) -> None:
        self._desk.note_paid(self._job, dollars)


class _NewFile:
    """The file with the requests of a new job, before the journal knows it."""

    def __init__(self, journal: Journal, room: JobRoom) -> None:
        self.intent, self.room = secrets.token_hex(8), room
        self.ids: list[str] = []
        self.dollars: float | None = 0.0
        with journal.locked():
            self._path = journal.requests(self.intent)
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
            self._file: BinaryIO = os.fdopen(os.open(self._path, flags, 0o600), "wb")
        self._sha256 = hashlib.sha256()

    def add(self, id: str, line: bytes, dollars: float | None) -> None:
        self._file.write(line)
        self._sha256.update(line)
        self.ids.append(id)
        known = self.dollars
        self.dollars = None if dollars is None or known is None else known + dollars

    def keep(self, ids: set[str]) -> bool:
        """Leave out all requests but these; drop the file, and return false, if none is left."""
        if len(ids) == len(self.ids):
            return True
        if not ids:
            self.drop()
            return False
        self._file.close()
        before, whole = self.ids, self._path.with_suffix(".whole")
        share = None if self.dollars is None else self.dollars / len(before)
        self._path.rename(whole)
        self.ids, self.dollars, self._sha256 = [], 0.0, hashlib.sha256()
        self._file = self._path.open("wb")
        with whole.open("rb") as lines:
            for id, line in zip(before, lines, strict=True):
                if id in ids:
                    self.add(id, line, share)
        whole.unlink()
        return True

    def close(self) -> str:
        """Flush the file to disk, and return its digest."""
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()
        return self._sha256.hexdigest()

    def drop(self, *, unless: Collection[str] = ()) -> None:
        """Delete the file, unless the journal has its job."""
        with suppress(OSError):  # a full disk refuses the rest of the buffer
            self._file.close()
        if self.intent not in unless:
            self._path.unlink(missing_ok=True)
