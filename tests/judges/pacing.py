"""A server with hidden limits and a clock that only the simulation moves."""

from __future__ import annotations

import heapq
import itertools
import math
import random
from collections.abc import Callable, Mapping
from typing import NamedTuple

from judgekit.judges.pace import Limiter
from judgekit.judges.rate_headers import CallEnd

MINUTE = 60.0


class HiddenLimit:
    """Answers 429 above its limits.

    Args:
        rpm: requests a minute.
        tpm: tokens a minute.
        window: whether the allowance returns at once at the end of a window, not all the time.
        span: seconds of the window, or for which the allowance may be saved up.
        headers: whether responses tell the limits.
        retry_after: whether a refusal tells when to come back.
    """

    def __init__(
        self,
        *,
        rpm: float | None = None,
        tpm: float | None = None,
        window: bool = False,
        span: float = MINUTE,
        headers: bool = False,
        retry_after: bool = True,
    ) -> None:
        self.limits = {"requests": rpm, "tokens": tpm}
        self._window, self._span = window, span
        self._headers, self._retry_after = headers, retry_after
        self._left = {kind: self._full(kind) for kind in self.limits}
        self._at = 0.0

    def _full(self, kind: str) -> float:
        return (self.limits[kind] or math.inf) * self._span / MINUTE

    def answer(self, tokens: float, now: float) -> tuple[int, Mapping[str, str]]:
        """Return status and headers for a request at a time."""
        for kind, limit in self.limits.items():
            if self._window:
                ended = now // self._span != self._at // self._span
                self._left[kind] = self._full(kind) if ended else self._left[kind]
            elif limit:
                gained = (now - self._at) * limit / MINUTE
                self._left[kind] = min(self._full(kind), self._left[kind] + gained)
        self._at = now
        needs = {"requests": 1.0, "tokens": tokens}
        accepted = all(self._left[kind] >= need for kind, need in needs.items())
        headers: dict[str, str] = {}
        wait = 0.0
        for kind, limit in self.limits.items():
            if not limit:
                continue
            if accepted:
                self._left[kind] -= needs[kind]
            left = self._left[kind]
            end = self._span - now % self._span
            reset = end if self._window else (self._full(kind) - left) * MINUTE / limit
            if left < needs[kind] and not accepted:
                wait = max(wait, end if self._window else (needs[kind] - left) * MINUTE / limit)
            if self._headers:
                headers[f"x-ratelimit-limit-{kind}"] = f"{self._full(kind):.0f}"
                headers[f"x-ratelimit-remaining-{kind}"] = f"{math.floor(left):d}"
                headers[f"x-ratelimit-reset-{kind}"] = f"{reset:.3f}s"
        if not accepted and self._retry_after:
            headers["retry-after"] = str(math.ceil(wait))
        return (200 if accepted else 429), headers


class Outcome(NamedTuple):
    """What a server accepted and refused in a time."""

    used: float
    """Share of the allowance of the limit that binds."""
    refused: float
    """Share of the calls."""
    calls: int


def simulate(
    server: HiddenLimit,
    limiter: Limiter,
    *,
    minutes: float,
    at: Mapping[float, Callable[[], None]] | None = None,
    estimate: float = 1.0,
    most: int = 256,
) -> Callable[[float, float], Outcome]:
    """Send as many calls as the limiter allows; return what came of it between two minutes.

    Args:
        server: the server.
        limiter: decides when a call starts.
        minutes: how long, on the simulated clock.
        at: changes of the server, by minute.
        estimate: estimated tokens of a call by its real ones.
        most: concurrent calls that are waiting to be sent.
    """
    chance = random.Random(7)
    changes = sorted((at or {}).items())
    running: list[tuple[float, int, int, float, int, Mapping[str, str]]] = []
    order = itertools.count()
    log: list[tuple[float, bool, float]] = []
    now = since = 0.0
    tokens = float(chance.randint(300, 700))
    while now < minutes * MINUTE:
        while changes and now >= changes[0][0] * MINUTE:
            changes.pop(0)[1]()
        room = len(running) < most
        wait = limiter.wait(tokens * estimate, now=now, since=since) if room else math.inf
        if wait == 0:
            call = limiter.start(tokens * estimate, now=now, since=since)
            status, headers = server.answer(tokens, now)
            latency = chance.uniform(0.1, 0.4) if status == 200 else 0.02
            heapq.heappush(running, (now + latency, next(order), call, tokens, status, headers))
            log.append((now, status == 200, tokens))
            tokens, since = float(chance.randint(300, 700)), now
        elif running and running[0][0] <= now + wait:
            now, _, call, used, status, headers = heapq.heappop(running)
            known = used if status == 200 else None
            limiter.end(call, CallEnd(status, headers, known, 0.2), now=now)
        else:
            assert wait < math.inf, "nothing runs, and nothing may start"
            now += max(wait, 1e-6)

    def between(start: float, end: float) -> Outcome:
        calls = [entry for entry in log if start * MINUTE <= entry[0] < end * MINUTE]
        accepted = [tokens for _, good, tokens in calls if good]
        units = {"requests": len(accepted), "tokens": sum(accepted)}
        used = [units[k] / (limit * (end - start)) for k, limit in server.limits.items() if limit]
        return Outcome(max(used), 1 - len(accepted) / len(calls), len(calls))

    return between
