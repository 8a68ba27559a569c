"""The connections that this process is waiting for, for progress lines.

litellm makes its connections by itself, so only those of the direct transport are known.
"""

from __future__ import annotations

import time
from typing import Any

_attempts: dict[int, tuple[str, float]] = {}
"""By an id of the attempt: the host, and the time of its begin."""


def begin(attempt: object, host: str) -> None:
    """Note that an attempt to connect begins."""
    _attempts[id(attempt)] = host, time.monotonic()


def end(attempt: object) -> None:
    """Note that an attempt has ended, if it has begun."""
    _attempts.pop(id(attempt), None)


def longest() -> tuple[str, float] | None:
    """Return the host of the attempt that takes longest, and its seconds so far."""
    attempts = list(_attempts.values())  # another thread asks
    if not attempts:
        return None
    host, since = min(attempts, key=lambda attempt: attempt[1])
    return host, time.monotonic() - since


def aiohttp_trace(host: str) -> Any:
    """Return a trace of aiohttp that notes the attempts to connect to a host."""
    import aiohttp

    async def begins(_: Any, attempt: Any, __: Any) -> None:
        begin(attempt, host)

    async def ends(_: Any, attempt: Any, __: Any) -> None:
        end(attempt)

    trace = aiohttp.TraceConfig()
    trace.on_connection_create_start.append(begins)
    trace.on_connection_create_end.append(ends)
    trace.on_request_exception.append(ends)
    return trace
