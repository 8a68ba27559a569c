"""The journal: the file with the state of all batch jobs of a project."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from judgekit.batch.job import Job
from judgekit.core.errors import ConfigError
from judgekit.core.output_file import open_in_place

NAME = "batches.jsonl"
FOLDER = "batches"
MAX_LINE = 16_000_000
"""Maximum size of a line in bytes; the keys of 200,000 requests take 9 MB."""


class Journal:
    """The jobs of a project, in `batches.jsonl` of its private folder.

    Each line has the fields of one job that changed, and is on disk before the next step is taken.

    Args:
        home: the private folder.
    """

    def __init__(self, home: Path) -> None:
        self.home = home
        self.path = home / NAME
        self.folder = home / FOLDER
        """The files with requests and replies."""

    def requests(self, intent: str) -> Path:
        """Return the file with the requests of a job."""
        return self.folder / f"{intent}.jsonl"

    def replies(self, intent: str) -> Path:
        """Return the file with the replies of a job."""
        return self.folder / f"{intent}.out.jsonl"

    @property
    def size(self) -> int:
        """Its size in bytes, which grows with every change; 0 if there is none."""
        try:
            return self.path.stat().st_size
        except OSError:
            return 0

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other processes from sending and collecting jobs; the system ends it at a kill."""
        self._prepare()
        try:
            import fcntl
        except ImportError:  # Windows
            yield
            return
        handle = os.open(self.folder, os.O_RDONLY)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)

    def _prepare(self) -> None:
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.home.chmod(0o700)
        ignore = self.home / ".gitignore"
        if not ignore.exists() and not ignore.is_symlink():
            ignore.write_text("*\n", encoding="utf-8")  # requests are never committed

    def jobs(self) -> list[Job]:
        """Return all jobs, the oldest first.

        Raises:
            ConfigError: a line is wrong; with `file:line`.
        """
        fields: dict[str, dict[str, Any]] = {}
        for number, line in enumerate(self._lines(), 1):
            where = f"{self.path}:{number}"
            try:
                change = json.loads(line)
                fields.setdefault(change["intent"], {}).update(change)
            except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as exc:
                message = "not a line that judgekit wrote; delete it"
                raise ConfigError(message, where=where) from exc
        try:
            return [Job.model_validate(one) for one in fields.values()]
        except ValidationError as exc:
            place = ".".join(map(str, exc.errors()[0]["loc"]))
            message = f"a job with a wrong {place}; delete its lines"
            raise ConfigError(message, where=str(self.path)) from exc

    def _lines(self) -> Iterator[bytes]:
        if self.path.is_symlink() or (self.path.exists() and not self.path.is_file()):
            # Without its jobs, their requests would be asked and paid for again.
            raise ConfigError(
                "is not a plain file; put the file itself there", where=str(self.path)
            )
        if not self.path.exists():
            return
        with self.path.open("rb") as file:
            while line := file.readline(MAX_LINE + 1):
                if not line.endswith(b"\n"):
                    if len(line) > MAX_LINE:
                        raise ConfigError(
                            f"a line of more than {MAX_LINE:,} bytes; delete it",
                            where=str(self.path),
                        )
                    return  # a write that was cut off: its step was not taken
                yield line

    def add(self, job: Job) -> Job:
        """Add a job, and return it when it is on disk."""
        self._append(job.model_dump(mode="json", exclude_defaults=True))
        return job

    def change(self, job: Job, /, **changes: Any) -> Job:
        """Note changed fields of a job; return the job with them when they are on disk."""
        self._append({"intent": job.intent, **changes})
        return job.model_copy(update=changes)

    def _append(self, fields: dict[str, Any]) -> None:
        line = json.dumps(fields, separators=(",", ":")).encode() + b"\n"
        handle = open_in_place(self.path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            os.ftruncate(handle, self._whole(handle))
            os.lseek(handle, 0, os.SEEK_END)
            view = memoryview(line)
            while view:
                view = view[os.write(handle, view) :]
            os.fsync(handle)
        finally:
            os.close(handle)

    @staticmethod
    def _whole(handle: int) -> int:
        """Return the size without the rest of a write that was cut off."""
        size = os.lseek(handle, 0, os.SEEK_END)
        while size:
            start = max(0, size - (1 << 16))
            os.lseek(handle, start, os.SEEK_SET)
            at = os.read(handle, size - start).rfind(b"\n")
            if at >= 0:
                return start + at + 1
            size = start
        return 0
