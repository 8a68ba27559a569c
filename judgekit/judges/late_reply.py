"""The seam for replies that come later: what answers the first call of a request.

Without it, a judge sends every call to its server. `judgekit.batch` implements it with jobs.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol

from judgekit.core.request import Request
from judgekit.judges.output_mode import Mode
from judgekit.judges.wire import LateResponse, LiveCall


class LateReply(Protocol):
    """Answers the first call of one request instead of the server; re-asks are live."""

    mode: Mode | None
    """The output mode of the call; `None` until the judge knows it."""
    open: bool
    """Whether it still has to answer; afterwards, calls are live."""
    tier: str
    """The service tier, for the record."""
    share: float
    """What the call costs, as a share of the price of a live one."""

    def answer(self, call: LiveCall) -> LateResponse:
        """Return the response to a call.

        Raises:
            JudgePending: a job has the call, or will have it; there is no response yet.
            BudgetExceeded: the job would cost more than the rest of the budget.
            ConfigError: no job can have the call.
        """

    def paid(self, dollars: float | None) -> None:
        """Note what the response cost."""


Later = Callable[[Request], Awaitable[LateReply | None]]
"""Returns what answers a request; `None` for a live call. Raises `JudgePending` while a job has the
request."""
