"""The part of protocols that keep requests and replies in files of the provider."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import quote

from judgekit.batch.client import BatchClient, RefusedError
from judgekit.batch.job import Job
from judgekit.batch.protocol import (
    MARK,
    MOST_PAGES,
    JobProgress,
    by_id,
    is_before,
    is_last,
    rows_of,
    text_of,
)
from judgekit.core.output_file import whole_file


class FileBatches(ABC):
    """Sends the requests, and gets the replies, as files of a server."""

    PATH: ClassVar[str]
    """Path of the jobs after the address of the server."""

    def __init__(self, base: str, *, key: str, headers: Mapping[str, str]) -> None:
        own = {"Authorization": f"Bearer {key or 'none'}"}
        self._client = BatchClient(base, headers={**headers, **own}, key=key)

    def upload(self, job: Job, file: Path) -> str | None:
        """Send the file of the requests."""
        name = f"jk-{job.intent}.jsonl"
        sent = self._client.upload("/files", file, name=name, fields={"purpose": "batch"})
        return text_of(sent.get("id"))

    def create(self, job: Job, file: Path) -> JobProgress:
        """Submit a job."""
        body = {**self.described(job), "metadata": {MARK: job.tag}}
        return self.progress(self._client.call("POST", self.PATH, body))

    def find(self, job: Job, *, others: frozenset[str]) -> list[JobProgress] | None:
        """Return the jobs of a submit whose answer was lost; `None` after too many pages."""
        jobs: dict[str, JobProgress] = {}
        rows: Sequence[dict[str, Any]] = ()
        seen = set[str]()
        for number in range(MOST_PAGES):
            page = self._client.call("GET", f"{self.PATH}?{self.query(number, rows)}")
            rows = rows_of(page)
            jobs |= by_id(self.progress(row) for row in rows if self._is_of(row, job, others))
            # The newest are listed first.
            if is_last(page, seen) or is_before(rows[-1].get("created_at"), job):
                return [*jobs.values()]
        return None

    def look(self, job: Job) -> JobProgress:
        """Return the state of a job."""
        return self.progress(self._client.call("GET", self._path(job)))

    def fetch(self, progress: JobProgress, to: Path) -> None:
        """Write the replies of a job to a file."""
        with whole_file(to, mode=0o600, sync=True) as file:
            for output in progress.outputs:
                self._client.download(f"/files/{quote(output, safe='')}/content", file)
                file.write(b"\n")  # a file may lack its last line end

    def cancel(self, job: Job) -> JobProgress:
        """Cancel a job."""
        return self.progress(self._client.call("POST", f"{self._path(job)}/cancel", {}))

    @abstractmethod
    def described(self, job: Job) -> dict[str, Any]:
        """Return the body of a submit without the metadata."""

    @abstractmethod
    def query(self, number: int, before: Sequence[dict[str, Any]]) -> str:
        """Return the query of a page of the list.

        Args:
            number: number of the page, from 0.
            before: the jobs on the page before it.
        """

    @abstractmethod
    def progress(self, row: dict[str, Any]) -> JobProgress:
        """Return what a response says about a job."""

    @abstractmethod
    def files(self, row: dict[str, Any]) -> list[str] | None:
        """Return the ids of the files that a job was made from; `None` if it does not show them."""

    def _path(self, job: Job) -> str:
        return f"{self.PATH}/{quote(job.job or '', safe='')}"

    def _is_of(self, row: dict[str, Any], job: Job, others: frozenset[str]) -> bool:
        """Return whether a listed job may be that of a submit.

        Raises:
            RefusedError: the list does not show it.
        """
        if text_of(row.get("id")) in others:
            return False
        metadata, files = row.get("metadata"), self.files(row)
        if isinstance(metadata, dict) and MARK in metadata:
            return bool(metadata[MARK] == job.tag)
        # Some servers drop the metadata. A file is sent for one job alone, but its earlier submits
        # may have failed.
        if files is None:
            raise RefusedError("the server lists jobs without metadata and files", status=200)
        failed = text_of(row.get("status")).lower() == "failed"
        return job.file in files and (job.attempt == 1 or not failed)


def outputs_of(*files: object) -> tuple[str, ...]:
    """Return the ids among the values of the keys for files of replies; a key may be null."""
    return tuple(file for file in files if isinstance(file, str) and file)


def is_late(*, ended: bool, outputs: tuple[str, ...], replies: int | None, done: bool) -> bool:
    """Return whether the files with the replies of an ended job are not there yet.

    Args:
        ended: whether the provider says that the job has ended.
        outputs: ids of its files.
        replies: how many replies it counts.
        done: whether it ended as planned, so that it has a file of replies or one of errors.
    """
    return ended and not outputs and bool(replies or done)
