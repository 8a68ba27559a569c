"""Mistral's protocol of batch jobs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from judgekit.batch.files import FileBatches, is_late, outputs_of
from judgekit.batch.job import Job
from judgekit.batch.protocol import MOST_ERRORS, PAGE, JobProgress, text_of

_ENDED = frozenset({"SUCCESS", "FAILED", "TIMEOUT_EXCEEDED", "CANCELLED"})
_HOURS = 24


class MistralBatches(FileBatches):
    """The jobs of one server with Mistral's protocol."""

    PATH = "/batch/jobs"

    @staticmethod
    def line(id: str, endpoint: str, body: bytes) -> bytes:
        """Return the line of a request in the file of a job."""
        return b'{"custom_id":"%b","body":%b}\n' % (id.encode(), body)

    def described(self, job: Job) -> dict[str, Any]:
        """Return the body of a submit without the metadata."""
        return {
            "input_files": [job.file],
            "model": job.model.partition("/")[2],
            "endpoint": job.endpoint,
            "timeout_hours": _HOURS,
        }

    def query(self, number: int, before: Sequence[dict[str, Any]]) -> str:
        """Return the query of a page of the list."""
        return f"page={number}&page_size={PAGE}&order_by=-created"

    def files(self, row: dict[str, Any]) -> list[str] | None:
        """Return the ids of the files that a job was made from."""
        files = row.get("input_files")
        return files if isinstance(files, list) else None

    def progress(self, row: dict[str, Any]) -> JobProgress:
        """Return what a response says about a job."""
        status = text_of(row.get("status")).upper()
        outputs = outputs_of(row.get("output_file"), row.get("error_file"))
        replies, ended = row.get("succeeded_requests"), status in _ENDED
        replies = replies if type(replies) is int else None
        late = is_late(ended=ended, outputs=outputs, replies=replies, done=status == "SUCCESS")
        return JobProgress(
            id=text_of(row.get("id")),
            status=status.lower(),
            ended=ended and not late,
            late=late,
            replies=replies,
            outputs=outputs,
            problem="; ".join(list(_errors(row.get("errors")))[:MOST_ERRORS]),
        )


def _errors(errors: object) -> Iterator[str]:
    for row in errors if isinstance(errors, list) else ():
        if isinstance(row, dict) and (text := text_of(row.get("message"))):
            count = row.get("count")
            yield f"{text} ({count} requests)" if type(count) is int and count > 1 else text
