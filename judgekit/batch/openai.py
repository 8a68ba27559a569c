"""OpenAI's protocol of batch jobs, which others speak, too."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

from judgekit.batch.client import BatchClient
from judgekit.batch.job import Job
from judgekit.batch.protocol import TOKEN_LIMIT, JobProgress
from judgekit.core.canonical import visible
from judgekit.core.output_file import whole_file

ENDPOINT = "/v1/chat/completions"
_MARK = "judgekit"
"""The name of judgekit's mark in the metadata of a job."""
_ENDED = frozenset({"completed", "failed", "expired", "cancelled", "canceled"})
_PAGE = 100
_MOST_PAGES = 50
_MOST_ERRORS = 3
"""Number of errors of a refused file to show."""


class OpenAIBatches:
    """The jobs of one server with OpenAI's protocol."""

    def __init__(self, base: str, *, key: str) -> None:
        headers = {"Authorization": f"Bearer {key or 'none'}"}
        self._client = BatchClient(base, headers=headers, key=key)

    def upload(self, job: Job, file: Path) -> str | None:
        """Send the file of the requests."""
        name = f"jk-{job.intent}.jsonl"
        sent = self._client.upload("/files", file, name=name, fields={"purpose": "batch"})
        return _text(sent.get("id"))

    def create(self, job: Job, file: Path) -> JobProgress:
        """Submit a job."""
        body = {
            "input_file_id": job.file,
            "endpoint": ENDPOINT,
            "completion_window": "24h",
            "metadata": {_MARK: job.tag},
        }
        return _progress(self._client.call("POST", "/batches", body))

    def find(self, job: Job) -> list[JobProgress] | None:
        """Return the jobs of a submit whose answer was lost; `None` after too many pages."""
        jobs = []
        after = ""
        for _ in range(_MOST_PAGES):
            page = self._client.call("GET", f"/batches?limit={_PAGE}{after}")
            rows = page.get("data")
            rows = [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
            jobs += [_progress(row) for row in rows if _is_of(row, job)]
            if not rows or not page.get("has_more"):
                return jobs
            after = f"&after={quote(_text(rows[-1].get('id')), safe='')}"
        return None

    def look(self, job: Job) -> JobProgress:
        """Return the state of a job."""
        return _progress(self._client.call("GET", f"/batches/{quote(job.job or '', safe='')}"))

    def fetch(self, progress: JobProgress, to: Path) -> None:
        """Write the replies of a job to a file."""
        with whole_file(to, mode=0o600, sync=True) as file:
            for output in progress.outputs:
                self._client.download(f"/files/{quote(output, safe='')}/content", file)
                file.write(b"\n")  # a file may lack its last line end

    def cancel(self, job: Job) -> JobProgress:
        """Cancel a job."""
        path = f"/batches/{quote(job.job or '', safe='')}/cancel"
        return _progress(self._client.call("POST", path, {}))


def _is_of(row: dict[str, Any], job: Job) -> bool:
    metadata = row.get("metadata")
    if isinstance(metadata, dict) and _MARK in metadata:
        return bool(metadata[_MARK] == job.tag)
    # Some servers drop the metadata. A file is sent for one job alone.
    return job.attempt == 1 and job.file is not None and row.get("input_file_id") == job.file


def _progress(row: dict[str, Any]) -> JobProgress:
    status = _text(row.get("status")).lower()  # Together answers in upper case
    files = (row.get("output_file_id"), row.get("error_file_id"))
    errors = list(_errors(row.get("errors")))
    return JobProgress(
        id=_text(row.get("id")),
        status=status,
        ended=status in _ENDED,
        outputs=tuple(file for file in files if isinstance(file, str) and file),
        problem="; ".join(text for _, text in errors[:_MOST_ERRORS]),
        waits=status == "failed" and any(code == TOKEN_LIMIT for code, _ in errors),
    )


def _errors(errors: object) -> Iterator[tuple[str, str]]:
    """Yield the codes of the errors of a refused file, and their texts with the lines."""
    rows = errors.get("data") if isinstance(errors, dict) else None
    for row in rows if isinstance(rows, list) else ():
        if isinstance(row, dict):
            code, line = _text(row.get("code")), row.get("line")
            text = _text(row.get("message")) or code
            place = f"line {line}: " if type(line) is int else ""
            yield code, place + text


def _text(value: object) -> str:
    return " ".join(visible(value).split())[:500] if isinstance(value, str) else ""
