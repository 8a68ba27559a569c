"""Runs against a server in this process, on a clock that only waits move."""

from __future__ import annotations

import asyncio
import json
import random
import selectors
from collections.abc import Callable, Coroutine, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from judgekit.core.case import Case
from judgekit.core.sanitiser import Sanitiser
from judgekit.core.score import Failure
from judgekit.judges.limits import LimitedJudge
from judgekit.judges.litellm import LiteLLMJudge
from judgekit.judges.pace import LocalPace
from judgekit.judges.sent_schema import sent_schema
from judgekit.judges.translation import ServerError
from judgekit.judges.transport import Response, Sending, Server, Via
from judgekit.metrics.rubric import RubricMetric
from judgekit.runner.evaluation import evaluate
from tests.live.server import TOKEN, completion

MOST_SECONDS, MOST_STEPS = 20_000.0, 2_000_000
"""Simulated seconds and turns of the loop after which a run ends: it must not wait for ever."""
_STEP = 1e-7
"""Simulated seconds of a turn of the loop: a wait below the resolution of floats ends, too."""


class _Clock(selectors.DefaultSelector):
    """Adds the time that a loop would wait to the clock instead of waiting."""

    now, steps = 0.0, 0

    def select(self, timeout: float | None = None) -> Any:
        events = super().select(0 if timeout is not None else None)
        self.now += _STEP if events else max(_STEP, timeout or 0.0)
        self.steps += 1
        if self.now > MOST_SECONDS or self.steps > MOST_STEPS:
            raise TimeoutError(f"the run goes on after {self.now:g} s and {self.steps} turns")
        return events


class _Loop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self.clock = _Clock()
        super().__init__(self.clock)
        self._clock_resolution = 1e-6  # a shorter wait would not move the clock

    def time(self) -> float:
        return self.clock.now


def virtual(work: Coroutine[Any, Any, Any]) -> Any:
    """Return the result of some work, on a clock that begins at 0."""
    random.seed(7)  # waits between attempts are random
    with asyncio.Runner(loop_factory=_Loop) as runner:
        return runner.run(work)


@dataclass
class Refusing:
    """A server that answers after a time, and refuses what its rule says.

    Args:
        refuses: called with the case and the time; says whether to refuse, and for how long.
        latency: seconds of an answer; a refusal takes `refusal`.
    """

    refuses: Callable[[str, float], Mapping[str, str] | None]
    latency: float = 1.0
    refusal: float = 0.02
    spread: float = 0.0
    """Share of the latency by which it differs from call to call."""
    status: int = 429
    http: int = 429
    """The HTTP status of a refusal; 200 if only the body tells it."""
    calls: list[tuple[float, str, int]] = field(default_factory=list)
    """Time, case and status of each call."""
    answered: dict[str, float] = field(default_factory=dict)
    most: int = 0
    """Most calls in flight."""
    _running: int = 0
    via: Via = "direct"
    reason: str = "a test"

    def load(self) -> None:
        pass

    def missing_keys(self) -> list[str]:
        return []

    def known_parameters(self) -> None:
        return None

    async def chat(
        self, messages: list[dict[str, Any]], form: Any, mode: Any, sending: Sending
    ) -> Response:
        found = TOKEN.search(messages[-1]["content"])
        assert found is not None
        token, loop = found.group(), asyncio.get_running_loop()
        headers = self.refuses(token, loop.time())
        status = 200 if headers is None else self.status
        self.calls.append((loop.time(), token, status))
        self._running += 1
        self.most = max(self.most, self._running)
        factor = 1 + self.spread * random.uniform(-1, 1)
        try:
            await asyncio.sleep(self.latency * factor if headers is None else self.refusal)
        finally:
            self._running -= 1
        body = sending.call.begin(200 if headers is None else self.http, headers or {})
        if headers is not None:
            list(body.feed(b'{"error": {"message": "slow down", "code": %d}}' % status))
            body.finish()
            raise ServerError("slow down", status=status, headers=headers)
        self.answered[token] = loop.time()
        schema = {"json_schema": {"schema": sent_schema(form, None).json_schema}}
        data = completion({"messages": messages, "response_format": schema})
        list(body.feed(json.dumps(data).encode()))
        body.finish()
        return Response(sending.call.data() or {})


class _Judge(LiteLLMJudge):
    def __init__(self, server: Refusing, **options: Any) -> None:
        self._server = server
        quick: dict[str, Any] = {"mode": "json_schema", "api_key": "k", "price": (1.0, 1.0)}
        super().__init__("openai/judge", **quick | options)

    def _transport_to(self, server: Server) -> Any:
        return self._server


class Ended(NamedTuple):
    """How a run ended."""

    kinds: dict[str, str]
    """Case -> `scored` or the kind of failure."""
    others: float
    """When the last answer came."""
    whole: float
    """When the run ended."""


def run(
    server: Refusing,
    cases: int,
    *,
    concurrency: int | Literal["auto"] = 8,
    rpm: float | Literal["auto"] | None = None,
    tpm: Literal["auto"] | None = None,
    retries: int = 3,
    max_outages: int = 0,
    sanitiser: Sanitiser | None = None,
) -> Ended:
    """Evaluate cases against a server, with the defaults of a suite."""
    most = 256 if concurrency == "auto" else concurrency
    auto = "auto" if concurrency == "auto" else None
    paced = auto or rpm or tpm

    async def running() -> Ended:
        pace = LocalPace("s", concurrency=auto, rpm=rpm, tpm=tpm) if paced else None
        judge = _Judge(server, pace=pace, retries=retries)
        await judge._calls.ready()  # in a thread, which the clock does not know
        judge._calls._sanitiser = sanitiser or judge._calls._sanitiser
        limited = LimitedJudge(judge, concurrency=most, max_outages=max_outages)
        metric = RubricMetric(criteria={"right": "Is it right?"}, judge=limited)
        report = await evaluate(
            (Case(id=token, output=f"The answer to {token}.") for token in tokens(cases)),
            [metric],
            window=2 * most,
        )
        rows = [row.rows[0] for row in report.results]
        kinds = {
            row.case: row.result.kind if isinstance(row.result, Failure) else "scored"
            for row in rows
        }
        whole = asyncio.get_running_loop().time()
        return Ended(kinds, max(server.answered.values(), default=0.0), whole)

    ended: Ended = virtual(running())
    return ended


def tokens(count: int) -> list[str]:
    """Return the ids of the cases."""
    return [f"case-{number:05d}" for number in range(count)]


def always(refused: Iterable[int], *, retry_after: str | None = None) -> Any:
    """Return a rule that refuses some cases by number, always."""
    bad = {f"case-{number:05d}" for number in refused}
    headers = {} if retry_after is None else {"retry-after": retry_after}
    return lambda token, now: headers if token in bad else None
