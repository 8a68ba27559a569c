from __future__ import annotations

import asyncio
import contextlib
from typing import Any

import pytest

from judgekit.core.errors import (
    BudgetExceeded,
    CircuitOpen,
    ConfigError,
    JudgekitError,
    JudgeRefused,
    JudgeRejected,
    JudgeUnavailable,
)
from judgekit.core.judge_settings import JudgeSettings
from judgekit.core.request import ChatMessage, Form, Question, Reply, Request, Try
from judgekit.judges.budget import LocalBudget
from judgekit.judges.fake import FakeJudge
from judgekit.judges.limits import LimitedJudge
from judgekit.judges.rate_headers import CallEnd

FORM = Form(questions=(Question(id="right", kind="boolean", text="Is it right?"),))


def request(number: int = 0) -> Request:
    messages = (ChatMessage(role="user", content=f"Judge {number}."),)
    return Request(messages=messages, form=FORM, model="fake/judge")


def priced(cost: float | None) -> Reply:
    return Reply(tries=(Try(text="{}", finish="stop"),), cost=cost)


class Says:
    """A script that says or raises one thing after another."""

    def __init__(self, *said: Any) -> None:
        self.said = list(said)

    def __call__(self, _: Request) -> Any:
        said = self.said.pop(0)
        if isinstance(said, Exception):
            raise said
        return said


def outcomes(judge: LimitedJudge, count: int) -> list[str]:
    async def asking() -> list[str]:
        names = []
        for number in range(count):
            try:
                await judge.ask(request(number))
            except JudgekitError as exc:
                names.append(type(exc).__name__)
            else:
                names.append("ok")
        return names

    return asyncio.run(asking())


def test_outages_in_a_row_open_the_circuit() -> None:
    fake = FakeJudge(Says(*[JudgeUnavailable("down")] * 2))
    judge = LimitedJudge(fake, max_outages=2)

    assert outcomes(judge, 4) == ["JudgeUnavailable"] * 2 + ["CircuitOpen"] * 2
    assert judge.open
    assert len(fake.asked) == 2


def test_any_word_of_the_judge_begins_the_count_anew() -> None:
    down = JudgeUnavailable("down")
    script = Says(down, priced(0), down, JudgeRefused("no"), down, priced(0))

    assert "CircuitOpen" not in outcomes(LimitedJudge(FakeJudge(script), max_outages=2), 6)


def test_no_bound_on_outages_means_always_ask() -> None:
    fake = FakeJudge(Says(*[JudgeUnavailable("down")] * 9))

    outcomes(LimitedJudge(fake, max_outages=0), 9)

    assert len(fake.asked) == 9


def test_rejection_holds_for_all_later_requests() -> None:
    fake = FakeJudge(Says(JudgeRejected("HTTP 401: no")))
    judge = LimitedJudge(fake)

    assert outcomes(judge, 3) == ["JudgeRejected"] * 3
    assert len(fake.asked) == 1


def test_money_is_counted() -> None:
    judge = LimitedJudge(FakeJudge(Says(priced(0.6), priced(0.6))), max_cost=1.0)

    assert outcomes(judge, 3) == ["ok", "ok", "BudgetExceeded"]
    assert judge.budget.spent == pytest.approx(1.2)


def test_money_that_cannot_be_counted_ends_the_asking_only_if_it_is_bounded() -> None:
    bounded = LimitedJudge(FakeJudge(Says(priced(None))), max_cost=1.0)
    unbounded = LimitedJudge(FakeJudge(Says(priced(None), priced(None))))

    assert outcomes(bounded, 2) == ["ok", "BudgetExceeded"]
    assert outcomes(unbounded, 2) == ["ok", "ok"]


def test_errors_say_what_happened() -> None:
    judge = LimitedJudge(FakeJudge(Says(JudgeUnavailable("down"))), max_outages=1)
    outcomes(judge, 1)

    with pytest.raises(CircuitOpen, match="not asked: fake/judge failed 1 times in a row"):
        asyncio.run(judge.ask(request()))
    spent = LimitedJudge(FakeJudge(Says(priced(2.0))), max_cost=1.5)
    outcomes(spent, 1)
    with pytest.raises(BudgetExceeded, match=r"not asked: \$2.0000 of \$1.5 is spent"):
        asyncio.run(spent.ask(request()))


def test_limits_pass_on_what_goes_into_keys() -> None:
    class Named(FakeJudge):
        settings = JudgeSettings(identity="qwen3-8b-q4", mode="text", params={"seed": 1})

    judge = LimitedJudge(Named())

    assert (judge.model, judge.settings) == ("fake/judge", Named.settings)


class Slow(FakeJudge):
    """Replies in the next turn of the event loop, and counts its calls."""

    most = 0
    running = 0

    async def ask(self, request: Request) -> Reply:
        self.running += 1
        self.most = max(self.most, self.running)
        try:
            await asyncio.sleep(0)
            return await super().ask(request)
        finally:
            self.running -= 1


def gathered(judges: list[LimitedJudge], count: int) -> list[str]:
    """Ask all judges at once, and return what came of each request."""

    async def asking() -> list[Any]:
        asks = [judge.ask(request(number)) for number in range(count) for judge in judges]
        return await asyncio.gather(*asks, return_exceptions=True)

    return [type(result).__name__ for result in asyncio.run(asking())]


@pytest.mark.parametrize("price", [None, (0.0, 100_000.0)])
def test_concurrent_calls_of_several_judges_keep_one_budget(price: Any) -> None:
    budget = LocalBudget(1.0)
    inner = [Slow(lambda _: priced(0.125), model=f"fake/{name}") for name in "ab"]
    judges = [LimitedJudge(judge, budget=budget, price=price, concurrency=16) for judge in inner]

    kinds = gathered(judges, 100)

    in_flight = sum(judge.most for judge in inner)
    assert budget.spent <= 1.0 + 0.125 * in_flight
    assert kinds.count("BudgetExceeded") == 200 - kinds.count("Reply")
    if price is not None:  # each call reserves 6 dollars, so one runs at a time
        assert budget.spent == pytest.approx(1.0)
        assert in_flight == 2


def test_former_name_of_the_budget_warns() -> None:
    budget = LocalBudget(1.0)
    with pytest.warns(DeprecationWarning, match="`purse` of LimitedJudge is now `budget`"):
        assert LimitedJudge(FakeJudge(), purse=budget).budget is budget


def test_reservation_is_released_after_any_end_of_a_call() -> None:
    down, refused = JudgeUnavailable("down"), JudgeRefused("no")
    fake = Slow(Says(down, refused, priced(0.1), ValueError("broken"), priced(0.1)))
    judge = LimitedJudge(fake, max_cost=0.2, price=(0.0, 1_000.0))

    async def asking() -> None:
        for number in range(4):
            with contextlib.suppress(JudgekitError, ValueError):
                await judge.ask(request(number))
        task = asyncio.ensure_future(judge.ask(request(5)))
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        async with asyncio.timeout(5):
            await judge.ask(request(6))

    asyncio.run(asking())

    # The estimate of the cancelled call counts: the server may have replied.
    assert judge.budget.spent == pytest.approx(0.1 + 0.06 + 0.1)


def test_call_that_waits_for_the_budget_may_be_cancelled() -> None:
    judge = LimitedJudge(Slow(lambda _: priced(0.5)), max_cost=1.0, price=(0.0, 100_000.0))

    async def asking() -> list[str]:
        tasks = [asyncio.ensure_future(judge.ask(request(number))) for number in range(3)]
        await asyncio.sleep(0)
        tasks[1].cancel()
        done = await asyncio.gather(*tasks, return_exceptions=True)
        return [type(result).__name__ for result in done]

    assert asyncio.run(asking()) == ["Reply", "CancelledError", "Reply"]


def test_reply_without_a_price_ends_concurrent_calls() -> None:
    fake = Slow(lambda _: priced(None))
    judge = LimitedJudge(fake, max_cost=1.0, concurrency=4)

    kinds = gathered([judge], 20)

    assert kinds.count("Reply") == fake.most == 4
    assert kinds.count("BudgetExceeded") == 16


@pytest.mark.parametrize(
    "limits", [{"rpm": -1}, {"tpm": 0}, {"rpm": "fast"}, {"concurrency": 0}, {"rpm": float("nan")}]
)
def test_limit_is_positive_or_auto(limits: Any) -> None:
    with pytest.raises(ConfigError, match=r"\w+ (is|must be) .*a (positive )?number or 'auto'"):
        LimitedJudge(FakeJudge(), **limits)


def test_judge_without_http_calls_is_paced_as_a_whole() -> None:
    class Counted:
        acquired = settled = 0

        async def acquire(self, tokens: float) -> int:
            assert tokens > 0
            self.acquired += 1
            return self.acquired

        async def settle(self, call: int, end: CallEnd) -> None:
            assert (call, end.status) == (self.acquired, 200)
            self.settled += 1

    pace = Counted()

    assert outcomes(LimitedJudge(FakeJudge(), pace=pace), 3) == ["ok"] * 3
    assert (pace.acquired, pace.settled) == (3, 3)


@pytest.mark.parametrize(
    ("cost", "spent", "unpriced"), [(0.25, 0.25, {}), (None, 0.0, {"fake/judge": 1})]
)
def test_an_error_says_what_was_paid_before_it(
    cost: float | None, spent: float, unpriced: dict[str, int]
) -> None:
    error = JudgeUnavailable("down")
    error.cost = cost
    budget = LocalBudget(1.0)

    outcomes(LimitedJudge(FakeJudge(Says(error)), budget=budget), 1)

    assert (budget.spent, budget.unpriced) == (spent, unpriced)


def test_requests_wait_for_slot_pace_and_budget_in_this_order() -> None:
    steps: list[str] = []

    class Told(LocalBudget):
        async def reserve(self, model: str, dollars: float) -> int:
            steps.append("reserve")
            return await super().reserve(model, dollars)

        async def settle(
            self, reservation: int, *, dollars: float | None, replied: bool = True
        ) -> None:
            steps.append("settle")
            await super().settle(reservation, dollars=dollars, replied=replied)

    class Turn:
        async def acquire(self, tokens: float) -> int:
            steps.append("acquire")
            return 1

        async def settle(self, call: int, end: CallEnd) -> None:
            steps.append(f"end {end.status}")

    def script(asked: Request) -> Reply:
        steps.append("ask")
        return priced(0.5)

    judge = LimitedJudge(FakeJudge(script), concurrency=1, budget=Told(2.0), pace=Turn())
    outcomes(judge, 2)

    assert steps == ["acquire", "reserve", "ask", "settle", "end 200"] * 2


def test_budget_is_checked_after_the_wait_for_the_pace() -> None:
    class OneByOne:
        """Lets a call start when the calls before it have ended."""

        def __init__(self) -> None:
            self.lock = asyncio.Lock()

        async def acquire(self, tokens: float) -> int:
            await self.lock.acquire()
            return 1

        async def settle(self, call: int, end: CallEnd) -> None:
            self.lock.release()

    fake = Slow(lambda _: priced(0.4))
    judge = LimitedJudge(fake, max_cost=1.0, price=(0.0, 1.0), concurrency=64, pace=OneByOne())

    kinds = gathered([judge], 64)

    assert kinds.count("Reply") == 3
    assert judge.budget.spent == pytest.approx(1.2)


@pytest.mark.parametrize("concurrency", [1, 8, 64, 256])
def test_costly_replies_overrun_a_budget_by_the_calls_before_the_first_reply_alone(
    concurrency: int,
) -> None:
    # An answer is estimated at 60 tokens, and has 80 times as many.
    inner = Slow(lambda _: priced(0.048))
    judge = LimitedJudge(inner, max_cost=1.0, price=(0.0, 10.0), concurrency=concurrency)

    kinds = gathered([judge], 400)

    assert inner.most <= concurrency
    # After the first reply, a call reserves its true cost.
    assert 1.0 <= judge.budget.spent <= 1.0 + 0.048 + 1e-9
    assert kinds.count("Reply") == 21


def test_jury_with_costly_replies_keeps_one_budget() -> None:
    budget = LocalBudget(1.0)
    inner = [Slow(lambda _: priced(0.048), model=f"fake/{name}") for name in "abc"]
    judges = [LimitedJudge(one, budget=budget, price=(0.0, 10.0), concurrency=64) for one in inner]

    gathered(judges, 100)

    # Each member learns from its first reply; up to 8 of its calls run before.
    assert max(one.most for one in inner) <= 8
    assert 1.0 <= budget.spent <= 1.0 + 3 * 8 * 0.048


@pytest.mark.parametrize("concurrency", [8, 64, 256])
def test_few_calls_run_until_the_first_reply_is_priced(concurrency: int) -> None:
    inner = Slow(lambda _: priced(1.0))
    judge = LimitedJudge(inner, max_cost=1.0, price=(0.0, 1.0), concurrency=concurrency)

    gathered([judge], 400)

    assert len(inner.asked) == inner.most == 8


def test_estimate_learns_the_spread_of_the_costs() -> None:
    budget = LocalBudget(10.0)

    async def running() -> int:
        for cost in (0.5, 1.5):  # mean 1, standard deviation 0.5
            await budget.settle(await budget.reserve("m", 0.0), dollars=cost)
        await budget.settle(await budget.reserve("m", 0.0), dollars=0.0, replied=False)
        count = 0
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(0.01):
                while True:
                    await budget.reserve("m", 0.1)
                    count += 1
        return count

    assert asyncio.run(running()) == 4  # 8 dollars are left, each call may need 2


def test_reply_of_unknown_usage_counts_as_the_largest_one() -> None:
    fake = FakeJudge(lambda _: priced(None))
    judge = LimitedJudge(fake, max_cost=1.0, price=(0.0, 100.0))

    kinds = outcomes(judge, 4)

    # 4,096 tokens are assumed where params have no max_tokens.
    assert kinds == ["ok"] * 3 + ["BudgetExceeded"]
    assert judge.budget.spent == pytest.approx(3 * 0.4096)
