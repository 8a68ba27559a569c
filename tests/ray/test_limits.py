"""The limits that workers share, without Ray: the actor is an object of this process."""

from __future__ import annotations

import asyncio

import pytest

from judgekit.core.errors import BudgetExceeded, JudgekitError
from judgekit.judges.rate_headers import CallEnd
from judgekit.ray.limits import LimitsClient, RunLimits, SharedBudget, SharedPace


class Actor:
    """An actor that can be restarted and counts the messages to it."""

    def __init__(self, max_cost=None):
        self.max_cost = max_cost
        self.messages = 0
        self.running = set()
        self.start()

    def start(self):
        self.limits = RunLimits(self.max_cost)

    async def send(self, *arguments):
        self.messages += 1
        while True:
            limits = self.limits
            call = asyncio.ensure_future(limits.exchange(*arguments))
            self.running.add(call)
            try:
                return await call
            except asyncio.CancelledError:
                if limits is self.limits:
                    raise
            finally:
                self.running.discard(call)

    def restart(self):
        """Lose everything; running calls are made again, as Ray does."""
        self.start()
        for call in list(self.running):
            call.cancel()

    def client(self, worker):
        return LimitsClient(worker, self.send)


async def spend(budget, cost, calls, *, asked):
    """Make calls one after the other until the money is spent."""
    for _ in range(calls):
        try:
            number = await budget.reserve("m", cost)
        except BudgetExceeded:
            return
        asked.append(cost)
        await asyncio.sleep(0.002)
        await budget.settle(number, dollars=cost)


def test_workers_together_spend_no_more_than_the_budget():
    async def run():
        actor, asked = Actor(max_cost=1.0), []
        clients = [actor.client(f"{n}:x") for n in range(3)]
        lanes = [
            spend(SharedBudget(client), 0.1, 20, asked=asked) for client in clients for _ in "ab"
        ]
        await asyncio.gather(*lanes)
        return asked, actor.limits._budget.spent

    asked, spent = asyncio.run(run())
    assert len(asked) == 10
    assert spent == pytest.approx(1.0)


def test_estimates_of_all_workers_learn_from_the_replies_of_each():
    async def run():
        actor, started = Actor(max_cost=1.0), []
        budgets = [SharedBudget(actor.client(f"{n}:x")) for n in range(3)]

        async def call(budget):
            number = await budget.reserve("m", 0.001)
            started.append(number)
            await asyncio.sleep(0.02)
            await budget.settle(number, dollars=0.08)

        calls = [call(budget) for budget in budgets for _ in range(60)]
        results = await asyncio.gather(*calls, return_exceptions=True)
        assert {type(result) for result in results} <= {type(None), BudgetExceeded}
        return started

    # The costs come to the actor with the next message: until then, up to 8 calls may run.
    assert 1.0 <= 0.08 * len(asyncio.run(run())) <= 1.0 + 8 * 0.08


def test_a_restarted_actor_learns_again_what_was_spent():
    async def run():
        actor, asked = Actor(max_cost=1.0), []
        clients = [actor.client(f"{n}:x") for n in range(2)]
        lanes = [spend(SharedBudget(client), 0.1, 20, asked=asked) for client in clients]
        work = asyncio.gather(*lanes)
        while len(asked) < 5:
            await asyncio.sleep(0.001)
        actor.restart()
        await work
        return asked

    # One call of each worker may run while the actor restarts.
    assert 10 <= len(asyncio.run(run())) <= 12


def test_a_dead_worker_gives_its_calls_back_and_their_estimate_counts():
    async def run():
        actor = Actor(max_cost=1.0)
        await SharedBudget(actor.client("1:dead")).reserve("m", 0.9)
        await SharedBudget(actor.client("1:new")).reserve("m", 0.2)
        with pytest.raises(TimeoutError):  # 0.9 is spent, 0.2 reserved
            async with asyncio.timeout(0.1):
                await SharedBudget(actor.client("2:x")).reserve("m", 0.1)
        return actor.limits._budget.spent

    assert asyncio.run(run()) == pytest.approx(0.9)


def test_a_reply_of_unknown_cost_ends_the_calls_of_every_worker():
    async def run():
        actor = Actor(max_cost=1.0)
        one, two = (SharedBudget(actor.client(f"{n}:x")) for n in (1, 2))
        await one.settle(await one.reserve("m", 0.1), dollars=None)
        await asyncio.sleep(0.05)
        await two.reserve("m", 0.1)

    with pytest.raises(BudgetExceeded, match="what m costs is not known"):
        asyncio.run(run())


def test_workers_share_one_rate():
    async def run():
        actor = Actor()
        settings = {"rpm": 6_000, "max_wait": 5.0}
        paces = [SharedPace(actor.client(f"{n}:x"), "server", **settings) for n in range(3)]
        started = []

        async def call(pace):
            number = await pace.acquire(10.0)
            started.append(asyncio.get_running_loop().time())
            await pace.settle(number, CallEnd(200, {}, 10.0, 0.0))

        await asyncio.gather(*(call(pace) for pace in paces for _ in range(60)))
        return started, actor

    started, actor = asyncio.run(run())
    # 100 at once, which is one second of the rate, then 100 a second.
    assert started[-1] - started[0] >= 0.75
    assert len(actor.limits._paces) == 1
    # Many calls in one message: 360 were made.
    assert actor.messages < 250


def test_a_cancelled_call_does_not_keep_its_place():
    async def run():
        actor = Actor(max_cost=1.0)
        budget = SharedBudget(actor.client("1:x"))
        number = await budget.reserve("m", 1.0)
        waits = asyncio.create_task(budget.reserve("m", 0.5))
        await asyncio.sleep(0.05)
        waits.cancel()
        await budget.settle(number, dollars=0.0)
        await asyncio.sleep(0.05)
        return actor.limits._budget

    budget = asyncio.run(run())
    assert budget.spent == 0
    assert not budget._reserved


def test_without_the_actor_a_call_fails_with_one_line():
    async def gone(*_):
        raise RuntimeError("The actor died")

    async def run():
        await SharedBudget(LimitsClient("1:x", gone)).reserve("m", 0.1)

    with pytest.raises(JudgekitError, match="limits of the run are not available: The actor died"):
        asyncio.run(run())
