"""Anthropic's protocol of batch jobs: no files, no metadata, and ids only at the end."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

from judgekit.batch.client import GONE, BatchClient, RefusedError
from judgekit.batch.job import Job
from judgekit.batch.protocol import (
    MOST_PAGES,
    PAGE,
    JobProgress,
    by_id,
    is_before,
    is_last,
    rows_of,
    text_of,
)
from judgekit.batch.replies import line_id
from judgekit.core.output_file import whole_file

_PATH = "/v1/messages/batches"
_VERSION = "2023-06-01"


class AnthropicBatches:
    """The jobs of one server with Anthropic's protocol."""

    def __init__(self, base: str, *, key: str, headers: Mapping[str, str]) -> None:
        own = {"x-api-key": key or "none", "anthropic-version": _VERSION}
        self._client = BatchClient(base, headers={**headers, **own}, key=key)

    @staticmethod
    def line(id: str, endpoint: str, body: bytes) -> bytes:
        """Return the line of a request in the file of a job."""
        return b'{"custom_id":"%b","params":%b}\n' % (id.encode(), body)

    def upload(self, job: Job, file: Path) -> str | None:
        """Do nothing: a submit has the requests."""
        return None

    def create(self, job: Job, file: Path) -> JobProgress:
        """Submit a job."""
        return _progress(self._client.post_lines(_PATH, file, head=b'{"requests":[', tail=b"]}"))

    def find(self, job: Job, *, others: frozenset[str]) -> list[JobProgress] | None:
        """Return the jobs of a submit whose answer was lost.

        A job shows the ids of its requests when it has ended. `None` while an open one may be it.
        """
        jobs: dict[str, JobProgress] = {}
        after, seen = "", set[str]()
        for _ in range(MOST_PAGES):
            page = self._client.call("GET", f"{_PATH}?limit={PAGE}{after}")
            rows = rows_of(page)
            jobs |= by_id(_progress(row) for row in rows if _may_be(row, job, others))
            created = _seconds(rows[-1].get("created_at")) if rows else None
            if is_last(page, seen) or is_before(created, job):
                break
            after = f"&after_id={quote(text_of(rows[-1].get('id')), safe='')}"
        else:
            return None
        ids = [(one, self._ids(one)) for one in jobs.values()]
        same = [one for one, known in ids if known is not None and known >= set(job.keys)]
        return same if same or all(known is not None for _, known in ids) else None

    def _ids(self, progress: JobProgress) -> set[str] | None:
        """Return the ids of the requests of a job; `None` if it is open, or was deleted."""
        if not progress.ended:
            return None
        try:
            lines = self._client.lines(_results(progress))
            return {id for line in lines if (id := line_id(line))}
        except RefusedError as exc:
            if exc.status not in GONE:
                raise
            return None

    def look(self, job: Job) -> JobProgress:
        """Return the state of a job."""
        return _progress(self._client.call("GET", f"{_PATH}/{quote(job.job or '', safe='')}"))

    def fetch(self, progress: JobProgress, to: Path) -> None:
        """Write the replies of a job to a file."""
        with whole_file(to, mode=0o600, sync=True) as file:
            self._client.download(_results(progress), file)

    def cancel(self, job: Job) -> JobProgress:
        """Cancel a job."""
        path = f"{_PATH}/{quote(job.job or '', safe='')}/cancel"
        return _progress(self._client.call("POST", path))


def _results(progress: JobProgress) -> str:
    """Return the path of the results.

    A job names it in `results_url`, too; an address of a response is never called with the key.
    """
    return f"{_PATH}/{quote(progress.id, safe='')}/results"


def _progress(row: dict[str, Any]) -> JobProgress:
    status = text_of(row.get("processing_status")).lower()
    counts = row.get("request_counts")
    count = counts.get("succeeded") if isinstance(counts, dict) else None
    return JobProgress(
        id=text_of(row.get("id")),
        status=status,
        ended=status == "ended",
        replies=count if type(count) is int else None,
    )


def _may_be(row: dict[str, Any], job: Job, others: frozenset[str]) -> bool:
    """Return whether a listed job may be that of a submit, by its time and its size."""
    created = _seconds(row.get("created_at"))
    if text_of(row.get("id")) in others:
        return False
    if is_before(created, job):
        return False
    counts = row.get("request_counts")
    numbers = counts.values() if isinstance(counts, dict) else ()
    size = sum(number for number in numbers if type(number) is int)
    return size in (0, len(job.keys))


def _seconds(value: object) -> float | None:
    try:
        return datetime.fromisoformat(value).timestamp() if isinstance(value, str) else None
    except (ValueError, OverflowError, OSError):
        return None
