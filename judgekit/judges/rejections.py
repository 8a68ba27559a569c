"""Tell rejections of one request from rejections of all requests."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from typing import TYPE_CHECKING, Any

from judgekit.core.errors import JudgekitError, JudgeRejected
from judgekit.core.in_flight import waiting
from judgekit.core.shared import SharedCall
from judgekit.judges.translation import BadRequest

if TYPE_CHECKING:
    import asyncio

FIRST_CASES = 5
"""If the server takes none of the first cases, so many rejected ones stop the run."""
CASES_IN_A_ROW = 20
"""Rejected cases in a row after which a probe checks whether the server still takes requests."""

PROBE = "Hello."
"""The text of a probe that has no form."""
Probe = Callable[[], Coroutine[Any, Any, bool]]
"""Sends a request like the rejected one without the text of a case; returns whether it is taken."""


class ProbeRejected(JudgeRejected):
    """A probe was rejected, which has no text of a case."""


class Rejections:
    """Decides whether the rejections of a judge are about single requests or about all.

    A rejected request fails alone as soon as the server takes another one. Until then it waits for
    the requests in flight; if all of them are rejected, one probe decides. There is at most one
    probe for each object, which lives as long as a run.
    """

    def __init__(self) -> None:
        self.taken = False
        """Whether the server has answered a request of this run."""
        self._running = 0
        """Requests that have not ended."""
        self._undecided = 0
        """Rejected requests among them that wait for a decision."""
        self._cases: set[str] = set()
        """The rejected cases since the last request that was taken."""
        self._probing: SharedCall[bool] | None = None
        self._probe_taken: bool | None = None
        """Whether the server takes the probe; `None` before it is sent."""
        self._waiting: list[asyncio.Future[None]] = []

    def begin(self) -> None:
        """Note that a request begins; every one ends once."""
        self._running += 1

    def end(self, *, taken: bool) -> None:
        """Note that a request ended.

        Args:
            taken: whether the server answered it.
        """
        self._running -= 1
        if taken:
            self.take()
        self._wake()

    def take(self) -> None:
        """Note that the server answered a request about a case."""
        self._cases.clear()
        if not self.taken:
            self.taken = True
            self._wake()

    async def general(self, case: str, probe: Probe) -> str | None:
        """Return why a rejection is about all requests; `None` if it is about its own.

        Args:
            case: the rejected case; several requests about one case count once.
            probe: sends a probe, if one is needed.

        Raises:
            JudgeRejected: the probe showed that the account or the key is the problem.
        """
        self._cases.add(case)
        if self.taken:
            return await self._in_a_row(probe)
        return await self._from_the_first(probe)

    async def _in_a_row(self, probe: Probe) -> str | None:
        if len(self._cases) < CASES_IN_A_ROW or await self.probed(probe):
            return None
        return f"{len(self._cases)} cases in a row and a probe are rejected"

    async def _from_the_first(self, probe: Probe) -> str | None:
        self._undecided += 1
        self._wake()
        try:
            with waiting():
                while not self.taken and self._undecided < self._running:
                    await self._change()
            if self.taken:
                return None
            if not await self.probed(probe):
                return "a probe without the text of a case is rejected, too"
            if len(self._cases) < FIRST_CASES:
                return None
            return f"each of the first {len(self._cases)} cases is rejected, though not a probe"
        finally:
            self._undecided -= 1

    async def probed(self, probe: Probe) -> bool:
        """Return whether the server takes a probe, or does not say so; only the first is sent."""
        if self._probe_taken is None:
            self._probing = self._probing or SharedCall(probe)
            self._probe_taken = await self._probing()
        return self._probe_taken

    async def _change(self) -> None:
        import asyncio

        changed = asyncio.get_running_loop().create_future()
        self._waiting.append(changed)
        await changed

    def _wake(self) -> None:
        changes, self._waiting = self._waiting, []
        for changed in changes:
            if not changed.done() and not changed.get_loop().is_closed():
                changed.set_result(None)


async def taken(probe: Awaitable[object]) -> bool:
    """Return whether a server takes a probe; an outage or a refusal does not say that it does not.

    Raises:
        JudgeRejected: the account or the key is the problem.
    """
    try:
        await probe
    except BadRequest:
        return False
    except JudgeRejected:
        raise
    except JudgekitError:
        return True
    return True
