"""A missing recording: what differs, whether an older version would hit, and what to do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from judgekit.core.errors import CassetteMiss
from judgekit.core.request import Request

NOT_OLDER = "no older version would hit"
DECIDES = "`--record new_episodes` asks the judge"


@dataclass(kw_only=True)
class Miss:
    """Why a request has no recorded reply. Its text is the sentence of every miss."""

    request: Request
    """The request, as it would be recorded."""
    differs: str
    """What differs from the recordings."""
    recorded: Callable[[Request], bool]
    """Returns whether another request has a recording. Only the metric can make the request of
    another version of its rubric, and only the cassette can look it up."""
    moved: str = ""
    """Which content of the case earlier versions treated otherwise; empty without any."""
    older: str = NOT_OLDER
    """Whether an older version of the request, or another one of its rubric, would hit; empty if
    nothing is recorded."""
    decides: str = DECIDES
    """The command or flag that decides what happens next."""

    def __str__(self) -> str:
        return "; ".join(filter(None, (self.differs, self.moved, self.older, self.decides)))


class RequestMiss(CassetteMiss):
    """A request without a recorded reply; the metric may add to its sentence."""

    def __init__(self, miss: Miss) -> None:
        super().__init__(str(miss), key=miss.request.key)
        self.miss = miss

    def __str__(self) -> str:
        return str(self.miss)
