"""Limits for a judge: concurrent calls, cost, and outages."""

from __future__ import annotations

import math
from contextvars import ContextVar
from typing import TYPE_CHECKING, Literal, Protocol

from judgekit.core.errors import (
    BudgetExceeded,
    CircuitOpen,
    ConfigError,
    JudgeError,
    JudgeRejected,
    JudgeUnavailable,
)
from judgekit.core.judge_wrapper import JudgeWrapper
from judgekit.core.limits import MOST_CALLS
from judgekit.core.protocols import JudgeLike
from judgekit.core.request import Reply, Request

if TYPE_CHECKING:
    import asyncio

    from judgekit.judges.pace import Pace

Auto = Literal["auto"]
CHARACTERS_A_TOKEN = 4
ANSWER_TOKENS = 60
"""Assumed number of tokens of an answer to one question with its reason."""


_costs: ContextVar[list[float | None] | None] = ContextVar("costs", default=None)


def note_cost(cost: float | None) -> None:
    """Record the US dollars of one response, which are spent even if the request fails later."""
    if (costs := _costs.get()) is not None:
        costs.append(cost)


class Budget(Protocol):
    """The cost limit of a run, shared by its judges.

    All arguments and results are plain data, so an object in another process may implement it.
    """

    async def reserve(self, model: str, dollars: float) -> int:
        """Reserve the estimated cost of a call; wait while running calls may need the rest.

        Args:
            model: the model to call.
            dollars: the estimate; 0 if there is none.

        Returns:
            The number of the reservation, for `settle`.

        Raises:
            BudgetExceeded: the money is spent, or the cost of a reply is unknown.
        """

    async def settle(self, reservation: int, *, dollars: float | None) -> None:
        """Replace a reservation by the cost; every number of `reserve` is settled once.

        Args:
            reservation: its number.
            dollars: the cost, 0 for a call without a reply; `None` if it is unknown.
        """


class Purse:
    """The budget of this process, for one judge or shared by several."""

    def __init__(self, most: float | None = None) -> None:
        self.most = most
        """US dollars; `None` means no limit."""
        self.spent = 0.0
        self.unpriced: dict[str, int] = {}
        """Model -> number of replies without a known price."""
        self._reserved: dict[int, tuple[str, float]] = {}
        """Model and estimated dollars of the running calls."""
        self._number = 0
        self._waiting: list[asyncio.Future[None]] = []

    async def reserve(self, model: str, dollars: float) -> int:
        """Reserve the estimated cost of a call; see `Budget.reserve`."""
        while self._exhausted():
            import asyncio

            settled = asyncio.get_running_loop().create_future()
            self._waiting.append(settled)
            await settled
        self._number += 1
        self._reserved[self._number] = model, dollars
        return self._number

    async def settle(self, reservation: int, *, dollars: float | None) -> None:
        """Replace a reservation by the cost; see `Budget.settle`."""
        model, _ = self._reserved.pop(reservation)
        if dollars is None:
            self.unpriced[model] = self.unpriced.get(model, 0) + 1
        else:
            self.spent += dollars
        waiting, self._waiting = self._waiting, []
        for settled in waiting:
            if not settled.done() and not settled.get_loop().is_closed():
                settled.set_result(None)

    def _exhausted(self) -> bool:
        """Return whether the running calls may need the rest of the budget.

        Raises:
            BudgetExceeded: the money is spent, or the cost of a reply is unknown.
        """
        if self.most is None:
            return False
        if self.spent >= self.most:
            raise BudgetExceeded(f"not asked: ${self.spent:.4f} of ${self.most:g} is spent")
        if self.unpriced:
            model = next(iter(self.unpriced))
            problem = f"what {model} costs is not known, so max_cost cannot be kept"
            raise BudgetExceeded(f"not asked: {problem}")
        return self.spent + sum(dollars for _, dollars in self._reserved.values()) >= self.most


def estimated_tokens(request: Request) -> tuple[float, float]:
    """Return the estimated tokens of a request and of its reply."""
    read = sum(len(message.content) for message in request.messages) / CHARACTERS_A_TOKEN
    if request.form.api is not None:  # the API receives the form and returns no text
        return read + len(request.form.canonical) / CHARACTERS_A_TOKEN, 0.0
    if request.form.want in ("embedding", "logprobs"):  # no tokens are generated
        return read, 0.0
    written = ANSWER_TOKENS * max(1, len(request.form.questions))
    most = request.params.get("max_tokens")
    return read, min(written, most) if isinstance(most, int) and most > 0 else written


class LimitedJudge(JudgeWrapper):
    """Limits the concurrent calls, the cost and the outages of a judge.

    Args:
        judge: the inner judge.
        concurrency: maximum number of concurrent calls; `auto` adapts to the server, up to 256.
        max_outages: number of consecutive outages after which the judge is no longer called; 0
            means no limit.
        max_cost: US dollars after which the judge is no longer called. Running calls are completed.
            After a reply without a known price, there are no further calls.
        purse: a budget shared with other judges, instead of `max_cost`.
        price: US dollars per million input and output tokens, to estimate the cost of a call before
            it starts. By default, the estimate is the mean cost of the replies so far.
        rpm: requests per minute; `auto` learns the limit from the server.
        tpm: tokens per minute; `auto` learns the limit from the server.
        pace: a pace shared with other judges, instead of `rpm`, `tpm` and `auto`.

    Raises:
        ConfigError: a limit is neither positive nor `auto`.
    """

    def __init__(
        self,
        judge: JudgeLike,
        *,
        concurrency: int | Auto = 8,
        max_outages: int = 5,
        max_cost: float | None = None,
        purse: Budget | None = None,
        price: tuple[float, float] | None = None,
        rpm: float | Auto | None = None,
        tpm: float | Auto | None = None,
        pace: Pace | None = None,
    ) -> None:
        super().__init__(judge)
        limits: dict[str, object] = {"concurrency": concurrency, "rpm": rpm, "tpm": tpm}
        for name, limit in limits.items():
            number = isinstance(limit, int | float) and not isinstance(limit, bool)
            if limit not in (None, "auto") and not (number and 0 < limit < math.inf):  # type: ignore[operator]
                raise ConfigError(f"{name} is {limit!r}; give a positive number or 'auto'")
        if pace is None and (concurrency == "auto" or rpm is not None or tpm is not None):
            from judgekit.judges.pace import LocalPace

            auto = concurrency if concurrency == "auto" else None
            pace = LocalPace(self.model, concurrency=auto, rpm=rpm, tpm=tpm)
        self._pace = None if pace is None or self.judge.follow(pace) else pace
        """The pace, if the judge does not follow it itself."""

        self.concurrency = MOST_CALLS if concurrency == "auto" else concurrency
        self.max_outages = max_outages
        self.purse: Budget = purse or Purse(max_cost)
        self._price = price
        self._replies = 0
        self._paid = 0.0
        """US dollars of all replies with a known cost."""
        self.outages = 0
        """Outages since the last reply."""
        self._rejected: JudgeRejected | None = None
        self._slots: asyncio.Semaphore | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def open(self) -> bool:
        """Whether the circuit is open: the judge is considered down."""
        return bool(self.max_outages) and self.outages >= self.max_outages

    async def ask(self, request: Request) -> Reply:
        """Ask within the limits.

        Raises:
            CircuitOpen: the judge is down.
            BudgetExceeded: the money is spent.
            JudgeRejected: the judge rejected an earlier request for a reason that applies to all.
        """
        async with self._semaphore():
            if self._rejected is not None:
                raise JudgeRejected(str(self._rejected))
            if self.open:
                raise CircuitOpen(
                    f"not asked: {self.model} failed {self.outages} times in a row "
                    "(limits.max_outages); run again to go on"
                )
            reservation = await self.purse.reserve(self.model, self._estimate(request))
            costs: list[float | None] = []
            token = _costs.set(costs)
            try:
                reply = await self._asked(request)
                costs[:] = [reply.cost]
            except JudgeError as exc:
                # Any other error is a response of the server.
                self.outages = self.outages + 1 if isinstance(exc, JudgeUnavailable) else 0
                if isinstance(exc, JudgeRejected):
                    self._rejected = exc
                raise
            finally:
                _costs.reset(token)
                known = [cost for cost in costs if cost is not None]
                cost = math.fsum(known) if len(known) == len(costs) else None
                await self.purse.settle(reservation, dollars=cost)
            self.outages = 0
            self._replies += 1
            self._paid += reply.cost or 0.0
            return reply

    async def _asked(self, request: Request) -> Reply:
        """Ask the judge; wait for the pace first, unless the judge does so itself."""
        if self._pace is None:
            return await self.judge.ask(request)
        import time

        from judgekit.judges.rate_headers import CallEnd

        call = await self._pace.acquire(sum(estimated_tokens(request)))
        started, status, tokens = time.monotonic(), None, None
        try:
            reply = await self.judge.ask(request)
            status = 200
            if reply.usage is not None:
                tokens = reply.usage.input_tokens + reply.usage.output_tokens
            return reply
        except JudgeError as exc:
            status = None if isinstance(exc, JudgeUnavailable) else 400  # the judge answered
            raise
        finally:
            end = CallEnd(status, tokens=tokens, seconds=time.monotonic() - started)
            await self._pace.settle(call, end)

    def _estimate(self, request: Request) -> float:
        """Return the estimated US dollars of a call."""
        if self._price is None:
            return self._paid / max(1, self._replies)
        read, written = estimated_tokens(request)
        return (read * self._price[0] + written * self._price[1]) / 1e6

    def _semaphore(self) -> asyncio.Semaphore:
        """Return the semaphore of the running event loop."""
        import asyncio

        loop = asyncio.get_running_loop()
        if self._slots is None or self._loop is not loop:
            self._slots, self._loop = asyncio.Semaphore(self.concurrency), loop
        return self._slots
