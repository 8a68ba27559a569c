"""Watching a suite: a run, then another one whenever a file of it is saved."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from judgekit.core.errors import JudgekitError
from judgekit.report.report import Report
from judgekit.runner.evaluation import Reuse
from judgekit.suite.file import Overrides
from judgekit.suite.suite import Suite, load_suite
from judgekit.suite.watch.files import Files, Stamp, files_of, wait_for_change
from judgekit.suite.watch.found import Found, TakenOver, tape_of
from judgekit.suite.watch.moves import Moves, moves_between

Run = Callable[[Suite, Reuse | None], Report]
"""Runs a suite, taking over what a callable returns."""


class Round(NamedTuple):
    """What came of one run, or why there was none."""

    saved: tuple[Path, ...]
    """The files that were saved before it; none before the first."""
    files: int
    """Files that are there and looked at."""
    seconds: float = 0.0
    error: str | None = None
    """Why the suite could not be run, in one line."""
    suite: Suite | None = None
    report: Report | None = None
    moves: Moves | None = None
    """What moved since the run before; `None` for the first."""
    fresh: int = 0
    """Rows that were scored anew."""
    rows: int = 0


class Watch:
    """Runs a suite, and again what a saved file changes.

    Args:
        path: the suite file.
        overrides: what flags say.
        run: runs it.
        sleep: waits; to be replaced where there is something else to do meanwhile.
    """

    def __init__(
        self,
        path: Path,
        overrides: Overrides,
        *,
        run: Run,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._path = path
        self._overrides = overrides
        self._run = run
        self._sleep = sleep
        self._found: Found | None = None
        self._files = self._files_of(None)
        self._stamps: dict[Path, Stamp] = {}

    def rounds(self) -> Iterator[Round]:
        """Yield what comes of each run, without end; a wrong file costs a round, not the watch."""
        saved: tuple[Path, ...] = ()
        self._stamps = self._files.stamps()
        while True:
            yield self._round(saved)
            changed, stamps = wait_for_change(self._stamps, self._files, sleep=self._sleep)
            self._stamps, saved = dict(stamps), tuple(changed)

    def _files_of(self, suite: Suite | None) -> Files:
        return files_of(self._path, suite, cases=self._overrides.cases)

    def _look_at(self, suite: Suite | None) -> None:
        """Look at the files of a suite from now on; a save since the last look is not lost."""
        self._files = self._files_of(suite)
        self._stamps = {**self._files.stamps(), **self._stamps}
        known = self._files.stamps().keys()
        self._stamps = {path: stamp for path, stamp in self._stamps.items() if path in known}

    def _round(self, saved: tuple[Path, ...]) -> Round:
        began = time.monotonic()
        try:
            suite = load_suite(self._path, self._overrides)
        except (JudgekitError, OSError) as exc:
            self._look_at(None)
            return self._failed(saved, exc)
        self._look_at(suite)
        reuse = None if self._found is None else TakenOver(self._found, suite)
        try:
            report = self._run(suite, reuse)
        except (JudgekitError, OSError) as exc:
            return self._failed(saved, exc)
        self._note_tape(suite)
        earlier, self._found = self._found, Found(report, suite, earlier=self._found)
        return Round(
            saved,
            self._there,
            seconds=time.monotonic() - began,
            suite=suite,
            report=report,
            moves=None if earlier is None else moves_between(earlier, self._found),
            fresh=len(self._found.rows) if reuse is None else reuse.fresh,
            rows=len(self._found.rows),
        )

    def _failed(self, saved: tuple[Path, ...], exc: Exception) -> Round:
        said = " ".join(str(exc).split())
        return Round(saved, self._there, error=said or type(exc).__name__)

    @property
    def _there(self) -> int:
        return sum(path.is_file() for path in self._files.paths)

    def _note_tape(self, suite: Suite) -> None:
        """Take what this run itself wrote to its cassette for seen."""
        cassette = suite.cassette
        if cassette is not None and cassette.path is not None and cassette.added:
            self._stamps[cassette.path] = tape_of(suite)
