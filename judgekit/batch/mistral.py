"""Mistral's protocol of batch jobs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

from judgekit.batch.client import RefusedError
from judgekit.batch.files import FileBatches
from judgekit.batch.job import Job
from judgekit.batch.protocol import (
    MARK,
    MOST_PAGES,
    PAGE,
    JobProgress,
    by_id,
    is_before,
    is_last,
    rows_of,
    text_of,
)

_ENDED = frozenset({"SUCCESS", "FAILED", "TIMEOUT_EXCEEDED", "CANCELLED"})
_HOURS = 24
_MOST_ERRORS = 3


class MistralBatches(FileBatches):
    """The jobs of one server with Mistral's protocol."""

    @staticmethod
    def line(id: str, endpoint: str, body: bytes) -> bytes:
        """Return the line of a request in the file of a job."""
        return b'{"custom_id":"%b","body":%b}\n' % (id.encode(), body)

    def create(self, job: Job, file: Path) -> JobProgress:
        """Submit a job."""
        body = {
            "input_files": [job.file],
            "model": job.model.partition("/")[2],
            "endpoint": job.endpoint,
            "timeout_hours": _HOURS,
            "metadata": {MARK: job.tag},
        }
        return _progress(self._client.call("POST", "/batch/jobs", body))

    def find(self, job: Job, *, others: frozenset[str]) -> list[JobProgress] | None:
        """Return the jobs of a submit whose answer was lost; `None` after too many pages."""
        jobs: dict[str, JobProgress] = {}
        seen = set[str]()
        for number in range(MOST_PAGES):
            path = f"/batch/jobs?page={number}&page_size={PAGE}&order_by=-created"
            page = self._client.call("GET", path)
            rows = rows_of(page)
            jobs |= by_id(_progress(row) for row in rows if _is_of(row, job, others))
            if is_last(page, seen) or is_before(rows[-1].get("created_at"), job):
                return [*jobs.values()]
        return None

    def look(self, job: Job) -> JobProgress:
        """Return the state of a job."""
        return _progress(self._client.call("GET", f"/batch/jobs/{quote(job.job or '', safe='')}"))

    def cancel(self, job: Job) -> JobProgress:
        """Cancel a job."""
        path = f"/batch/jobs/{quote(job.job or '', safe='')}/cancel"
        return _progress(self._client.call("POST", path, {}))


def _is_of(row: dict[str, Any], job: Job, others: frozenset[str]) -> bool:
    """Return whether a listed job may be that of a submit.

    Raises:
        RefusedError: the list does not show it.
    """
    if text_of(row.get("id")) in others:
        return False
    metadata, files = row.get("metadata"), row.get("input_files")
    if isinstance(metadata, dict) and MARK in metadata:
        return bool(metadata[MARK] == job.tag)
    if not isinstance(files, list):
        raise RefusedError("the server lists jobs without metadata and files", status=200)
    failed = text_of(row.get("status")).upper() == "FAILED"
    return job.file in files and (job.attempt == 1 or not failed)


def _progress(row: dict[str, Any]) -> JobProgress:
    status = text_of(row.get("status")).upper()
    files = (row.get("output_file"), row.get("error_file"))
    outputs = tuple(file for file in files if isinstance(file, str) and file)
    answered = row.get("succeeded_requests")
    answered = answered if type(answered) is int else None
    late = status in _ENDED and not outputs and bool(answered or status == "SUCCESS")
    return JobProgress(
        id=text_of(row.get("id")),
        status=status.lower(),
        ended=status in _ENDED and not late,
        late=late,
        replies=answered,
        outputs=outputs,
        problem="; ".join(list(_errors(row.get("errors")))[:_MOST_ERRORS]),
    )


def _errors(errors: object) -> Iterator[str]:
    for row in errors if isinstance(errors, list) else ():
        if isinstance(row, dict) and (text := text_of(row.get("message"))):
            count = row.get("count")
            yield f"{text} ({count} requests)" if type(count) is int and count > 1 else text
