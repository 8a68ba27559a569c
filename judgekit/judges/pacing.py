"""The pace of one judge's HTTP calls: estimates, time limits and retries around it."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from judgekit.judges.limits import ANSWER_TOKENS, CHARACTERS_A_TOKEN
from judgekit.judges.rate_headers import REFUSED

if TYPE_CHECKING:
    import asyncio

    from judgekit.judges.pace import Pace
    from judgekit.judges.wire import Exchange

_PREFIXES = ("x-ratelimit-", "anthropic-ratelimit-", "retry-after", "date")
_MOST_HEADERS = 32
_FREE = 10
"""Most refused attempts of one request that do not count as retries."""
_time_limit: ContextVar[asyncio.Timeout | None] = ContextVar("time_limit", default=None)
"""The time limit of the attempt under way in this task."""


class PacedCall:
    """One HTTP call that waited for the pace."""

    def __init__(self) -> None:
        self.tokens: tuple[int, int] | None = None
        """Tokens of request and reply, if the server says so."""


class Pacing:
    """Lets every HTTP call of a judge wait for a pace, if there is one."""

    def __init__(self) -> None:
        self.pace: Pace | None = None
        self._accepted = 0
        """Calls that the server did not refuse."""
        self._written = float(ANSWER_TOKENS)
        """Mean tokens of the replies."""

    def timeout(self, seconds: float) -> AbstractAsyncContextManager[Any]:
        """Return a time limit for the body; waiting for the pace does not count."""
        import asyncio

        return asyncio.timeout(seconds) if self.pace is None else _extensible(seconds)

    def turn(
        self, call: Exchange, size: int, sent: Mapping[str, Any], *, writes: bool
    ) -> AbstractAsyncContextManager[PacedCall]:
        """Return a context that waits for the pace, and tells it how the call in the body went.

        Args:
            call: receives status and headers in the body.
            size: characters of the request.
            sent: the parameters of the request.
            writes: whether the model writes a reply.
        """
        if self.pace is None:
            return nullcontext(PacedCall())
        return self._paced(self.pace, call, size, sent, writes)

    @asynccontextmanager
    async def _paced(
        self, pace: Pace, call: Exchange, size: int, sent: Mapping[str, Any], writes: bool
    ) -> AsyncIterator[PacedCall]:
        turn = PacedCall()
        most = sent.get("max_tokens") or sent.get("max_completion_tokens")
        written = float(most) if isinstance(most, int) else self._written
        tokens = size / CHARACTERS_A_TOKEN + (written if writes else 0.0)
        number = await _acquire(pace, tokens)
        started = time.monotonic()
        try:
            yield turn
        finally:
            self._accepted += call.status is not None and call.status not in REFUSED
            if turn.tokens is not None and writes:
                self._written += 0.1 * (turn.tokens[1] - self._written)
            await pace.settle(
                number,
                status=call.status,
                headers=_relevant(call.headers),
                tokens=None if turn.tokens is None else float(sum(turn.tokens)),
                seconds=time.monotonic() - started,
            )

    def stop(self, most: int) -> Callable[[Any], bool]:
        """Return a function of tenacity's state that says whether to stop after an attempt.

        While the server accepts other calls, a refusal only says that the pace is still learning,
        so up to `_FREE` refused attempts do not count.

        Args:
            most: attempts that count.
        """
        free, seen = 0, self._accepted

        def stop(state: Any) -> bool:
            nonlocal free, seen
            refused = state.outcome.exception().status in REFUSED
            if self.pace is not None and refused and self._accepted > seen and free < _FREE:
                free, seen = free + 1, self._accepted
            return bool(state.attempt_number - free >= most)

        return stop


async def _acquire(pace: Pace, tokens: float) -> int:
    import asyncio

    limit, now = _time_limit.get(), asyncio.get_running_loop().time
    when = None if limit is None else limit.when()
    if limit is None or when is None:
        return await pace.acquire(tokens)
    left = when - now()
    limit.reschedule(None)
    number = await pace.acquire(tokens)
    limit.reschedule(now() + left)
    return number


@asynccontextmanager
async def _extensible(seconds: float) -> AsyncIterator[None]:
    import asyncio

    async with asyncio.timeout(seconds) as limit:
        token = _time_limit.set(limit)
        try:
            yield
        finally:
            _time_limit.reset(token)


def _relevant(headers: Mapping[str, str]) -> dict[str, str]:
    """Return the headers about limits, with names in lower case."""
    found: dict[str, str] = {}
    for name, value in headers.items():
        lower = name.lower()
        if lower.startswith(_PREFIXES) and len(found) < _MOST_HEADERS:
            found[lower] = value
    return found
