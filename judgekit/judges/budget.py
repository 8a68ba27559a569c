"""What the calls to judges cost: estimates, the budget, and the meter that charges it."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Protocol

from judgekit.core.errors import BudgetExceeded
from judgekit.core.request import Request
from judgekit.judges.price import ModelPrice

if TYPE_CHECKING:
    import asyncio

CHARACTERS_A_TOKEN = 4
ANSWER_TOKENS = 60
"""Assumed number of tokens of an answer to one question with its reason."""
LARGEST_REPLY = 4096
"""Assumed maximum number of tokens of a reply, if the judge has no `max_tokens`."""
UNPROVEN_CALLS = 8
"""Maximum number of running calls to a model before the cost of its first reply is known."""


class Budget(Protocol):
    """The cost limit of a run, shared by its judges.

    All arguments and results are plain data, so an object in another process may implement it.
    """

    async def reserve(self, model: str, dollars: float) -> int:
        """Reserve the estimated cost of a call; wait while running calls may need the rest.

        The estimate that counts is never lower than the mean cost of the model's replies so far
        plus two standard deviations. Before the first of them, at most `UNPROVEN_CALLS` calls run.

        Args:
            model: the model to call.
            dollars: the estimate; 0 if there is none.

        Returns:
            The number of the reservation, for `settle`.

        Raises:
            BudgetExceeded: the money is spent, or the cost of a reply is unknown.
        """

    async def settle(
        self, reservation: int, *, dollars: float | None, replied: bool = True
    ) -> None:
        """Replace a reservation by the cost; every number of `reserve` is settled once.

        Args:
            reservation: its number.
            dollars: the cost; `None` if it is unknown.
            replied: whether there was a reply, from which the estimate of later calls learns.
        """


class _Costs:
    """Mean and spread of the costs of a model's replies, by Welford's method."""

    def __init__(self) -> None:
        self.count = 0
        self._mean = self._squares = 0.0

    def add(self, dollars: float) -> None:
        self.count += 1
        off = dollars - self._mean
        self._mean += off / self.count
        self._squares += off * (dollars - self._mean)

    @property
    def high(self) -> float:
        """The mean plus two standard deviations; 0 before the first reply."""
        return self._mean + 2 * math.sqrt(max(0.0, self._squares) / max(1, self.count))


class LocalBudget:
    """The budget of this process, for one judge or shared by several."""

    def __init__(self, most: float | None = None) -> None:
        self.most = most
        """US dollars; `None` means no limit."""
        self.spent = 0.0
        self.held = 0.0
        """US dollars that batch jobs may cost, which this run does not wait for."""
        self.unpriced: dict[str, int] = {}
        """Model -> number of replies without a known price."""
        self._reserved: dict[int, tuple[str, float]] = {}
        """Model and estimated dollars of the running calls."""
        self._costs: dict[str, _Costs] = {}
        """Costs of the replies so far, by model."""
        self._number = 0
        self._waiting: list[asyncio.Future[None]] = []

    async def reserve(self, model: str, dollars: float) -> int:
        """Reserve the estimated cost of a call; see `Budget.reserve`."""
        while self._exhausted() or self._unproven(model):
            import asyncio

            settled = asyncio.get_running_loop().create_future()
            self._waiting.append(settled)
            await settled
        self._number += 1
        self._reserved[self._number] = model, dollars
        return self._number

    async def settle(
        self, reservation: int, *, dollars: float | None, replied: bool = True
    ) -> None:
        """Replace a reservation by the cost; see `Budget.settle`."""
        model, _ = self._reserved[reservation]
        if dollars is None:
            self.unpriced[model] = self.unpriced.get(model, 0) + 1
        else:
            self.spent += dollars
        await self.release(reservation, cost=dollars if replied else None)

    async def release(self, reservation: int, *, cost: float | None) -> None:
        """End a reservation whose cost is added to `spent` elsewhere.

        Args:
            reservation: its number.
            cost: US dollars of the reply; `None` without one, or if they are unknown.
        """
        model, _ = self._reserved.pop(reservation)
        if cost is not None:
            self._costs.setdefault(model, _Costs()).add(cost)
        waiting, self._waiting = self._waiting, []
        for settled in waiting:
            if not settled.done() and not settled.get_loop().is_closed():
                settled.set_result(None)

    def hold(self, dollars: float) -> None:
        """Reserve what a request in a batch job may cost, without an end in this run.

        Raises:
            BudgetExceeded: it is more than the rest of the budget.
        """
        if self.most is not None and self.spent + self.held + dollars > self.most:
            used = self.spent + self.held
            raise BudgetExceeded(
                f"not sent: it may cost ${dollars:.4f}, and ${used:.4f} of ${self.most:g} is spent "
                "or in jobs"
            )
        self.held += dollars

    def _exhausted(self) -> bool:
        """Return whether the running calls may need the rest of the budget.

        Raises:
            BudgetExceeded: the money is spent, or the cost of a reply is unknown.
        """
        if self.most is None:
            return False
        if self.spent + self.held >= self.most:
            jobs = f", and ${self.held:.4f} is for batch jobs" if self.held else ""
            raise BudgetExceeded(f"not asked: ${self.spent:.4f} of ${self.most:g} is spent{jobs}")
        if self.unpriced:
            model = next(iter(self.unpriced))
            problem = f"what {model} costs is not known, so max_cost cannot be kept"
            raise BudgetExceeded(f"not asked: {problem}")
        # Calls that started before their estimate was known to be low count with the better one.
        high = {model: costs.high for model, costs in self._costs.items()}
        running = sum(
            max(dollars, high.get(model, 0.0)) for model, dollars in self._reserved.values()
        )
        return self.spent + self.held + running >= self.most

    def _unproven(self, model: str) -> bool:
        """Return whether a call must wait because no cost of the model is known yet."""
        if self.most is None or model in self._costs:
            return False
        return sum(name == model for name, _ in self._reserved.values()) >= UNPROVEN_CALLS


def estimated_tokens(request: Request) -> tuple[float, float]:
    """Return the estimated tokens of a request and of its reply."""
    read = sum(len(message.content) for message in request.messages) / CHARACTERS_A_TOKEN
    if request.form.api is not None:  # the API receives the form and returns no text
        return read + len(request.form.canonical) / CHARACTERS_A_TOKEN, 0.0
    if request.form.want in ("embedding", "logprobs"):  # no tokens are generated
        return read, 0.0
    written = ANSWER_TOKENS * max(1, len(request.form.questions))
    return read, min(written, largest_reply(request.params))


def largest_reply(params: Mapping[str, object]) -> int:
    """Return the maximum number of tokens of a reply to a request with these parameters."""
    most = params.get("max_tokens") or params.get("max_completion_tokens")
    return most if isinstance(most, int) and most > 0 else LARGEST_REPLY


class Bill:
    """What an admitted call cost."""

    def __init__(self) -> None:
        self.dollars: float | None = 0.0
        """US dollars; `None` if they are unknown."""
        self.replied = False
        """Whether there was a reply."""


class CostMeter:
    """Charges the calls to one model to a budget.

    Args:
        budget: the budget, which may be shared with other judges and processes.
        model: the model.
        price: the price of the model, if known.
    """

    def __init__(self, budget: Budget, model: str, price: ModelPrice | None) -> None:
        self.budget, self.model, self.price = budget, model, price

    @asynccontextmanager
    async def charged(self, read: float, written: float, *, most: float) -> AsyncIterator[Bill]:
        """Wait until a call can be paid; the body sends it and fills in the bill.

        If the body cannot tell the cost of a reply, the largest reply counts. If it is cancelled,
        as at the end of the time limit, the estimate counts: the server may have replied.

        Args:
            read: estimated tokens of the request.
            written: estimated tokens of the reply.
            most: maximum tokens of the reply.

        Raises:
            BudgetExceeded: the money is spent.
        """
        import asyncio

        estimate = self._dollars(read, written)
        reservation = await self.budget.reserve(self.model, estimate or 0.0)
        bill = Bill()
        try:
            yield bill
        except asyncio.CancelledError:
            bill.dollars = max(bill.dollars or 0.0, estimate or 0.0)
            raise
        finally:
            if bill.dollars is None:
                bill.dollars = self._dollars(read, most)
            await self.budget.settle(reservation, dollars=bill.dollars, replied=bill.replied)

    def _dollars(self, read: float, written: float) -> float | None:
        if self.price is None:
            return None
        return self.price.estimate(read, written)
