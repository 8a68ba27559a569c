"""Requests that have no recording, and the message about each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgekit.cassette.tape import Tape
from judgekit.core.errors import CassetteMiss
from judgekit.core.request import Request

if TYPE_CHECKING:
    from judgekit.cassette.explain import Explainer

MAX_MISSES = 1_000
"""Missed requests to keep for `cassette explain`."""
EXPLAINED = 2_000
"""Up to this many records on a tape, the message of a miss explains it."""


class Misses:
    """The requests that a replay missed, and an error for each."""

    def __init__(self, tape: Tape | None) -> None:
        self._tape = tape
        self._explainer: Explainer | None = None
        self.requests: list[Request] = []
        """The first requests that were missed."""

    def add(self, request: Request) -> CassetteMiss:
        """Return the error of a missed request."""
        if len(self.requests) < MAX_MISSES:
            self.requests.append(request)
        return CassetteMiss(self._message(request), key=request.key)

    def _message(self, request: Request) -> str:
        if self._tape is None:
            return "not recorded in the store"
        if len(self._tape) == 0:
            return "nothing is recorded yet"
        if len(self._tape) > EXPLAINED:
            return "not recorded; `judgekit cassette explain` shows the differences"
        from judgekit.cassette.explain import Explainer

        if self._explainer is None:
            self._explainer = Explainer(self._tape.records())
        return self._explainer.explain(request).line()
