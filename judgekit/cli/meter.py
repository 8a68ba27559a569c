"""A line on the terminal that says how far a run is."""

from __future__ import annotations

import shutil
import sys
import time
from typing import Any

from judgekit.core.canonical import printable
from judgekit.report.cells import cut
from judgekit.runner.progress import Progress
from judgekit.suite.suite import Suite

_BETWEEN = 0.2
"""Seconds between two lines."""


class Meter:
    """Shows how far a run is, what it costs and saves, and how long it takes yet."""

    def __init__(self, suite: Suite) -> None:
        self._suite = suite
        self._started = time.monotonic()
        self._shown = self._started
        self._expected: int | None = None
        self._counted = False
        if suite.record.value != "none" and suite.judges:
            # Loading the libraries and probing a judge come before the first case is done.
            models = ", ".join(judge.model for judge in suite.judges.values())
            self._print(f"getting ready to ask {models}")

    def __call__(self, progress: Progress) -> None:
        """Show the progress, a few times a second at most."""
        now = time.monotonic()
        if now - self._shown >= _BETWEEN:
            self._shown = now
            self._print(self.line(progress, seconds=now - self._started))

    def line(self, progress: Progress, *, seconds: float) -> str:
        """Return the line after some seconds."""
        rate = progress.cases / max(seconds, 1e-9)
        total = self._total()
        of = f"/{total:,}" if total is not None and total >= progress.cases else ""
        parts = [f"{progress.cases:,}{of} case{'s' if progress.cases != 1 or of else ''}"]
        parts.append(f"{rate:.0f} a second" if rate >= 10 else f"{rate:.1f} a second")
        if of and rate and total is not None and total > progress.cases:
            parts.append(f"{_duration((total - progress.cases) / rate)} left")
        if progress.failed:
            parts.append(f"{progress.failed:,} failed")
        return ", ".join([*parts, *self._money()])

    def _money(self) -> list[str]:
        cassette = self._suite.cassette
        if cassette is None:
            return []
        ledger = cassette.ledger
        live = ledger.origins["live"]
        parts = [f"{live:,} live"] if live else []
        if live and not ledger.unpriced:
            parts.append(f"${ledger.spent:.4f} spent")
        if ledger.avoided:
            parts.append(f"${ledger.avoided:.4f} avoided")
        judges: list[Any] = list(self._suite.judges.values()) if live else []
        modes = [judge.findings().get("mode") for judge in judges]
        return [*parts, f"by {', '.join(map(str, modes))}"] if any(modes) else parts

    def _total(self) -> int | None:
        """Return how many cases there are, counted when it is first wanted."""
        if not self._counted:
            from judgekit.suite.estimate import expected_cases

            self._counted, self._expected = True, expected_cases(self._suite)
        return self._expected

    @staticmethod
    def _print(line: str) -> None:
        room = max(20, shutil.get_terminal_size((80, 24)).columns - 1)
        print(f"\r\x1b[K{cut(printable(line), room)}", end="", file=sys.stderr, flush=True)

    def close(self) -> None:
        """Take the line away."""
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    if seconds < 90 * 60:
        return f"{round(seconds / 60)} min"
    return f"{seconds / 3600:.1f} h"
