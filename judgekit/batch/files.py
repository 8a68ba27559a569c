"""The part of protocols that keep requests and replies in files of the provider."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote

from judgekit.batch.client import BatchClient
from judgekit.batch.job import Job
from judgekit.batch.protocol import JobProgress, text_of
from judgekit.core.output_file import whole_file


class FileBatches:
    """Sends the requests, and gets the replies, as files of a server."""

    def __init__(self, base: str, *, key: str, headers: Mapping[str, str]) -> None:
        own = {"Authorization": f"Bearer {key or 'none'}"}
        self._client = BatchClient(base, headers={**headers, **own}, key=key)

    def upload(self, job: Job, file: Path) -> str | None:
        """Send the file of the requests."""
        name = f"jk-{job.intent}.jsonl"
        sent = self._client.upload("/files", file, name=name, fields={"purpose": "batch"})
        return text_of(sent.get("id"))

    def fetch(self, progress: JobProgress, to: Path) -> None:
        """Write the replies of a job to a file."""
        with whole_file(to, mode=0o600, sync=True) as file:
            for output in progress.outputs:
                self._client.download(f"/files/{quote(output, safe='')}/content", file)
                file.write(b"\n")  # a file may lack its last line end
