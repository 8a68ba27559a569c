"""Limits for a judge: concurrent calls, cost, and outages."""

from __future__ import annotations

import math
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Literal, Protocol

from judgekit.core.errors import (
    BudgetExceeded,
    CircuitOpen,
    ConfigError,
    JudgeError,
    JudgeRejected,
    JudgeUnavailable,
    cost_before,
)
from judgekit.core.judge_wrapper import JudgeWrapper
from judgekit.core.limits import MOST_CALLS
from judgekit.core.protocols import JudgeLike
from judgekit.core.request import Reply, Request

if TYPE_CHECKING:
    import asyncio

    from judgekit.judges.pace import Pace

Auto = Literal["auto"]
Price = Callable[[Request], float]
CHARACTERS_A_TOKEN = 4
ANSWER_TOKENS = 60
"""Assumed number of tokens of an answer to one question with its reason."""


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


class LocalBudget:
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


class Attempt:
    """What a call reports to its pace when it has ended."""

    def __init__(self) -> None:
        self.status: int | None = None
        """The HTTP status; `None` if there was no response."""
        self.headers: Mapping[str, str] = {}
        self.tokens: float | None = None
        """The tokens of request and reply; `None` if they are unknown."""


@asynccontextmanager
async def paced(pace: Pace, tokens: float) -> AsyncIterator[Attempt]:
    """Wait for a pace; the body makes the call and fills in the attempt.

    Args:
        pace: the pace of the server.
        tokens: estimated tokens of the request and its reply.
    """
    from judgekit.judges.rate_headers import CallEnd  # a replay has no pace

    call = await pace.acquire(tokens)
    attempt, started = Attempt(), time.monotonic()
    try:
        yield attempt
    finally:
        seconds = time.monotonic() - started
        end = CallEnd(attempt.status, attempt.headers, attempt.tokens, seconds)
        await pace.settle(call, end)


class Bill:
    """What an admitted request cost."""

    def __init__(self) -> None:
        self.dollars: float | None = 0.0
        """US dollars; `None` if they are unknown."""


class Admission:
    """Admits requests to a judge: the one place where they wait, and the order in which they do.

    A request takes a slot, is checked, reserves its estimated cost, and waits for the pace; `admit`
    has these steps in this order. A judge that sends HTTP requests itself waits for its pace
    before each attempt, with `paced`, while it holds its slot and reservation.

    Args:
        slots: maximum number of concurrent requests.
        budget: the cost limit, which may be shared with other judges and processes.
        pace: the pace of judges that do not wait for one themselves.
    """

    def __init__(self, *, slots: int, budget: Budget, pace: Pace | None) -> None:
        self.slots, self.budget, self.pace = slots, budget, pace
        self._semaphore: asyncio.Semaphore | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    @asynccontextmanager
    async def admit(
        self, model: str, request: Request, *, check: Callable[[], None], price: Price
    ) -> AsyncIterator[tuple[Bill, Attempt]]:
        """Wait until a request may be sent; the body sends it and fills in bill and attempt.

        Args:
            model: the model, for messages of the budget.
            request: the request.
            check: raises an error if the judge must not be asked (any more).
            price: returns the estimated US dollars of a request.

        Raises:
            BudgetExceeded: the money is spent.
        """
        async with self._slot():
            # After the wait for a slot: the requests before this one may have found the judge down.
            check()
            # Before the pace, so a request that cannot be paid does not use up the rate.
            reservation = await self.budget.reserve(model, price(request))
            bill = Bill()
            try:
                if self.pace is None:
                    yield bill, Attempt()
                else:
                    async with paced(self.pace, sum(estimated_tokens(request))) as attempt:
                        yield bill, attempt
            finally:
                await self.budget.settle(reservation, dollars=bill.dollars)

    def _slot(self) -> asyncio.Semaphore:
        """Return the slots of the running event loop."""
        import asyncio

        loop = asyncio.get_running_loop()
        if self._semaphore is None or self._loop is not loop:
            self._semaphore, self._loop = asyncio.Semaphore(self.slots), loop
        return self._semaphore


def check_limits(**limits: float | Auto | None) -> None:
    """Check limits by name.

    Raises:
        ConfigError: a limit is neither positive nor `auto`.
    """
    for name, limit in limits.items():
        if limit is None or limit == "auto":
            continue
        number = isinstance(limit, int | float) and not isinstance(limit, bool)
        if not (number and 0 < limit < math.inf):
            raise ConfigError(f"{name} is {limit!r}; give a positive number or 'auto'")


def make_pace(
    name: str,
    *,
    concurrency: Auto | None = None,
    rpm: float | Auto | None = None,
    tpm: float | Auto | None = None,
) -> Pace | None:
    """Return the pace of a server in this process; `None` without such limits.

    Args:
        name: the server in log messages.
        concurrency: `auto`, or no limit here.
        rpm: requests per minute.
        tpm: tokens per minute.

    Raises:
        ConfigError: a limit is neither positive nor `auto`.
    """
    check_limits(rpm=rpm, tpm=tpm)
    if concurrency is None and rpm is None and tpm is None:
        return None
    from judgekit.judges.pace import LocalPace

    return LocalPace(name, concurrency=concurrency, rpm=rpm, tpm=tpm)


class LimitedJudge(JudgeWrapper):
    """Limits the concurrent calls, the cost and the outages of a judge.

    Args:
        judge: the inner judge.
        concurrency: maximum number of concurrent calls; `auto` adapts to the server, up to 256.
        max_outages: number of consecutive outages after which the judge is no longer called; 0
            means no limit.
        max_cost: US dollars after which the judge is no longer called. Running calls are completed.
            After a reply without a known price, there are no further calls.
        budget: a budget shared with other judges, instead of `max_cost`.
        price: US dollars per million input and output tokens, to estimate the cost of a call before
            it starts. By default, the estimate is the mean cost of the replies so far.
        rpm: requests per minute; `auto` learns the limit from the server.
        tpm: tokens per minute; `auto` learns the limit from the server.
        pace: a pace shared with other judges, instead of `rpm`, `tpm` and `auto`. Each request
            waits for it once. To make every HTTP attempt wait, give the pace to the judge instead.
        purse: the former name of `budget`; it gives a warning, and 0.2 removes it.

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
        budget: Budget | None = None,
        price: tuple[float, float] | None = None,
        rpm: float | Auto | None = None,
        tpm: float | Auto | None = None,
        pace: Pace | None = None,
        purse: Budget | None = None,
    ) -> None:
        super().__init__(judge)
        if purse is not None:
            import warnings

            message = (
                "`purse` of LimitedJudge is now `budget`; judgekit 0.2 removes the former name"
            )
            warnings.warn(message, DeprecationWarning, stacklevel=2)
            budget = budget or purse
        check_limits(concurrency=concurrency, rpm=rpm, tpm=tpm)
        auto = concurrency if concurrency == "auto" else None
        pace = pace or make_pace(self.model, concurrency=auto, rpm=rpm, tpm=tpm)
        self.concurrency = MOST_CALLS if concurrency == "auto" else concurrency
        self.max_outages = max_outages
        self.budget: Budget = budget or LocalBudget(max_cost)
        self.admission = Admission(slots=self.concurrency, budget=self.budget, pace=pace)
        self._price = price
        self._replies = 0
        self._paid = 0.0
        """US dollars of all replies with a known cost."""
        self.outages = 0
        """Outages since the last reply."""
        self._rejected: JudgeRejected | None = None

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
        admitted = self.admission.admit(
            self.model, request, check=self._check, price=self._estimate
        )
        async with admitted as (bill, attempt):
            try:
                reply = await self.judge.ask(request)
            except BaseException as exc:
                bill.dollars = cost_before(exc)
                self._count_failure(exc, attempt)
                raise
            bill.dollars, attempt.status = reply.cost, 200
            if reply.usage is not None:
                attempt.tokens = reply.usage.input_tokens + reply.usage.output_tokens
            self.outages = 0
            self._replies += 1
            self._paid += reply.cost or 0.0
        return reply

    def _check(self) -> None:
        """Raise an error if the judge is not to be asked any more."""
        if self._rejected is not None:
            raise JudgeRejected(str(self._rejected))
        if self.open:
            raise CircuitOpen(
                f"not asked: {self.model} failed {self.outages} times in a row "
                "(limits.max_outages); run again to go on"
            )

    def _count_failure(self, error: BaseException, attempt: Attempt) -> None:
        if not isinstance(error, JudgeError):
            return
        outage = isinstance(error, JudgeUnavailable)
        # Any other error is a response of the server.
        self.outages = self.outages + 1 if outage else 0
        attempt.status = None if outage else 400
        if isinstance(error, JudgeRejected):
            self._rejected = error

    def _estimate(self, request: Request) -> float:
        """Return the estimated US dollars of a call."""
        if self._price is None:
            return self._paid / max(1, self._replies)
        read, written = estimated_tokens(request)
        return (read * self._price[0] + written * self._price[1]) / 1e6
