"""The terminal: width, colours, progress line, and Ctrl-C.

The first Ctrl-C ends the work and keeps its results; the second ends the program immediately.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
import threading
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from functools import cached_property
from types import FrameType
from typing import TYPE_CHECKING, Any, Self, TypeVar

from judgekit.core.canonical import printable
from judgekit.core.display.text import cut
from judgekit.core.synchronous import Flag

if TYPE_CHECKING:
    import asyncio

    from judgekit.runner.progress import Progress
    from judgekit.suite.suite import Suite

T = TypeVar("T")

WIDEST = 100
NARROWEST = 60
BETWEEN = 0.2
"""Seconds between two updates of a progress line."""


def columns() -> int:
    """Return the width for output, 60 to 100 columns."""
    return min(WIDEST, max(NARROWEST, shutil.get_terminal_size((80, 24)).columns))


def colourful() -> bool:
    """Return whether to print colours on standard output.

    A terminal gets colours. `NO_COLOR` turns them off and overrides every other variable;
    `FORCE_COLOR` and `CLICOLOR_FORCE` turn them on for a file or a pipe; `CLICOLOR=0` and
    `TERM=dumb` turn them off for a terminal. An empty variable has no effect.
    """
    variable = os.environ.get
    if variable("NO_COLOR"):
        return False
    for forced in ("FORCE_COLOR", "CLICOLOR_FORCE"):
        if variable(forced):
            return variable(forced) not in ("0", "false")
    if variable("CLICOLOR") == "0" or variable("TERM") == "dumb":
        return False
    return sys.stdout.isatty()


def fitted(text: str) -> str:
    """Return lines, cut to the width of a terminal but not for a file or pipe."""
    if not sys.stdout.isatty():
        return text
    room = max(NARROWEST, shutil.get_terminal_size((80, 24)).columns)
    return "".join(f"{cut(line, room)}\n" for line in text.splitlines())


class StatusLine:
    """A line on standard error that is updated in place; not shown outside a terminal.

    As a context manager, it is removed at the end.
    """

    def __init__(self, *, shown: bool = True) -> None:
        self._terminal = shown and sys.stderr.isatty()
        self._updated = 0.0

    def due(self) -> bool:
        """Return whether the line may be updated again: a few times per second."""
        now = time.monotonic()
        if not self._terminal or now - self._updated < BETWEEN:
            return False
        self._updated = now
        return True

    def show(self, line: str) -> None:
        """Replace the line."""
        if self._terminal:
            room = max(20, shutil.get_terminal_size((80, 24)).columns - 1)
            print(f"\r\x1b[K{cut(printable(line), room)}", end="", file=sys.stderr, flush=True)

    def clear(self) -> None:
        """Remove the line."""
        self.show("")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.clear()


PATIENT = 3.0
"""Seconds of a wait for a connection after which the progress line says so."""


def waiting_line(wait: tuple[str, float] | None) -> str | None:
    """Return what to say of a wait for a host, in seconds; `None` for a short one."""
    if wait is None or wait[1] < PATIENT:
        return None
    return f"waiting {wait[1]:.0f} s for a connection to {wait[0]}"


class Meter(StatusLine):
    """Shows the number of finished cases, their cost, and the remaining time."""

    def __init__(self, suite: Suite) -> None:
        super().__init__()
        self._suite = suite
        self._ready = ""
        self._started = time.monotonic()
        if suite.record.value != "none" and suite.judges:
            # Importing litellm and probing a judge take seconds before the first case is finished.
            models = ", ".join(judge.model for judge in suite.judges.values())
            self._ready = f"getting ready to call {models}"
            self.show(self._ready)
        self._said = ""
        self._ended = threading.Event()
        self._waiting = threading.Thread(target=self._wait, daemon=True)

    def __enter__(self) -> Self:
        if self._terminal:
            self._waiting.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        if self._terminal:
            self._waiting.join()
        self.clear()

    def __call__(self, progress: Progress) -> None:
        """Show the progress."""
        if self.due():
            self._said = self.line(progress, seconds=time.monotonic() - self._started)
            self.show(self._said)

    def _wait(self) -> None:
        """Say what the run waits for; in a thread, because nothing else happens meanwhile."""
        from judgekit.judges.connecting import longest

        while not self._ended.wait(1.0):
            if line := self.idle(longest(), seconds=time.monotonic() - self._started):
                self.show(line)

    def idle(self, wait: tuple[str, float] | None, *, seconds: float) -> str | None:
        """Return what to say between two cases, or before the first; `None` for nothing new.

        Args:
            wait: the host of a connection that is waited for, and the seconds so far.
            seconds: since the begin of the run.
        """
        line = waiting_line(wait)
        if self._said:
            return f"{self._said}, {line}" if line else None
        # A judge is probed before its first case: a clock shows that the program is alive.
        ready = f"{self._ready}, {seconds:.0f} s" if self._ready else ""
        return ", ".join(filter(None, (ready, line))) or None

    def line(self, progress: Progress, *, seconds: float) -> str:
        """Return the text of the line after a number of seconds."""
        rate = progress.cases / max(seconds, 1e-9)
        left = (self._total or 0) - progress.cases
        of = f"/{self._total:,}" if self._total is not None and left >= 0 else ""
        parts = [f"{progress.cases:,}{of} case{'s' if progress.cases != 1 or of else ''}"]
        parts.append(f"{rate:.0f} a second" if rate >= 10 else f"{rate:.1f} a second")
        if left > 0 and rate:
            parts.append(f"{_duration(left / rate)} left")
        if progress.failed:
            parts.append(f"{progress.failed:,} failed")
        return ", ".join([*parts, *self._costs()])

    @cached_property
    def _total(self) -> int | None:
        from judgekit.suite.estimate import expected_cases

        return expected_cases(self._suite)

    def _costs(self) -> list[str]:
        cassette = self._suite.cassette
        if cassette is None:
            return []
        ledger = cassette.ledger
        live = ledger.origins["live"]
        parts = [f"{live:,} live"] if live else []
        if live and not ledger.unpriced:
            parts.append(f"${ledger.spent:.4f} spent")
        if abs(saved := ledger.savings.dollars) >= 0.00005:
            from judgekit.report.text import saved_words

            parts.append(saved_words(saved))
        if ledger.avoided:
            parts.append(f"${ledger.avoided:.4f} avoided")
        judges = self._suite.judges.values() if live else ()
        from judgekit.core.judge_wrapper import as_judge

        known = (as_judge(judge).knowledge for judge in judges)
        modes = [one.findings().get("mode") for one in known if one is not None]
        return [*parts, f"by {', '.join(map(str, modes))}"] if any(modes) else parts


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    if seconds < 90 * 60:
        return f"{round(seconds / 60)} min"
    return f"{seconds / 3600:.1f} h"


# -- Ctrl-C ------------------------------------------------------------------------


@contextmanager
def on_interrupt(stop: Callable[[], object], *, kept: str) -> Iterator[None]:
    """Call `stop` at the first Ctrl-C while the body runs, and print a line to standard error.

    After that, another Ctrl-C ends the program immediately, even while results are written or the
    interpreter exits.

    Args:
        stop: requests the end; called in the main thread, at any point of its execution.
        kept: the promise in the line, such as "what is done is kept".
    """

    def first(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        # Not `print`, because the signal may interrupt a `print`.
        os.write(2, f"\nstopping; {kept} (Ctrl-C again to leave at once)\n".encode())
        stop()

    try:
        before = signal.signal(signal.SIGINT, first)
    except ValueError:  # only the main thread may handle signals
        yield
        return
    try:
        yield
    finally:
        if signal.getsignal(signal.SIGINT) is first:
            signal.signal(signal.SIGINT, before)


def run_interruptible(
    work: Callable[[asyncio.Event], Coroutine[Any, Any, T]], *, kept: str, stop: Flag | None = None
) -> T:
    """Run a coroutine in an event loop and return its result.

    Args:
        work: returns the coroutine, which ends early after the event is set.
        kept: the promise in the line at the first Ctrl-C.
        stop: also set by the first Ctrl-C.
    """
    import asyncio

    async def run() -> T:
        ended = asyncio.Event()
        loop = asyncio.get_running_loop()

        def end() -> None:
            if stop is not None:
                stop.set()
            loop.call_soon_threadsafe(ended.set)

        with on_interrupt(end, kept=kept):
            return await work(ended)

    return asyncio.run(run())
