"""Find the runs under a folder, with a summary of each."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, NamedTuple

from judgekit.core.canonical import digest
from judgekit.core.errors import ConfigError, JudgekitError
from judgekit.pages.figures import Axis
from judgekit.pages.run.facts import RunFacts
from judgekit.report import folder as run_folder
from judgekit.report.folder import AGREEMENT, REPORT, RESULTS, RUN, TAPE
from judgekit.report.manifest import judges_of
from judgekit.report.report import Report
from judgekit.report.summary import MetricSummary

DEPTH = 6
"""Maximum depth of folders that are searched for runs."""
LOOKED_AT = 20_000
"""Maximum number of folder entries to check."""
FRESH = 10.0
"""Seconds after the last row in which a run without a report may still be writing it."""
QUIET = 120.0
"""The same if only the time of the last row shows whether a run is writing."""
LARGEST = 256_000_000
"""Maximum size of `report.json` and `run.json`, in bytes."""

DAMAGED = (
    JudgekitError,
    OSError,
    ValueError,
    TypeError,
    LookupError,
    ArithmeticError,
    RecursionError,
)
"""Errors that foreign files can cause."""

State = Literal["finished", "writing", "stopped", "damaged"]

_FILES = (RESULTS, REPORT, RUN, TAPE, AGREEMENT)
_PASSED_BY = frozenset({"node_modules", "__pycache__", "site-packages"})


class RunEntry(NamedTuple):
    """One row of the list of runs."""

    id: str
    """Its folder, relative to the served folder; `.` for the served folder itself."""
    stamp: str
    state: State
    modified: float
    """Seconds since 1970."""
    title: str = ""
    verdict: str = ""
    tone: str = ""
    cases: int | None = None
    judges: tuple[str, ...] = ()
    metrics: tuple[dict[str, Any], ...] = ()
    problem: str = ""
    """Its problem, on one line."""


class Runs:
    """The runs under a folder; a run is read again only if its files change.

    Args:
        root: the served folder. No files outside it are read: linked folders are skipped, and a run
            with files that link outside counts as damaged.
    """

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()
        self.note = ""
        """A note on runs that are missing from the list, if any."""
        self._lines: dict[str, RunEntry] = {}

    def all(self) -> list[RunEntry]:
        """Return a row for every run, the newest first."""
        lines = [self._line(folder) for folder in self._folders()]
        self._lines = {line.id: line for line in lines if line is not None}
        return sorted(self._lines.values(), key=lambda line: (-line.modified, line.id))

    def find(self, id: str) -> tuple[RunEntry, Path]:
        """Return a run and its folder.

        Raises:
            KeyError: no run under the folder has this id.
        """
        # The id is looked up in the known runs, never converted to a path.
        if id not in self._lines:
            self.all()
        folder = self.root / self._lines[id].id
        line = self._line(folder) if _is_inside(folder, self.root) else None
        if line is None:
            raise KeyError(id)
        self._lines[id] = line
        return line, folder

    def _folders(self) -> Iterator[Path]:
        """Yield the folders with results or a report."""
        self.note = ""
        looked_at = 0
        for path, folders, files in os.walk(self.root):  # skips unreadable folders
            names = {*folders, *files}
            looked_at += len(names)
            if RESULTS in names or {REPORT, RUN} <= names:
                yield Path(path)
            if looked_at > LOOKED_AT:
                self.note = f"There is more here than {LOOKED_AT:,} files; not all was looked at."
                return
            entered = {name for name in folders if not name.startswith(".")} - _PASSED_BY
            deepest = len(Path(path).relative_to(self.root).parts) == DEPTH
            folders[:] = [] if deepest else sorted(entered)

    def _line(self, folder: Path) -> RunEntry | None:
        """Return the row of a folder; `None` if the folder is not a run."""
        id = folder.relative_to(self.root).as_posix()
        try:
            stamp, modified = self._stamp(folder)
        except OSError as exc:
            return RunEntry(id, "", "damaged", 0.0, problem=f"cannot be read: {exc.strerror}")
        known = self._lines.get(id)
        if known is not None and known.stamp == stamp and known.state in ("finished", "damaged"):
            return known
        entry = RunEntry(id, stamp, "finished", modified)
        ours = False
        try:
            self._check_files(folder)
            ours = _begins_as_ours(folder / RESULTS)
            if (folder / REPORT).exists():
                finished = _finished(entry, Report.read(folder))
                if not ours:
                    raise ConfigError(f"{RESULTS} is missing or not the results of a run")
                return finished
            if not ours:
                return None  # other projects may have a file of this name
            run_folder.read_manifest_digest(folder)
        except JudgekitError as exc:
            foreign = not ours and "not a report" in str(exc)
            problem = _one_line(exc, folder)
            return None if foreign else entry._replace(state="damaged", problem=problem)
        except DAMAGED as exc:
            return entry._replace(state="damaged", problem=f"cannot be read: {type(exc).__name__}")
        return entry._replace(state="writing" if is_written(folder) else "stopped")

    def _stamp(self, folder: Path) -> tuple[str, float]:
        """Return a digest of the state of the files of a run, and the time of the last change."""
        known = []
        modified = 0.0
        for name in _FILES:
            try:
                stat = (folder / name).stat(follow_symlinks=False)
            except FileNotFoundError:
                continue
            known.append((name, stat.st_mtime_ns, stat.st_size, stat.st_ino))
            if name != AGREEMENT:
                modified = max(modified, stat.st_mtime)
        return digest(repr(known))[:16], modified

    def _check_files(self, folder: Path) -> None:
        """Reject a file that is not regular, is too large, or links outside the folder."""
        for name in _FILES:
            path = folder / name
            if not (path.exists() or path.is_symlink()):
                continue
            if not _is_inside(path, self.root):
                raise ConfigError(f"{name} is a link that leads out of {self.root.name}")
            if not path.is_file():  # reading a named pipe would never end
                raise ConfigError(f"{name} is not a file")
            if name in (REPORT, RUN, AGREEMENT) and path.stat().st_size > LARGEST:
                raise ConfigError(f"{name} is larger than {LARGEST:,} bytes")


def is_written(folder: Path) -> bool:
    """Return whether a run is writing to a folder, or has just written its last row."""
    results = folder / RESULTS
    locked = run_folder.is_locked(results)
    try:
        age = time.time() - results.stat().st_mtime
    except OSError:
        return False
    return bool(locked) or age < (QUIET if locked is None else FRESH)


def _is_inside(path: Path, root: Path) -> bool:
    try:
        return path.resolve().is_relative_to(root)
    except (OSError, RuntimeError):  # a link to itself
        return False


def _finished(line: RunEntry, report: Report) -> RunEntry:
    facts = RunFacts(report, makers={})
    summaries, manifest = report.figures.metrics, report.figures.manifest
    judges = {judge for one in summaries for judge in judges_of(manifest, one.metric)}
    entry = line._replace(
        title=facts.title,
        verdict=facts.verdict_word,
        tone=facts.verdict,
        cases=report.figures.cases,
        judges=tuple(sorted(judges)),
        metrics=tuple(map(_metric, summaries)),
    )
    json.dumps(entry._asdict(), allow_nan=False)  # an invalid figure affects only this row
    return entry


def _metric(summary: MetricSummary) -> dict[str, Any]:
    axis = Axis(summary)
    interval = axis.interval(*summary.interval) if summary.interval else ""
    return {
        "name": summary.metric,
        "mean": summary.mean,
        "span": axis.high - axis.low,
        "shown": axis.say(summary.mean),
        "interval": interval or ("too few" if summary.too_few else ""),
        "n": summary.scored,
        "failed": summary.failed + summary.not_run,
    }


def _begins_as_ours(results: Path) -> bool:
    try:
        with results.open("rb") as file:
            header = json.loads(file.readline(10_000))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(header, dict) and header.get("judgekit") == "results"


def _one_line(problem: JudgekitError, folder: Path) -> str:
    """Return a message without the path of the folder, which the list shows."""
    text = " ".join(str(problem).split())
    return text.removeprefix(f"{folder}: ").removeprefix(f"{folder}{os.sep}")
