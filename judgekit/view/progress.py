"""The progress of a running run; each row is read once."""

from __future__ import annotations

import json
import os
from collections import Counter, deque
from pathlib import Path
from typing import Any, BinaryIO

from judgekit.pages.figures import number
from judgekit.report.folder import RESULTS
from judgekit.stats.intervals import MeanInterval

LATEST = 12
"""Number of latest cases to list."""
_HEAD = 100
"""Number of header bytes that identify the suite."""
_CHUNK = 8_000_000
"""Bytes per read."""
_MOST = 1e100
"""Bound of valid numbers: sums of squares of smaller numbers are finite."""
_LONGEST = 64_000_000
"""Maximum length of a line, in bytes."""


class MetricProgress:
    """The figures of one metric so far."""

    def __init__(self) -> None:
        self.figures = MeanInterval()
        self.states: Counter[str] = Counter()
        self.scale = 1.0

    def add(self, result: dict[str, Any]) -> str:
        """Count one untrusted result and return its text."""
        if result.get("type") == "failure":
            self.states["failed"] += 1
            return f"failed: {str(result.get('kind'))[:40]}".replace("_", " ")
        self.scale = _number(result.get("scale")) or 1.0
        value = _number(result.get("value"))
        if value is None:
            state = str(result.get("status", "unknown"))[:40].replace("_", " ")
            self.states[state] += 1
            return state
        if result.get("fallback") is not None:
            self.states["fallback"] += 1
        else:
            self.figures.add(value)
        return number(value, self.scale)

    def summary(self, name: str) -> dict[str, Any]:
        """Return the figures so far."""
        return {
            "name": name,
            "mean": number(self.figures.mean, self.scale, 3),
            "n": self.figures.n,
            "states": dict(sorted(self.states.items())),
        }


class RunProgress:
    """Follows one file of results, continuing where the last read ended.

    Args:
        folder: a run folder.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / RESULTS
        self._begin()

    def _begin(self) -> None:
        self._known: tuple[int, int, bytes] = (0, 0, b"")
        self._at = 0
        self._left = b""
        self._cases = 0
        self._metrics: dict[str, MetricProgress] = {}
        self._latest: deque[dict[str, Any]] = deque(maxlen=LATEST)
        self.skipped = 0
        """Number of lines that are not results."""

    def read(self) -> dict[str, Any]:
        """Return the progress so far."""
        with self._path.open("rb") as file:
            self._follow(file)
        return {
            "cases": self._cases,
            "metrics": [tally.summary(name) for name, tally in self._metrics.items()],
            "latest": list(self._latest),
            "skipped": self.skipped,
        }

    def _follow(self, file: BinaryIO) -> None:
        stat = os.fstat(file.fileno())
        # The header identifies the suite; runs of one suite begin with the same rows.
        known = (stat.st_dev, stat.st_ino, file.read(_HEAD))
        if known != self._known or stat.st_size < self._at:
            self._begin()  # a new run has replaced the file
            self._known = known
        file.seek(self._at)
        while chunk := file.read(_CHUNK):
            self._at += len(chunk)
            *lines, self._left = (self._left + chunk).split(b"\n")
            for line in lines:
                self._take(line)
            if len(self._left) > _LONGEST:
                self._left = b""
                self.skipped += 1

    def _take(self, line: bytes) -> None:
        try:
            data = json.loads(line)
        except (ValueError, RecursionError):
            data = None
        if not isinstance(data, dict):
            self.skipped += 1
        elif data.get("judgekit") == "results":
            return
        elif data.get("type") == "case" and isinstance(data.get("case"), dict):
            self._cases += 1
            case = data["case"]
            text = case.get("input") or case.get("output") or ""
            line_of = next(iter(str(text)[:2000].strip().splitlines()), "")[:200]
            self._latest.appendleft({"id": str(case.get("id")), "line": line_of, "values": {}})
        elif isinstance(data.get("metric"), str) and isinstance(data.get("result"), dict):
            counted = self._metrics.setdefault(data["metric"], MetricProgress()).add(data["result"])
            if self._latest:
                self._latest[0]["values"][data["metric"]] = counted
        else:
            self.skipped += 1


def _number(value: Any) -> float | None:
    """Return a value if it is a finite number."""
    known = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if known and abs(value) < _MOST else None
