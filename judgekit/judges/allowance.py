"""A limit of a server on requests or tokens per second: configured, learnt, or from headers.

A rate is a token bucket with a capacity of a quarter of a second. A learnt limit shrinks by 5 %
when the server refuses a call. It grows while calls that waited for it are accepted: fast up to 92
% of the limit that was refused last, then by 3 % in 200 calls, twice as much in the next 200, and
so on. So refusals stay below 1 %, and a raised limit is found.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from judgekit.judges.rate_headers import read_allowed

FIRST_CALLS = 8
MINUTE = 60.0
_CUT, HARD_CUT = 0.95, 0.7
_GROWTH = 0.03
"""Growth in the first period after a refusal; it doubles with each period."""
_NEAR = 0.92
"""Share of the last refused limit up to which the limit grows fast."""
_PERIOD, _PERIOD_SECONDS = 200, 15.0
"""Minimum length of a period, in accepted calls and in seconds."""
_SOON = 20
"""If a second refusal comes within this number of accepted calls, the limit is far too high."""
_BURST = 0.25
"""Size of a burst, in seconds of the rate."""
_MARGIN = 0.98
"""Share of the refill rate in headers that is used: their numbers are rounded."""
_LIES = 2
"""Headers are ignored after the server accepted this number of calls that they excluded."""

Bound = Literal["", "rate", "calls"]


class Started(NamedTuple):
    """A call that has not ended."""

    number: int
    at: float
    tokens: float
    bound: Bound
    """The reason for its last wait."""
    forced: tuple[str, ...]
    """Kinds of limits that, according to the headers, did not allow it."""
    marks: tuple[float, ...]
    """Estimated units of all calls up to this one, by kind."""


@dataclass
class Learnt:
    """A limit that follows what the server accepts and refuses."""

    value: float | None
    """The limit; `None` if there is none before the first refusal."""
    per_second: bool = True
    """Whether it is a rate, whose periods have a minimum duration."""
    most: float = math.inf
    """The highest value."""
    found: bool = False
    """Whether a call was refused; before that, the limit grows fast."""
    accepted: int = 0
    """Calls that were accepted since the last refusal."""
    _refused: float = math.inf
    """The limit at the last refusal; the limit grows fast up to `_NEAR` of it."""
    _growth: float = _GROWTH
    """Growth in the current period, as a share of the limit."""
    _left: float = 0.0
    """Remaining calls of the current period."""

    def accept(self, *, bound: bool, calls: float = 1.0) -> None:
        """Count an accepted call; grow if the limit delayed it.

        Args:
            bound: whether the limit delayed the call.
            calls: calls per second at the limit, if the limit does not count calls.
        """
        self.accepted += 1
        if self.value is None or not bound:
            return
        if not self.found:
            self.value = min(self.most, self.value * (1 + 1 / FIRST_CALLS))
            return
        period = max(_PERIOD, calls * _PERIOD_SECONDS) if self.per_second else _PERIOD
        if self._left <= 0:
            self._left = period
            self._growth = min(1.0, 2 * self._growth)
        self._left -= 1
        growth = self._growth / period
        if self.value < _NEAR * self._refused:
            # A rate may double in a period; a number of calls grows by one in a round trip.
            growth = growth / self._growth if self.per_second else 1 / self.value**2
        self.value = min(self.most, self.value * (1 + growth))

    def at_least(self, before: Learnt) -> Learnt:
        """Return the higher one of this limit and an earlier one, which was lowered wrongly."""
        if self.value is not None and (before.value is None or before.value > self.value):
            return before
        return replace(self, found=before.found)

    def refuse(self, measured: float, *, soon: bool = False, again: bool = False) -> None:
        """Lower the limit after a refused call.

        Args:
            measured: the rate that the server has accepted recently.
            soon: whether the limit was lowered a moment ago, which shows that it is far too high.
            again: whether no call was accepted since the last refusal.
        """
        if self.value is None or not self.found or again:
            self._refused = self.value or math.inf
            self.value = min(self._refused, measured)
        else:
            self._refused = self.value
            self.value *= HARD_CUT if soon or self.accepted < _SOON else _CUT
        self.found, self.accepted, self._growth, self._left = True, 0, _GROWTH / 2, 0.0


class Allowance:
    """One kind of limit, requests or tokens, per second: a given or learnt rate, and headers."""

    def __init__(self, name: str, limit: float | Literal["auto"] | None, max_wait: float) -> None:
        self.name = name
        self.auto = limit == "auto"
        self.rate = Learnt(limit / MINUTE if isinstance(limit, int | float) else None)
        self.started = 0.0
        """Estimated units of all calls that have started."""
        self._max_wait = max_wait
        self._level = 0.0
        self._at = 0.0
        self._accepted: deque[tuple[float, float]] = deque()
        """Time and units of the calls accepted in the last minute."""
        self._left: float | None = None
        """Remaining units according to the server's headers at `_seen`."""
        self._seen_call = 0
        """The last call with headers."""
        self._seen = self._full = self._limit = self._fill = 0.0
        self.window = False
        """Whether the server refills only at the reset, not continuously."""
        self._lies = 0

    def wait(self, units: float, now: float) -> float:
        """Return the seconds until the rate allows a call."""
        rate = self.rate.value
        if rate is None:
            return 0.0
        most = max(1.0, _BURST * rate)
        if now > self._at:
            self._level = min(most, self._level + (now - self._at) * rate)
            self._at = now
        return max(0.0, (min(units, most) - self._level - 1e-9) / rate)

    def wait_for_headers(self, units: float, now: float) -> float:
        """Return the seconds until the server allows a call, according to its headers."""
        if self._left is None:
            return 0.0
        if now >= self._full:
            # A call that did not wait for the reset may be counted after it.
            self._left = self._limit + min(0.0, self._left)
            self._full, self._fill = math.inf, 0.0
        lacking = min(units, self._limit) - self._left
        if not self.window:
            lacking -= self._fill * (now - self._seen)
        if lacking <= 0:
            return 0.0
        refill = math.inf if self.window or not self._fill else lacking / self._fill
        return min(refill, self._full - now)

    def take(self, units: float) -> None:
        """Take the estimated units of a call."""
        self.started += units
        if self.rate.value is not None:
            self._level -= units
        if self._left is not None:
            self._left -= units

    def settle(self, call: Started, less: float) -> None:
        """Give back what a call took less than estimated; negative if it took more."""
        if self.rate.value is not None:
            self._level += less
        if self._left is not None and call.number > self._seen_call:
            self._left += less

    def accept(self, units: float, *, at: float, bound: bool, fresh: bool) -> None:
        """Count an accepted call; `fresh` if it started after the last refusal."""
        if not self.auto:
            return
        self._accepted.append((at, units))
        while self._accepted[0][0] < at - 2 * MINUTE:
            self._accepted.popleft()
        if fresh:
            calls = (self.rate.value or 0.0) / units if units > 0 else 0.0
            self.rate.accept(bound=bound, calls=calls)

    def refuse(
        self, units: float, *, running: float, now: float, pause: float, soon: bool, again: bool
    ) -> None:
        """Lower the rate after a refused call that the headers do not explain.

        Args:
            units: those of the call.
            running: those of the running calls, which the server seems to have accepted.
            now: the time in seconds.
            pause: seconds before the next call.
            soon: whether the rate was lowered a moment ago.
            again: whether no call was accepted since the last refusal.
        """
        while self._accepted and self._accepted[0][0] < now - MINUTE:
            self._accepted.popleft()
        first = self._accepted[0][0] if self._accepted else now
        accepted = sum(units for _, units in self._accepted) + running
        seconds = max(pause, min(MINUTE, now - first + max(pause, 1.0)))
        self.rate.refuse(max(accepted, units) / seconds, soon=soon, again=again)
        # A rate below one such call in `max_wait` would stall the run.
        least = units / max(1.0, self._max_wait)
        self.rate.value = max(self.rate.value or 0.0, least, 1e-6)
        self._level, self._at = 0.0, now

    def observe(self, headers: Mapping[str, str], call: Started, now: float, mark: float) -> bool:
        """Read the headers of a response; return whether they report no remaining units."""
        if not self.auto or self._lies >= _LIES:
            return False
        if (allowed := read_allowed(headers, self.name)) is None:
            return False
        need = min(1.0 if self.name == "requests" else call.tokens, allowed.limit)
        if call.number < self._seen_call:  # an earlier call that took longer
            return allowed.remaining < need
        # The server's number may not include calls that started later.
        self._left = allowed.remaining - (self.started - mark)
        self._seen_call, self._seen = call.number, call.at
        self._limit, self._full = allowed.limit, now + allowed.reset
        used = allowed.limit - allowed.remaining
        self._fill = _MARGIN * used / allowed.reset if allowed.reset > 0 else math.inf
        return allowed.remaining < need

    def lied(self) -> bool:
        """Count a call that the headers excluded and the server accepted."""
        self._lies += 1
        if self._lies >= _LIES:
            self._left = None
        return self._lies == _LIES
