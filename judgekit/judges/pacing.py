"""The pace of one judge's HTTP calls: estimates, time limits and retries around it."""

from __future__ import annotations

import math
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from itertools import islice
from typing import TYPE_CHECKING, Any

from judgekit.judges.limits import ANSWER_TOKENS, CHARACTERS_A_TOKEN
from judgekit.judges.rate_headers import REFUSED, CallEnd
from judgekit.judges.wire import MAX_BODY, Exchange

if TYPE_CHECKING:
    import asyncio

    from judgekit.judges.pace import Pace

_PREFIXES = ("x-ratelimit-", "anthropic-ratelimit-", "retry-after", "date")
_MOST_HEADERS = 32
_FREE = 10
"""Maximum number of refused attempts of a request that do not count as retries."""


class Pacing:
    """Makes every HTTP call of a judge wait for a pace, if there is one."""

    def __init__(self) -> None:
        self.pace: Pace | None = None
        self._accepted = 0
        """Calls that the server did not refuse."""
        self._written = float(ANSWER_TOKENS)
        """Mean tokens of the replies."""

    @asynccontextmanager
    async def turn(
        self, pace: Pace, call: Exchange, size: int, sent: Mapping[str, Any], limit: asyncio.Timeout
    ) -> AsyncIterator[None]:
        """Wait for the pace, and report the result of the call in the body to it.

        Args:
            pace: the pace.
            call: receives status, headers and tokens in the body.
            size: characters of the request.
            sent: the parameters of the request.
            limit: the time limit of the call, without the wait for the pace.
        """
        import asyncio

        writes = call.limit == MAX_BODY  # for vectors and log-probabilities, no text is generated
        most = sent.get("max_tokens") or sent.get("max_completion_tokens")
        written = float(most) if isinstance(most, int) else self._written
        tokens = size / CHARACTERS_A_TOKEN + (written if writes else 0.0)
        now = asyncio.get_running_loop().time
        left = (limit.when() or math.inf) - now()
        limit.reschedule(None)
        number = await pace.acquire(tokens)
        limit.reschedule(now() + left)
        started = time.monotonic()
        try:
            yield
        finally:
            self._accepted += call.status is not None and call.status not in REFUSED
            if call.tokens is not None and writes:
                self._written += 0.1 * (call.tokens[1] - self._written)
            used = None if call.tokens is None else float(sum(call.tokens))
            seconds = time.monotonic() - started
            lower = {name.lower(): value for name, value in call.headers.items()}
            about_limits = ((n, value) for n, value in lower.items() if n.startswith(_PREFIXES))
            headers = dict(islice(about_limits, _MOST_HEADERS))
            end = CallEnd(call.status, headers, used, seconds)
            await pace.settle(number, end)

    def stop(self, most: int) -> Callable[[Any], bool]:
        """Return a stop condition for tenacity.

        While the server accepts other calls, a refusal only means that the pace is still learning,
        so up to `_FREE` refused attempts do not count.

        Args:
            most: maximum number of attempts that count.
        """
        free, seen = 0, self._accepted

        def stop(state: Any) -> bool:
            nonlocal free, seen
            refused = state.outcome.exception().status in REFUSED
            if self.pace is not None and refused and self._accepted > seen and free < _FREE:
                free, seen = free + 1, self._accepted
            return bool(state.attempt_number - free >= most)

        return stop
