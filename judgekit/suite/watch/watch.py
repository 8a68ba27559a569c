"""Watch a suite: run it, and run it again whenever one of its files is saved."""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from judgekit.core.errors import JudgekitError
from judgekit.report.report import Report
from judgekit.runner.evaluation import Reuse
from judgekit.suite.overrides import Overrides
from judgekit.suite.resolved import ResolvedSuite, resolve
from judgekit.suite.suite import Suite, open_suite
from judgekit.suite.watch.changes import ReusableResults, RunChanges, RunSnapshot, changes_between
from judgekit.suite.watch.files import Stamp, files_of, stamp_of, wait_for_change

Run = Callable[[Suite, Reuse | None], Report]
"""Runs a suite; the second argument returns results to reuse."""


class Round(NamedTuple):
    """The outcome of one run, or the error that prevented it."""

    saved: tuple[Path, ...]
    """The files whose save started this run; empty for the first run."""
    files: int
    """Number of watched files that exist."""
    seconds: float = 0.0
    error: str | None = None
    """The error, on one line."""
    suite: Suite | None = None
    report: Report | None = None
    changes: RunChanges | None = None
    """The changes since the previous run; `None` for the first run."""
    fresh: int = 0
    """Number of rows that were scored, not reused."""
    rows: int = 0


@dataclass
class Watch:
    """Runs a suite, then the changed part after each save."""

    path: Path
    """The suite file."""
    overrides: Overrides
    run: Run
    sleep: Callable[[float], None] = time.sleep
    """Waits some seconds; can be replaced to do other work in the meantime."""
    _last: RunSnapshot | None = field(default=None, init=False)

    def rounds(self) -> Iterator[Round]:
        """Yield the outcome of each run, endlessly; an error ends only one run."""
        saved: tuple[Path, ...] = ()
        self._stamps: dict[Path, Stamp] = {}
        self._watch(None)
        while True:
            yield self._round(saved)
            changed, stamps = wait_for_change(self._stamps, self._files, sleep=self.sleep)
            self._stamps, saved = dict(stamps), tuple(changed)

    def _watch(self, suite: ResolvedSuite | None) -> None:
        """Watch the files of a suite; a save since the last check still counts."""
        self._files = files_of(self.path, suite, cases=self.overrides.cases)
        now = self._files.stamps()
        self._stamps = {path: self._stamps.get(path, stamp) for path, stamp in now.items()}

    def _round(self, saved: tuple[Path, ...]) -> Round:
        began = time.monotonic()
        resolved = None
        try:
            resolved = resolve(self.path, self.overrides)
            self._watch(resolved)
            suite = open_suite(resolved)
            reuse = None if self._last is None else ReusableResults(self._last, suite)
            report = self.run(suite, reuse)
        except (JudgekitError, OSError) as exc:
            if resolved is None:
                self._watch(None)
            message = " ".join(str(exc).split())
            return Round(saved, self._existing, error=message or type(exc).__name__)
        cassette = suite.cassette
        if cassette is not None and cassette.path is not None and cassette.added:
            # Files that the run itself wrote do not count as saved.
            self._stamps[cassette.path] = stamp_of(cassette.path)
        earlier, self._last = self._last, RunSnapshot(report, resolved, earlier=self._last)
        return Round(
            saved,
            self._existing,
            seconds=time.monotonic() - began,
            suite=suite,
            report=report,
            changes=None if earlier is None else changes_between(earlier, self._last),
            fresh=len(self._last.rows) if reuse is None else reuse.fresh,
            rows=len(self._last.rows),
        )

    @property
    def _existing(self) -> int:
        return sum(path.is_file() for path in self._files.paths)


def recording_command(suite: Path, overrides: Overrides, metrics: Iterable[str]) -> str:
    """Return the command line that records the missing replies.

    Args:
        suite: the suite file.
        overrides: settings of flags, which are repeated.
        metrics: the metrics with misses; included only if a flag names metrics.
    """
    # Metrics without a miss need no run.
    changes = {"record": None, "only": list(metrics) if overrides.only else []}
    words = overrides.model_copy(update=changes).words()
    return shlex.join(["judgekit", "run", str(suite), *words, "--record", "new_episodes"])
