"""OpenAI's protocol of batch jobs, which others speak, too."""

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
    TOKEN_LIMIT,
    JobProgress,
    by_id,
    is_before,
    is_last,
    rows_of,
    text_of,
)

_ENDED = frozenset({"completed", "failed", "expired", "cancelled", "canceled"})
_MOST_ERRORS = 3
"""Number of errors of a refused file to show."""


class OpenAIBatches(FileBatches):
    """The jobs of one server with OpenAI's protocol."""

    @staticmethod
    def line(id: str, endpoint: str, body: bytes) -> bytes:
        """Return the line of a request in the file of a job."""
        form = b'{"custom_id":"%b","method":"POST","url":"%b","body":%b}\n'
        return form % (id.encode(), endpoint.encode(), body)

    def create(self, job: Job, file: Path) -> JobProgress:
        """Submit a job."""
        body = {
            "input_file_id": job.file,
            "endpoint": job.endpoint,
            "completion_window": "24h",
            "metadata": {MARK: job.tag},
        }
        return _progress(self._client.call("POST", "/batches", body))

    def find(self, job: Job, *, others: frozenset[str]) -> list[JobProgress] | None:
        """Return the jobs of a submit whose answer was lost; `None` after too many pages."""
        jobs: dict[str, JobProgress] = {}
        after, seen = "", set[str]()
        for _ in range(MOST_PAGES):
            page = self._client.call("GET", f"/batches?limit={PAGE}{after}")
            rows = rows_of(page)
            jobs |= by_id(_progress(row) for row in rows if _is_of(row, job, others))
            # The newest are listed first.
            if is_last(page, seen) or is_before(rows[-1].get("created_at"), job):
                return [*jobs.values()]
            after = f"&after={quote(text_of(rows[-1].get('id')), safe='')}"
        return None

    def look(self, job: Job) -> JobProgress:
        """Return the state of a job."""
        return _progress(self._client.call("GET", f"/batches/{quote(job.job or '', safe='')}"))

    def cancel(self, job: Job) -> JobProgress:
        """Cancel a job."""
        path = f"/batches/{quote(job.job or '', safe='')}/cancel"
        return _progress(self._client.call("POST", path, {}))


def _is_of(row: dict[str, Any], job: Job, others: frozenset[str]) -> bool:
    """Return whether a listed job may be that of a submit.

    Raises:
        RefusedError: the list does not show it.
    """
    if text_of(row.get("id")) in others:
        return False
    metadata, file = row.get("metadata"), row.get("input_file_id")
    if isinstance(metadata, dict) and MARK in metadata:
        return bool(metadata[MARK] == job.tag)
    # Some servers drop the metadata. A file is sent for one job alone, but its earlier submits may
    # have failed.
    if not isinstance(file, str):
        raise RefusedError("the server lists jobs without metadata and files", status=200)
    return file == job.file and (job.attempt == 1 or text_of(row.get("status")) != "failed")


def _progress(row: dict[str, Any]) -> JobProgress:
    status = text_of(row.get("status")).lower()  # Together answers in upper case
    files = (row.get("output_file_id"), row.get("error_file_id"))
    outputs = tuple(file for file in files if isinstance(file, str) and file)
    errors = list(_errors(row.get("errors")))
    answered = _answered(row.get("request_counts"))
    # A completed job has a file of replies or one of errors.
    late = status in _ENDED and not outputs and bool(answered or status == "completed")
    return JobProgress(
        id=text_of(row.get("id")),
        status=status,
        ended=status in _ENDED and not late,
        late=late,
        replies=answered,
        outputs=outputs,
        problem="; ".join(text for _, text in errors[:_MOST_ERRORS]),
        codes=tuple(code for code, _ in errors),
        waits=status == "failed" and any(code == TOKEN_LIMIT for code, _ in errors),
    )


def _answered(counts: object) -> int | None:
    """Return how many replies a job counts, whose file may not be there yet."""
    completed = counts.get("completed") if isinstance(counts, dict) else None
    return completed if type(completed) is int else None


def _errors(errors: object) -> Iterator[tuple[str, str]]:
    """Yield the codes of the errors of a refused file, and their texts with the lines."""
    rows = errors.get("data") if isinstance(errors, dict) else None
    for row in rows if isinstance(rows, list) else ():
        if isinstance(row, dict):
            code, line = text_of(row.get("code")), row.get("line")
            text = text_of(row.get("message")) or code
            place = f"line {line}: " if type(line) is int else ""
            yield code, place + text
