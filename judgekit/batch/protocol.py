"""The interface of the protocols of batch jobs, and what a provider says about a job."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple, Protocol

from judgekit.batch.job import Job

TOKEN_LIMIT = "token_limit_exceeded"  # noqa: S105 - a code of an error
"""The code of a refusal that ends when other jobs end."""


class JobProgress(NamedTuple):
    """What a provider says about a job."""

    id: str
    status: str
    ended: bool = False
    outputs: tuple[str, ...] = ()
    """The files, or addresses, with the replies so far."""
    problem: str = ""
    """Why the provider did not take the job."""
    waits: bool = False
    """Whether it takes the job when other jobs have ended."""


class BatchProtocol(Protocol):
    """Sends jobs to one server. Every method raises `NoAnswerError` and `RefusedError`."""

    def upload(self, job: Job, file: Path) -> str | None:
        """Send the file of the requests; return its id, or `None` if a submit has the requests."""

    def create(self, job: Job, file: Path) -> JobProgress:
        """Submit a job."""

    def find(self, job: Job) -> list[JobProgress] | None:
        """Return the jobs of a submit whose answer was lost; `None` if they cannot be known."""

    def look(self, job: Job) -> JobProgress:
        """Return the state of a job."""

    def fetch(self, progress: JobProgress, to: Path) -> None:
        """Write the replies of a job to a file, a line for each; an existing file is replaced."""

    def cancel(self, job: Job) -> JobProgress:
        """Cancel a job; the provider may take minutes, and may keep some replies."""
