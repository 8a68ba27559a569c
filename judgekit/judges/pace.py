"""The pace of the calls to one server: it decides when the next call may start."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

from judgekit.core.limits import MOST_CALLS
from judgekit.judges.allowance import FIRST_CALLS, HARD_CUT, Allowance, Bound, Learnt, Started
from judgekit.judges.rate_headers import NOT_SENT, REFUSED, CallEnd, read_retry_after

if TYPE_CHECKING:
    import asyncio

Limit = float | Literal["auto"] | None
"""A limit: a number, `auto` to learn it from the server, or none."""
_SOON_SECONDS = 10.0
"""If a second refusal comes within this number of seconds, a limit is far too high."""
_TRIAL = 1.0
"""Seconds within which a server refuses a call."""
_LONG = 15.0
"""A call that skips a wait of at least this many seconds is evidence against the headers."""
_SLOW = 3.0
"""Tolerated increase of latency; up to about this factor, batching servers gain throughput."""
_CALM = 200
"""Accepted calls in a row, while no limit is learnt, after which a refusal is doubted again."""


class _Limits(NamedTuple):
    """What was learnt at some time."""

    calls: Learnt
    rates: list[Learnt]


class _Trial:
    """The calls after a doubted refusal: half as many start as end, until one of them ends."""

    def __init__(self, after: int) -> None:
        self.after = after
        """The last call that had started when the refused one did."""
        self.started = self.ended = 0

    def ends(self, number: int, status: int | None) -> bool:
        """Count the end of a call; return whether it ends the trial."""
        self.ended += 1
        return number > self.after and status != NOT_SENT

    @property
    def waits(self) -> bool:
        """Whether another call must end before the next may start."""
        return self.started > self.ended // 2


class Limiter:
    """The limits of one server.

    Args:
        name: the server in log messages.
        concurrency: `auto`, or no limit here.
        rpm: requests per minute: a number, `auto`, or no limit.
        tpm: tokens per minute.
        max_wait: longest wait because of a header, in seconds.
    """

    def __init__(
        self, name: str, concurrency: Limit, rpm: Limit, tpm: Limit, max_wait: float
    ) -> None:
        self.name = name
        self.max_wait = max_wait
        self.kinds = (Allowance("requests", rpm, max_wait), Allowance("tokens", tpm, max_wait))
        first = FIRST_CALLS if concurrency == "auto" else None
        self.calls = Learnt(first, per_second=False, most=MOST_CALLS)
        """Concurrent calls."""
        self._running: dict[int, Started] = {}
        self._number = 0
        self._until = 0.0
        """End of the pause that a refused call caused."""
        self._cut = 0
        """The last call that had started when a limit was lowered; a refusal of this or an earlier
        call does not lower it again."""
        self._cut_at = -math.inf
        self._refusals = 0
        """Number of consecutive refusals."""
        self._unsure = False
        """Whether a pause is ending that the server did not ask for."""
        self._fresh = 0
        """Running calls that started after the last refusal."""
        self._bound: Bound = ""
        self._latency = self._usual = 0.0
        """Duration of a call in seconds: recently, and when the server is not busy."""
        self._logged: dict[str, float] = {}
        self._doubts = True
        """Whether the next refusal may be about its request alone, so that it lowers nothing."""
        self._trial: _Trial | None = None
        self._calm = 0
        """Calls that were accepted since the last refusal."""
        self._unexplained = 0
        """Refusals that may have been about the server, since `_before`."""
        self._before: _Limits | None = None
        """The limits before the first of them."""

    def wait(self, tokens: float, *, now: float, since: float) -> float:
        """Return the seconds until a call may start: 0 for now, infinity if another must end first.

        Args:
            tokens: estimated tokens of the call.
            now: the time in seconds.
            since: when the call became the next to start.
        """
        self._bound = self._bound if now > since else ""
        most = self.calls.value
        if most is not None and len(self._running) >= max(1, int(most)):
            self._bound = "calls"
            return math.inf
        if self._trial is not None and self._running and self._trial.waits:
            return math.inf
        if self._until > now:
            return self._until - now
        if self._unsure and self._fresh and now < self._until + _TRIAL:
            return self._until + _TRIAL - now  # one call tests whether the server accepts again
        requests, counted = self.kinds
        rate = max(requests.wait(1.0, now), counted.wait(tokens, now))
        if rate > 0:
            self._bound = "rate"
        named = max(requests.wait_for_headers(1.0, now), counted.wait_for_headers(tokens, now))
        return max(rate, min(named, max(0.0, since + self.max_wait - now)))

    def start(self, tokens: float, *, now: float, since: float) -> int:
        """Start a call; return its number."""
        pairs = list(zip(self.kinds, (1.0, tokens), strict=True))
        forced = tuple(k.name for k, unit in pairs if k.wait_for_headers(unit, now) > _LONG)
        for kind, unit in pairs:
            kind.take(unit)
        self._number += 1
        marks = tuple(kind.started for kind in self.kinds)
        self._fresh += 1
        if self._trial is not None:
            self._trial.started += 1
        self._running[self._number] = Started(self._number, now, tokens, self._bound, forced, marks)
        return self._number

    def end(self, number: int, end: CallEnd, *, now: float) -> None:
        """End a call; see `Pace.settle`."""
        if (call := self._running.pop(number, None)) is None:
            return
        if self._trial is not None and self._trial.ends(number, end.status):
            self._trial = None
        fresh = number > self._cut
        self._fresh -= fresh
        refused = end.status in REFUSED
        used = end.tokens if end.tokens is not None else 0.0 if refused else call.tokens
        self.kinds[1].settle(call, call.tokens - used)
        if refused and end.alone:
            self._explain(end.explained)
            return  # its headers would hold the others back, too
        if refused:
            self._blame()
        empty = [
            kind
            for kind, mark in zip(self.kinds, call.marks, strict=True)
            if kind.observe(end.headers, call, now, mark)
        ]
        if refused and not empty and self._is_doubted(call):
            return
        if refused or end.status is None:
            self._refuse(call, end, empty, now)
            return
        self._calm += 1
        if fresh:
            self._refusals, self._unsure = 0, False
        for kind, units in zip(self.kinds, (1.0, used), strict=True):
            kind.accept(units, at=call.at, bound=call.bound == "rate", fresh=fresh)
            if kind.name in call.forced and kind.lied():
                self._log("%s: its headers about %s are wrong; they are ignored", kind.name)
        if fresh:
            self.calls.accept(bound=call.bound == "calls")
        if 200 <= end.status < 300:
            self._time(call, now, end.seconds)

    def forget_calls(self) -> None:
        """Discard the running calls: their event loop has ended."""
        self._running.clear()
        self._fresh = 0
        self._trial = None

    def _blame(self) -> None:
        """Count a refusal that may be about the server."""
        if self._calm >= _CALM or not self._unexplained:
            self._unexplained, self._before = 0, self._limits()
        self._unexplained += 1

    def _explain(self, refusals: int) -> None:
        """Take back refusals that were about their request alone, with what they lowered."""
        self._doubts, self._calm = True, 0
        self._unexplained = max(0, self._unexplained - refusals)
        if not refusals or self._unexplained or self._before is None:
            return
        self._refusals, self._unsure = 0, False
        self._until = -math.inf
        self.calls = self.calls.at_least(self._before.calls)
        for kind, rate in zip(self.kinds, self._before.rates, strict=True):
            kind.rate = kind.rate.at_least(rate)

    def _limits(self) -> _Limits:
        return _Limits(replace(self.calls), [replace(kind.rate) for kind in self.kinds])

    def _is_doubted(self, call: Started) -> bool:
        """Return whether a refusal may be about its request alone; then others try the server.

        A server with too many calls refuses several requests. One that refuses a single one, whose
        content it dislikes, would otherwise pause and slow down all others.
        """
        learnt = self.calls.found or any(kind.rate.found for kind in self.kinds)
        doubts = self._doubts or (self._calm >= _CALM and not learnt)
        self._doubts, self._calm = False, 0
        if doubts:
            self._trial = _Trial(after=call.number)
        return doubts

    def _refuse(self, call: Started, end: CallEnd, empty: list[Allowance], now: float) -> None:
        """Lower a limit after a call without an answer, or one that the server refused."""
        soon = now < max(self._cut_at, self._until) + _SOON_SECONDS
        asked = None if end.status is None else read_retry_after(end.headers)
        if asked is not None and asked <= self.max_wait:
            self._until = max(self._until, now + asked)
        if call.number <= self._cut:
            return
        self._lowered(now)
        if end.status is None:
            self._fewer_calls(float(len(self._running)), soon=soon)
            return
        if empty:
            for kind in empty:
                kind.window = True  # refused although the refill rate allowed the call
            return
        self._refusals += 1
        self._unsure = asked is None
        guessed = min(self.max_wait, 2.0 ** min(self._refusals - 1, 30))
        pause = guessed if asked is None else asked
        if pause <= self.max_wait:
            self._until = max(self._until, now + pause)
        known = any(kind.rate.value is not None for kind in self.kinds)
        again = self._refusals > 1
        if self._running and not again and (call.bound == "calls" or not known):
            self._fewer_calls(HARD_CUT * len(self._running), soon=soon)
            if known:
                return
        running = (float(len(self._running)), sum(c.tokens for c in self._running.values()))
        pause = min(pause, self.max_wait)
        for kind, units, others in zip(self.kinds, (1.0, call.tokens), running, strict=True):
            if kind.auto:
                kind.refuse(units, running=others, now=now, pause=pause, soon=soon, again=again)
                self._say(f"{kind.name} a minute", (kind.rate.value or 0.0) * 60)

    def _time(self, call: Started, now: float, seconds: float) -> None:
        """Track the latency; lower the concurrency if it has risen."""
        if self.calls.value is None or not 0 <= seconds < math.inf:
            return
        self._latency += 0.1 * (seconds - self._latency) if self._latency else seconds
        self._usual = min(self._usual * 1.001, self._latency) if self._usual else self._latency
        if self._latency > _SLOW * self._usual and call.number > self._cut:
            self._lowered(now)
            self._fewer_calls(self.calls.value, soon=False)

    def _lowered(self, now: float) -> None:
        self._cut, self._cut_at, self._fresh = self._number, now, 0

    def _fewer_calls(self, measured: float, *, soon: bool) -> None:
        if self.calls.value is not None:
            self.calls.refuse(measured, soon=soon)
            self.calls.value = max(1.0, self.calls.value)
            self._say("concurrent calls", self.calls.value)

    def _say(self, what: str, value: float) -> None:
        """Log a learnt limit if it differs much from the one in the last message."""
        if abs(value - self._logged.get(what, 0.0)) > 0.1 * value:
            self._logged[what] = value
            self._log("%s: learnt %s %s", f"{value:.3g}", what)

    def _log(self, text: str, *values: str) -> None:
        logging.getLogger("judgekit").info(text, self.name, *values)


class Pace(Protocol):
    """Decides when a call to a server may start; every HTTP attempt waits for it.

    All arguments and results are plain data, so an object in another process may implement it.
    """

    async def acquire(self, tokens: float, again: bool = False) -> int:
        """Wait until a call may start.

        Args:
            tokens: estimated tokens of the request and its reply.
            again: whether the request was refused before; it starts before new ones.

        Returns:
            The number of the call, for `settle`.
        """

    async def settle(self, call: int, end: CallEnd) -> None:
        """End a call; every number that `acquire` returns is settled once."""


class LocalPace:
    """The pace of the calls of this process to one server.

    Args:
        name: the server in log messages.
        concurrency: `auto`, or no limit here.
        rpm: requests per minute.
        tpm: tokens per minute.
        max_wait: longest wait because of a header of the server, in seconds.
        clock: returns seconds; by default the clock of the event loop.
    """

    def __init__(
        self,
        name: str,
        *,
        concurrency: Limit = None,
        rpm: Limit = None,
        tpm: Limit = None,
        max_wait: float = 60.0,
        clock: Callable[[], float] | None = None,
    ) -> None:
        self._clock = clock
        self.limiter = Limiter(name, concurrency, rpm, tpm, max_wait)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._new: asyncio.Lock
        self._turn: asyncio.Lock
        self._changed: asyncio.Event

    async def acquire(self, tokens: float, again: bool = False) -> int:
        """Wait until a call may start; refused ones first, else in the order of arrival."""
        import asyncio

        loop = asyncio.get_running_loop()
        if self._loop is not loop:  # the calls of the other loop never end
            self._loop, self._new, self._turn = loop, asyncio.Lock(), asyncio.Lock()
            self._changed = asyncio.Event()
            self.limiter.forget_calls()
        clock = self._clock or loop.time
        # Behind hundreds of new requests, it would take minutes to learn why one was refused.
        async with nullcontext() if again else self._new, self._turn:
            since = clock()
            while wait := self.limiter.wait(tokens, now=clock(), since=since):
                self._changed.clear()
                try:
                    async with asyncio.timeout(wait):
                        await self._changed.wait()
                except TimeoutError:
                    pass
            return self.limiter.start(tokens, now=clock(), since=since)

    async def settle(self, call: int, end: CallEnd) -> None:
        """End a call."""
        now = (self._clock or self._loop.time)() if self._loop is not None else 0.0
        self.limiter.end(call, end, now=now)
        self._changed.set()
