"""The progress of a run as one line on the terminal."""

from __future__ import annotations

import time
from functools import cached_property
from typing import TYPE_CHECKING, Any

from judgekit.cli.screen import StatusLine

if TYPE_CHECKING:
    from judgekit.runner.progress import Progress
    from judgekit.suite.suite import Suite


class Meter(StatusLine):
    """Shows how many cases are done, what they cost, and how long the rest takes."""

    def __init__(self, suite: Suite) -> None:
        super().__init__()
        self._suite = suite
        self._started = time.monotonic()
        if suite.record.value != "none" and suite.judges:
            # Importing litellm and probing a judge take seconds before the first case is done.
            models = ", ".join(judge.model for judge in suite.judges.values())
            self.show(f"getting ready to call {models}")

    def __call__(self, progress: Progress) -> None:
        """Show the progress."""
        if self.due():
            self.show(self.line(progress, seconds=time.monotonic() - self._started))

    def line(self, progress: Progress, *, seconds: float) -> str:
        """Return the line after a number of seconds."""
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
        if ledger.avoided:
            parts.append(f"${ledger.avoided:.4f} avoided")
        judges: list[Any] = list(self._suite.judges.values()) if live else []
        modes = [judge.findings().get("mode") for judge in judges]
        return [*parts, f"by {', '.join(map(str, modes))}"] if any(modes) else parts


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    if seconds < 90 * 60:
        return f"{round(seconds / 60)} min"
    return f"{seconds / 3600:.1f} h"
