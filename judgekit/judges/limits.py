"""Limits around a judge: calls in flight, money, and when to stop trying."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgekit.core.errors import (
    BudgetExceeded,
    CircuitOpen,
    JudgeError,
    JudgeRejected,
    JudgeUnavailable,
)
from judgekit.core.judge_wrapper import JudgeWrapper
from judgekit.core.protocols import JudgeLike
from judgekit.core.request import Reply, Request

if TYPE_CHECKING:
    import asyncio


class Purse:
    """A budget, for one judge or shared by several."""

    def __init__(self, most: float | None = None) -> None:
        self.most = most
        """US dollars; `None` means no limit."""
        self.spent = 0.0
        self.unpriced: dict[str, int] = {}
        """Replies with no known price, by model."""

    def pay(self, model: str, cost: float | None) -> None:
        """Count one reply."""
        if cost is None:
            self.unpriced[model] = self.unpriced.get(model, 0) + 1
        else:
            self.spent += cost

    def check(self) -> None:
        """Refuse further calls if the budget is spent or the cost is unknown.

        Raises:
            BudgetExceeded: either of these.
        """
        if self.most is None:
            return
        if self.spent >= self.most:
            raise BudgetExceeded(f"not asked: ${self.spent:.4f} of ${self.most:g} is spent")
        if self.unpriced:
            model = next(iter(self.unpriced))
            raise BudgetExceeded(
                f"not asked: what {model} costs is not known, so max_cost cannot be kept"
            )


class LimitedJudge(JudgeWrapper):
    """Limits the concurrent calls, the cost and the outages of a judge.

    Args:
        judge: the inner judge.
        concurrency: most concurrent calls.
        max_outages: outages in a row after which it is not called again; 0 means no limit.
        max_cost: US dollars after which it is not called again. Running calls are still paid,
            and no call follows a reply without a known price.
        purse: a budget shared with other judges, instead of `max_cost`.
    """

    def __init__(
        self,
        judge: JudgeLike,
        *,
        concurrency: int = 8,
        max_outages: int = 5,
        max_cost: float | None = None,
        purse: Purse | None = None,
    ) -> None:
        super().__init__(judge)
        self.concurrency = concurrency
        self.max_outages = max_outages
        self.purse = purse or Purse(max_cost)
        self.outages = 0
        """Outages since the last reply."""
        self._rejected: JudgeRejected | None = None
        self._slots: asyncio.Semaphore | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def open(self) -> bool:
        """Whether the circuit is open: the judge counts as down."""
        return bool(self.max_outages) and self.outages >= self.max_outages

    async def ask(self, request: Request) -> Reply:
        """Ask within the limits.

        Raises:
            CircuitOpen: the judge is down.
            BudgetExceeded: the money is spent.
            JudgeRejected: it rejected an earlier request for a reason that holds for all.
        """
        async with self._semaphore():
            if self._rejected is not None:
                raise JudgeRejected(str(self._rejected))
            if self.open:
                raise CircuitOpen(
                    f"not asked: {self.model} failed {self.outages} times in a row "
                    "(limits.max_outages); run again to go on"
                )
            self.purse.check()
            try:
                reply = await self.judge.ask(request)
            except JudgeUnavailable:
                self.outages += 1
                raise
            except JudgeError as exc:
                self.outages = 0  # the server answered
                if isinstance(exc, JudgeRejected):
                    self._rejected = exc
                raise
            self.outages = 0
            self.purse.pay(self.model, reply.cost)
            return reply

    def _semaphore(self) -> asyncio.Semaphore:
        """Return the semaphore of the running event loop."""
        import asyncio

        loop = asyncio.get_running_loop()
        if self._slots is None or self._loop is not loop:
            self._slots, self._loop = asyncio.Semaphore(self.concurrency), loop
        return self._slots
