"""The interface of the protocols of batch jobs, and what a provider says about a job."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple, Protocol

from judgekit.batch.client import RefusedError
from judgekit.batch.job import Job
from judgekit.core.canonical import visible

MARK = "judgekit"
"""The name of judgekit's mark in the metadata of a job."""
PAGE = 100
"""Jobs of a page of a list."""
MOST_PAGES = 50
MOST_ERRORS = 3
"""Number of errors of a refused job to show."""
_MARGIN = 86_400.0
"""Seconds by which the clocks of a provider and of this machine may differ."""
TOKEN_LIMIT = "token_limit_exceeded"  # noqa: S105 - a code of an error
"""The code of a refusal that ends when other jobs end."""


class JobProgress(NamedTuple):
    """What a provider says about a job."""

    id: str
    status: str
    ended: bool = False
    outputs: tuple[str, ...] = ()
    """The provider's ids of the files with the replies so far."""
    problem: str = ""
    """Why the provider did not take the job."""
    codes: tuple[str, ...] = ()
    """The codes of its errors."""
    replies: int | None = None
    """How many requests it counts as answered; `None` if it does not say."""
    late: bool = False
    """Whether it has ended, and the files with its replies are not there yet."""
    waits: bool = False
    """Whether it takes the job when other jobs have ended."""


class BatchProtocol(Protocol):
    """Sends jobs to one server. Every method raises `NoAnswerError` and `RefusedError`."""

    def __init__(self, base: str, *, key: str, headers: Mapping[str, str]) -> None:
        """Keep the address of the server, its key, and the headers of the requests of a job."""

    @staticmethod
    def line(id: str, endpoint: str, body: bytes) -> bytes:
        """Return the line of a request in the file of a job."""

    def upload(self, job: Job, file: Path) -> str | None:
        """Send the file of the requests; return its id, or `None` if a submit has the requests."""

    def create(self, job: Job, file: Path) -> JobProgress:
        """Submit a job."""

    def find(self, job: Job, *, others: frozenset[str]) -> list[JobProgress] | None:
        """Return the jobs of a submit whose answer was lost; `None` if they cannot be known.

        Args:
            job: the job.
            others: the provider's ids of other jobs.
        """

    def look(self, job: Job) -> JobProgress:
        """Return the state of a job."""

    def fetch(self, progress: JobProgress, to: Path) -> None:
        """Write the replies of a job to a file, a line for each; an existing file is replaced."""

    def cancel(self, job: Job) -> JobProgress:
        """Cancel a job; the provider may take minutes, and may keep some replies."""


def text_of(value: object) -> str:
    """Return a text of a provider in one line; empty for any other value."""
    return " ".join(visible(value).split())[:500] if isinstance(value, str) else ""


def rows_of(page: dict[str, object]) -> list[dict[str, object]]:
    """Return the rows of a page of a list.

    Raises:
        RefusedError: it is no list; that a job is not in it would say nothing.
    """
    rows = page.get("data")
    if not isinstance(rows, list):
        raise RefusedError("the server lists no jobs", status=200)
    return [row for row in rows if isinstance(row, dict)]


def by_id(jobs: Iterable[JobProgress]) -> dict[str, JobProgress]:
    """Return jobs by their ids: a list may show a job on two pages."""
    return {job.id: job for job in jobs}


def is_last(page: dict[str, object], seen: set[str]) -> bool:
    """Return whether no page of a list follows: the server says so, or the page has no new job.

    The size of a page says nothing: a server may return fewer jobs than it was asked for.

    Args:
        page: the page.
        seen: the ids of the jobs on earlier pages; those of this page are added.

    Raises:
        RefusedError: the server announces more jobs and shows no new one, so some may be missing.
    """
    new = {text_of(row.get("id")) for row in rows_of(page)} - seen
    seen |= new
    more = page.get("has_more")
    if more is True and not new:
        raise RefusedError("the list of the server has no end", status=200)
    return more is False or not new


def is_before(created: object, job: Job) -> bool:
    """Return whether a time in seconds since 1970 is before a submit for certain."""
    return isinstance(created, int | float) and created < (job.sent_at or 0.0) - _MARGIN
