"""What batch jobs have to do with the requests of a run, without a run: for plans.

Only files of the project are read; no provider is asked.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from pydantic_core import to_json

from judgekit.batch.job import ID, Job
from judgekit.batch.journal import Journal
from judgekit.batch.provider import BatchProvider
from judgekit.batch.replies import reply_places
from judgekit.batch.room import JobRoom
from judgekit.core.reply_schema import reply_schema
from judgekit.core.request import Request
from judgekit.judges.output_mode import messages_of
from judgekit.judges.sent_schema import SentSchema
from judgekit.judges.transport import NAME

Place = Literal["open", "ended"]
"""Where a request is: in an open job, or in an ended one that has its reply."""
_FRAME = 120
"""Bytes of a line beside the body: the id, the method and the address."""


class JobForecast:
    """The jobs of a project as its journal has them.

    Args:
        home: the private folder of the project.
    """

    def __init__(self, home: Path) -> None:
        journal = Journal(home)
        self.jobs: list[Job] = journal.jobs()
        self._places: dict[str, Place] = {}
        self._fresh: set[str] = set()
        """Ids of requests with a reply that no run has taken."""
        for job in self.jobs:
            if job.open:
                self._places.update(dict.fromkeys(job.keys, "open"))
            elif job.state == "ended":
                replied = reply_places(journal.replies(job.intent), among=set(job.keys)).keys()
                self._fresh |= set() if job.taken else replied
                for id in replied:
                    self._places.setdefault(id, "ended")

    def place(self, request: Request, *, again: bool = False) -> Place | None:
        """Return where a request is; `None` if no job has it.

        Args:
            request: the request.
            again: whether its recorded reply is asked again, so that only a newer one counts.
        """
        id = request.key[:ID]
        place = self._places.get(id)
        return None if place == "ended" and again and id not in self._fresh else place

    def held(self, suite: str) -> float:
        """Return the US dollars that the budget of a suite holds for its jobs."""
        held = 0.0
        for job in self.jobs:
            if job.open and job.suite in (None, suite):
                held += job.dollars or 0.0
            elif job.state == "ended" and job.suite == suite and not job.taken:
                held += (job.dollars or 0.0) * (job.replies or 0) / max(1, len(job.keys))
        return held


class NewJobs:
    """Counts the new jobs for the requests to one judge, in the order of the requests."""

    def __init__(self, provider: BatchProvider) -> None:
        self.count = 0
        self._provider = provider
        self._room: JobRoom | None = None

    def add(self, request: Request, *, name: str, params: Mapping[str, object]) -> None:
        """Add a request to a model with these parameters."""
        size = line_size(request, name=name, params=params)
        if self._room is None or not self._room.takes(size):
            self._room = JobRoom(self._provider)
            self._room.takes(size)
            self.count += 1


def line_size(request: Request, *, name: str, params: Mapping[str, object]) -> int:
    """Return the estimated size of a request in the file of a job, in bytes.

    It is that of OpenAI's protocol; the bodies of other protocols differ by a few percent.
    """
    form = request.form
    known: bytes | None = form.__dict__.get("_forecast_format")
    if known is None:
        sent = SentSchema(reply_schema(form).json_schema, strict=True)
        known = form.__dict__["_forecast_format"] = to_json(sent.response_format(NAME))
    messages = to_json(messages_of(request, "json_schema"))
    return len(messages) + len(known) + len(to_json({"model": name, **params})) + _FRAME
