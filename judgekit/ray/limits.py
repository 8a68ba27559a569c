"""The limits of a run with several processes: one actor enforces them for all workers.

A remote call takes about a millisecond of CPU time. A worker therefore sends all requests of
`GATHER` seconds as one message, and receives the requests that are allowed by then.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from judgekit.cassette.mode import RecordMode
from judgekit.core.errors import BudgetExceeded, JudgekitError
from judgekit.judges.budget import LocalBudget
from judgekit.judges.pace import LocalPace
from judgekit.judges.rate_headers import CallEnd

if TYPE_CHECKING:
    from judgekit.suite.resolved import ResolvedSuite

GATHER = 0.01
"""Seconds in which a worker collects messages; much shorter than a call to a judge."""
_POLL = 20.0
"""Seconds after which the actor answers even without news."""
_ABANDONED = CallEnd(status=499)
"""The end of a call whose worker died: neither quickly accepted nor refused."""
NAMESPACE = "judgekit"

Message = tuple[Any, ...]
"""A kind, a number, and plain values."""
Reply = tuple[str, list[tuple[int, str | None]]]
"""The id of the actor's process, and number -> allowed, or the reason for a rejection."""
Send = Callable[[str, list[Message], float, str | None], Awaitable[Reply]]


class _Granted(NamedTuple):
    limit: LocalBudget | LocalPace
    number: int
    dollars: float


class _Worker:
    """The requests of one worker."""

    def __init__(self) -> None:
        self.granted: dict[int, _Granted] = {}
        self.waiting: dict[int, asyncio.Task[None]] = {}
        self.answers: list[tuple[int, str | None]] = []
        self.changed = asyncio.Event()
        self.turn = 0


class RunLimits:
    """The budget and the paces of all workers; an actor of Ray.

    After a restart of the actor, the workers send their pending requests and their costs again.

    Args:
        max_cost: US dollars that the run may spend; `None` means no limit.
    """

    def __init__(self, max_cost: float | None = None) -> None:
        self._id = secrets.token_hex(8)
        self._budget = LocalBudget(max_cost)
        self._paces: dict[str, LocalPace] = {}
        self._workers: dict[str, _Worker] = {}
        self._counted: dict[str, float] = {}
        """Worker -> US dollars that are included in `LocalBudget.spent`."""

    async def exchange(
        self, worker: str, messages: Sequence[Message], spent: float, unpriced: str | None
    ) -> Reply:
        """Receive messages; return the allowed requests as soon as there are any.

        Args:
            worker: `OWNER:ID`. A new worker of an owner, such as a shard, replaces the earlier,
                dead one.
            messages: the messages since the last call.
            spent: US dollars of all replies of the worker.
            unpriced: a model with a reply of unknown cost.
        """
        if worker not in self._workers:
            owner = worker.partition(":")[0]
            for other in [w for w in self._workers if w.partition(":")[0] == owner]:
                await self.forget(other)
            self._workers[worker] = _Worker()
        state = self._workers[worker]
        for message in messages:
            await self._take(state, *message)
        self.count({worker: spent})
        if unpriced is not None:
            self._budget.unpriced.setdefault(unpriced, 1)
        state.turn += 1
        turn = state.turn
        state.changed.set()  # ends an earlier call of this worker
        with suppress(TimeoutError):
            async with asyncio.timeout(_POLL):
                while state.waiting and not state.answers and state.turn == turn:
                    state.changed.clear()
                    await state.changed.wait()
        answers, state.answers = state.answers, []
        return self._id, answers

    def count(self, spent: Mapping[str, float]) -> None:
        """Count the costs of workers, given as totals to avoid double counting."""
        for worker, dollars in spent.items():
            self._budget.spent += dollars - self._counted.get(worker, 0.0)
            self._counted[worker] = dollars

    async def forget(self, worker: str) -> None:
        """Release all resources of a worker; the estimates of its running calls count as spent."""
        if state := self._workers.pop(worker, None):
            for task in state.waiting.values():
                task.cancel()
            for limit, number, dollars in state.granted.values():
                if isinstance(limit, LocalBudget):
                    await limit.settle(number, dollars=dollars, replied=False)
                else:
                    await limit.settle(number, _ABANDONED)

    async def _take(self, state: _Worker, kind: str, number: int, *values: Any) -> None:
        if kind in ("reserve", "acquire"):
            if number not in state.waiting and number not in state.granted:
                task = asyncio.create_task(self._grant(state, kind, number, *values))
                state.waiting[number] = task
            return
        if waiting := state.waiting.pop(number, None):
            waiting.cancel()
        if granted := state.granted.pop(number, None):
            if isinstance(granted.limit, LocalBudget):
                # Paid or dropped: the cost is part of the worker's total.
                await granted.limit.release(granted.number, cost=values[0] if values else None)
            else:
                end = CallEnd(*values) if kind == "ended" else _ABANDONED
                await granted.limit.settle(granted.number, end)

    async def _grant(self, state: _Worker, kind: str, number: int, *values: Any) -> None:
        problem = None
        try:
            if kind == "reserve":
                model, dollars = values
                inner = await self._budget.reserve(model, dollars)
                state.granted[number] = _Granted(self._budget, inner, dollars)
            else:
                server, settings, tokens, again = values
                if server not in self._paces:
                    self._paces[server] = LocalPace(server, **settings)
                pace = self._paces[server]
                inner = await pace.acquire(tokens, again)
                state.granted[number] = _Granted(pace, inner, 0.0)
        except BudgetExceeded as exc:
            problem = str(exc)
        state.waiting.pop(number, None)
        state.answers.append((number, problem))
        state.changed.set()


class LimitsClient:
    """The client of the limits in the process of a worker.

    Args:
        worker: `OWNER:ID`; the id differs for each process of the owner, such as a shard.
        send: calls `RunLimits.exchange`.
    """

    def __init__(self, worker: str, send: Send) -> None:
        self.worker = worker
        self.spent = 0.0
        self.unpriced: str | None = None
        self._send = send
        self._actor: str | None = None
        self._number = 0
        self._queue: list[Message] = []
        self._open: dict[int, tuple[Message, asyncio.Future[None]]] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._sending: set[asyncio.Future[Reply]] = set()

    async def ask(self, kind: str, *values: Any) -> int:
        """Send a request and wait until it is allowed; return its number.

        Raises:
            BudgetExceeded: the money is spent.
        """
        self._number += 1
        number = self._number
        message = (kind, number, *values)
        allowed = asyncio.get_running_loop().create_future()
        self._open[number] = message, allowed
        self.tell(message)
        try:
            await allowed
        except asyncio.CancelledError:
            self.tell(("dropped", number))
            raise
        finally:
            self._open.pop(number, None)
        return number

    def tell(self, message: Message) -> None:
        """Send a message that needs no answer."""
        self._queue.append(message)
        self._plan()

    def _plan(self) -> None:
        """Send soon, if there is something to send or to wait for."""
        if self._timer is None and (self._queue or (self._open and not self._sending)):
            self._timer = asyncio.get_running_loop().call_later(GATHER, self._flush)

    def _flush(self) -> None:
        self._timer = None
        messages, self._queue = self._queue, []
        reply = self._send(self.worker, messages, self.spent, self.unpriced)
        sending = asyncio.ensure_future(reply)
        self._sending.add(sending)
        sending.add_done_callback(self._received)

    def _received(self, sending: asyncio.Future[Reply]) -> None:
        self._sending.discard(sending)
        if sending.cancelled():
            return
        if error := sending.exception():
            problem = JudgekitError(f"the limits of the run are not available: {error}")
            for _, allowed in self._open.values():
                if not allowed.done():
                    allowed.set_exception(problem)
            return
        actor, answers = sending.result()
        if self._actor not in (None, actor):  # the actor was restarted without its state
            self._queue += [message for message, _ in self._open.values()]
        self._actor = actor
        for number, problem_text in answers:
            if (waiting := self._open.get(number)) is None or waiting[1].done():
                continue
            if problem_text is None:
                waiting[1].set_result(None)
            else:
                waiting[1].set_exception(BudgetExceeded(problem_text))
        self._plan()


def start_limits(ray: Any, suite: ResolvedSuite, name: str) -> Any:
    """Start the actor with the limits on the driver's node; return `None` without limits.

    Args:
        ray: the module.
        suite: the suite.
        name: the name under which workers find the actor.
    """
    limits = suite.file.limits
    shared = limits.paced or limits.max_cost is not None
    if suite.record is RecordMode.NONE or not shared:
        return None
    strategies = import_module("ray.util.scheduling_strategies")
    node = ray.get_runtime_context().get_node_id()
    actor = ray.remote(RunLimits).options(
        name=name,
        namespace=NAMESPACE,
        num_cpus=0,
        max_restarts=-1,
        max_task_retries=-1,
        scheduling_strategy=strategies.NodeAffinitySchedulingStrategy(node, soft=True),
    )
    return actor.remote(limits.max_cost)


def connect_limits(actor: Any, owner: str) -> LimitsClient:
    """Return a client of the actor.

    Args:
        actor: the actor.
        owner: the task of this process; a later process of the same owner replaces it.
    """

    async def send(*arguments: Any) -> Reply:
        reply: Reply = await actor.exchange.remote(*arguments)
        return reply

    return LimitsClient(f"{owner}:{secrets.token_hex(8)}", send)


class SharedBudget:
    """The budget of a run in a worker; see `Budget`."""

    def __init__(self, client: LimitsClient) -> None:
        self._client = client
        self._models: dict[int, str] = {}

    async def reserve(self, model: str, dollars: float) -> int:
        """Reserve the estimated cost of a call."""
        number = await self._client.ask("reserve", model, dollars)
        self._models[number] = model
        return number

    async def settle(
        self, reservation: int, *, dollars: float | None, replied: bool = True
    ) -> None:
        """Replace a reservation by the cost, without waiting for the actor."""
        model = self._models.pop(reservation)
        if dollars is None:
            self._client.unpriced = model
        else:
            self._client.spent += dollars
        self._client.tell(("paid", reservation, dollars if replied else None))


class SharedPace:
    """The pace of the calls of all workers to one server, in a worker; see `Pace`.

    Takes the arguments of `LocalPace`.
    """

    def __init__(self, client: LimitsClient, name: str, **settings: Any) -> None:
        self._client = client
        self._name = name
        self._settings = settings

    async def acquire(self, tokens: float, again: bool = False) -> int:
        """Wait until a call may start."""
        return await self._client.ask("acquire", self._name, self._settings, tokens, again)

    async def settle(self, call: int, end: CallEnd) -> None:
        """End a call, without waiting for the actor."""
        self._client.tell(("ended", call, *end._replace(headers=dict(end.headers))))
