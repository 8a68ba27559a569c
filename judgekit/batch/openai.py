"""OpenAI's protocol of batch jobs, which others speak, too."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import quote

from judgekit.batch.files import FileBatches, is_late, outputs_of
from judgekit.batch.job import Job
from judgekit.batch.protocol import MOST_ERRORS, PAGE, TOKEN_LIMIT, JobProgress, text_of

_ENDED = frozenset({"completed", "failed", "expired", "cancelled", "canceled"})


class OpenAIBatches(FileBatches):
    """The jobs of one server with OpenAI's protocol."""

    PATH = "/batches"

    @staticmethod
    def line(id: str, endpoint: str, body: bytes) -> bytes:
        """Return the line of a request in the file of a job."""
        form = b'{"custom_id":"%b","method":"POST","url":"%b","body":%b}\n'
        return form % (id.encode(), endpoint.encode(), body)

    def described(self, job: Job) -> dict[str, Any]:
        """Return the body of a submit without the metadata."""
        return {
            "input_file_id": job.file,
            "endpoint": job.endpoint,
            "completion_window": "24h",
        }

    def query(self, number: int, before: Sequence[dict[str, Any]]) -> str:
        """Return the query of a page of the list."""
        after = f"&after={quote(text_of(before[-1].get('id')), safe='')}" if before else ""
        return f"limit={PAGE}{after}"

    def files(self, row: dict[str, Any]) -> list[str] | None:
        """Return the ids of the files that a job was made from."""
        file = row.get("input_file_id")
        return [file] if isinstance(file, str) else None

    def progress(self, row: dict[str, Any]) -> JobProgress:
        """Return what a response says about a job."""
        status = text_of(row.get("status")).lower()  # Together answers in upper case
        outputs = outputs_of(row.get("output_file_id"), row.get("error_file_id"))
        replies, ended = _answered(row.get("request_counts")), status in _ENDED
        late = is_late(ended=ended, outputs=outputs, replies=replies, done=status == "completed")
        errors = list(_errors(row.get("errors")))
        return JobProgress(
            id=text_of(row.get("id")),
            status=status,
            ended=ended and not late,
            late=late,
            replies=replies,
            outputs=outputs,
            problem="; ".join(text for _, text in errors[:MOST_ERRORS]),
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
