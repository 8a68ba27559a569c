"""When to look at open jobs again, within a time limit."""

from __future__ import annotations

import time
from collections.abc import Callable

_PAUSES = (5.0, 10.0, 20.0, 30.0, 60.0)
"""Seconds between looks at the jobs; the last one repeats."""


class PollClock:
    """Measures a wait for jobs; changes of the system's clock have no effect.

    Args:
        seconds: how long to wait at most; `None` means without a limit.
        now: seconds of a clock that only goes forward.
    """

    def __init__(self, seconds: float | None, *, now: Callable[[], float] = time.monotonic) -> None:
        self.seconds, self._now = seconds, now
        self._start = now()
        self._turn = 0

    @property
    def waited(self) -> float:
        """Seconds since the start."""
        return self._now() - self._start

    @property
    def over(self) -> bool:
        """Whether the time limit is reached."""
        return self.seconds is not None and self.waited >= self.seconds

    def pause(self) -> float:
        """Return the seconds until the next look; they grow from one look to the next."""
        pause = _PAUSES[min(self._turn, len(_PAUSES) - 1)]
        self._turn += 1
        return pause if self.seconds is None else max(0.0, min(pause, self.seconds - self.waited))

    def again(self) -> None:
        """Begin with short pauses, as after new jobs; the time limit stays."""
        self._turn = 0
