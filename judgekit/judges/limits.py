"""Limits for a judge: concurrent calls, cost, and outages."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import (
    AbstractAsyncContextManager,
    AsyncExitStack,
    asynccontextmanager,
    nullcontext,
)
from functools import partial
from typing import TYPE_CHECKING, Literal

from judgekit.core.arguments import checked
from judgekit.core.errors import (
    BudgetExceeded,
    CircuitOpen,
    ConfigError,
    JudgeDown,
    JudgeError,
    JudgeRejected,
    JudgeUnavailable,
    RequestRejected,
    cost_before,
)
from judgekit.core.in_flight import waiting
from judgekit.core.judge_wrapper import JudgeWrapper
from judgekit.core.limits import MOST_CALLS, check_concurrent, check_cost
from judgekit.core.protocols import JudgeLike
from judgekit.core.request import Reply, Request
from judgekit.core.slots import Slots
from judgekit.judges.budget import (
    Bill,
    Budget,
    CostMeter,
    LocalBudget,
    estimated_tokens,
    largest_reply,
)
from judgekit.judges.price import ModelPrice, price_from
from judgekit.judges.rate_headers import NOT_SENT, CallEnd

if TYPE_CHECKING:
    from judgekit.judges.pace import Pace
    from judgekit.judges.prompt_cache import PromptCache

Auto = Literal["auto"]


class Attempt:
    """What a call reports to its pace when it has ended."""

    def __init__(self) -> None:
        self.status: int | None = NOT_SENT
        """The HTTP status; `None` if there was no response."""
        self.headers: Mapping[str, str] = {}
        self.tokens: float | None = None
        """The tokens of request and reply; `None` if they are unknown."""
        self.alone = False
        """Whether only this request is refused again; see `CallEnd`."""
        self.explained = 0
        """Its earlier refusals."""
        self.sent_at = 0.0

    def send(self) -> None:
        """Note that the call is sent now, after all waits."""
        self.status, self.sent_at = None, _now()


def _now() -> float:
    import asyncio

    return asyncio.get_running_loop().time()


@asynccontextmanager
async def paced(pace: Pace, tokens: float, *, again: bool = False) -> AsyncIterator[Attempt]:
    """Wait for a pace; the body makes the call and fills in the attempt.

    Args:
        pace: the pace of the server.
        tokens: estimated tokens of the request and its reply.
        again: whether the request was refused before.
    """
    call = await (pace.acquire(tokens, True) if again else pace.acquire(tokens))
    attempt = Attempt()
    try:
        yield attempt
    finally:
        seconds = _now() - attempt.sent_at
        end = CallEnd(
            attempt.status,
            attempt.headers,
            attempt.tokens,
            seconds,
            attempt.alone,
            attempt.explained,
        )
        await pace.settle(call, end)


class Admission:
    """Admits requests to a judge: the one place where they wait, and the order in which they do.

    A request takes a slot, is checked, waits for the pace, reserves its estimated cost, and is
    sent; `admit` has these steps in this order. The budget comes last, so that it knows the cost of
    all replies that came during the other waits. A judge behind a server may be made with a pace
    and a meter: then it does the last steps for each HTTP attempt, while it holds its slot;
    a request that the server refuses while it accepts others waits outside its slot.

    Args:
        slots: maximum number of concurrent requests.
        meter: charges the budget; `None` for judges that have a meter themselves.
        pace: the pace of judges that do not wait for one themselves.
    """

    def __init__(self, *, slots: int, meter: CostMeter | None, pace: Pace | None) -> None:
        self.slots, self.meter, self.pace = Slots(slots), meter, pace

    @asynccontextmanager
    async def admit(
        self,
        request: Request,
        *,
        check: Callable[[], None],
        again: Callable[[], None] | None = None,
    ) -> AsyncIterator[tuple[Bill, Attempt]]:
        """Wait until a request may be sent; the body sends it and fills in bill and attempt.

        Args:
            request: the request.
            check: raises an error if the judge must not be asked (any more).
            again: the same before another attempt, if the request left its slot in between.

        Raises:
            BudgetExceeded: the money is spent.
        """
        read, written = estimated_tokens(request)
        turn = nullcontext(Attempt()) if self.pace is None else paced(self.pace, read + written)
        charged: AbstractAsyncContextManager[Bill] = nullcontext(Bill())
        if self.meter is not None:
            most = largest_reply(request.params) if written else 0.0
            charged = self.meter.charged(read, written, most=most)
        async with AsyncExitStack() as admitted:
            with waiting():
                await admitted.enter_async_context(self.slots.slot(again))
                # The requests before this one may have found the judge down.
                check()
                attempt = await admitted.enter_async_context(turn)
                bill = await admitted.enter_async_context(charged)
            attempt.send()
            yield bill, attempt


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
            After a reply without a known price, there are no further calls; with a price and
            without usage, the largest reply that `max_tokens` allows counts.
        budget: a budget shared with other judges, instead of `max_cost`. Both have no effect on a
            judge that is made with a meter, which charges every HTTP attempt itself.
        price: US dollars per million input and output tokens, to estimate the cost of a call before
            it starts; by default, the price of the judge. The estimate is never lower than the mean
            cost of the model's replies so far plus two standard deviations.
        rpm: requests per minute; `auto` learns the limit from the server.
        tpm: tokens per minute; `auto` learns the limit from the server.
        pace: a pace shared with other judges, instead of `rpm`, `tpm` and `auto`. Each request
            waits for it once. To make every HTTP attempt wait, give the pace to the judge instead.
        purse: the former name of `budget`; it gives a warning, and 0.2 removes it.

    Raises:
        ConfigError: a limit is neither positive nor `auto`.
    """

    @checked
    def __init__(
        self,
        judge: JudgeLike,
        *,
        concurrency: int | Auto = 8,
        max_outages: int = 5,
        max_cost: float | None = None,
        budget: Budget | None = None,
        price: ModelPrice | tuple[float, float] | None = None,
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
        check_cost(max_cost)
        if concurrency != "auto":
            check_concurrent("concurrency", concurrency)
        auto = concurrency if concurrency == "auto" else None
        pace = pace or make_pace(self.model, concurrency=auto, rpm=rpm, tpm=tpm)
        self.concurrency = MOST_CALLS if concurrency == "auto" else concurrency
        self.max_outages = max_outages
        self.budget: Budget = budget or LocalBudget(max_cost)
        inner = self.judge
        while isinstance(inner, JudgeWrapper):
            inner = inner.judge
        known = getattr(inner, "price", None) if price is None else price
        charges_itself = getattr(inner, "meter", None) is not None
        self._prompts: PromptCache | None = getattr(inner, "prompt_cache", None)
        own = price_from(known)
        meter = None if charges_itself else CostMeter(self.budget, self.model, own)
        self.admission = Admission(slots=self.concurrency, meter=meter, pace=pace)
        self.outages = 0
        """Outages since the last reply."""
        self._rejected: JudgeRejected | None = None
        self._down: JudgeDown | None = None
        self._spent: BudgetExceeded | None = None
        self.spared: Callable[[Request], bool] | None = None
        """Whether a request needs no call, because a batch job has it or its reply."""

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
        if self._prompts is None:
            return await self._admitted(request)
        async with self._prompts.turn(request):  # before a slot, the pace and the budget
            return await self._admitted(request)

    async def _admitted(self, request: Request) -> Reply:
        try:
            check = partial(self._check, request)
            admitted = self.admission.admit(request, check=check, again=self._check_up)
            async with admitted as (bill, attempt):
                try:
                    reply = await self.judge.ask(request)
                except BaseException as exc:
                    bill.dollars = cost_before(exc)
                    self._count_failure(exc, attempt)
                    raise
                bill.dollars, bill.replied, attempt.status = reply.cost, True, 200
                if reply.usage is not None:
                    attempt.tokens = reply.usage.input_tokens + reply.usage.output_tokens
                self.outages = 0
        except BudgetExceeded as exc:
            self._spent = exc
            raise
        return reply

    def _check(self, request: Request) -> None:
        """Raise an error if the judge is not to be asked any more."""
        if self.spared is not None and self.spared(request):
            return
        if self._rejected is not None:
            raise JudgeRejected(str(self._rejected))
        if self._spent is not None:  # known before a wait for the pace
            raise BudgetExceeded(str(self._spent))
        self._check_up()

    def _check_up(self) -> None:
        """Raise an error if the judge is down."""
        if self._down is not None:
            raise CircuitOpen(f"not asked: {self._down}, on every request; run again to go on")
        if self.open:
            raise CircuitOpen(
                f"not asked: {self.model} failed {self.outages} times in a row "
                "(limits.max_outages); run again to go on"
            )

    def _count_failure(self, error: BaseException, attempt: Attempt) -> None:
        if not isinstance(error, JudgeError) or isinstance(error, CircuitOpen):
            return
        outage = isinstance(error, JudgeUnavailable) and not isinstance(error, RequestRejected)
        # Any other error is a response of the server.
        self.outages = self.outages + 1 if outage else 0
        attempt.status = None if outage else 400
        if isinstance(error, JudgeRejected):
            self._rejected = error
        if isinstance(error, JudgeDown):
            self._down = error
