"""What `--verbose` adds, on standard error: files, every case, retries, rungs, tracebacks."""

from __future__ import annotations

import logging
import os
import re
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from judgekit.core.canonical import printable
from judgekit.core.score import Failure, Result
from judgekit.runner.progress import Progress
from judgekit.suite.suite import Suite

_SECRET = re.compile("KEY|TOKEN|SECRET|PASSWORD", re.IGNORECASE)
"""What the name of an environment variable says of its value."""
_SHORTEST_KEY = 8
"""Characters of a value below which it is no secret, such as a flag."""


@contextmanager
def telling() -> Iterator[None]:
    """Print what the library logs while the body runs: retries, rungs, tracebacks."""
    logger = logging.getLogger("judgekit")
    handler = _Handler()
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before)


class _Handler(logging.Handler):
    """Prints a line for each record, and the traceback of the first exception of each place."""

    def __init__(self) -> None:
        super().__init__()
        self._places: set[tuple[str, int]] = set()

    def emit(self, record: logging.LogRecord) -> None:
        if record.exc_info is None or record.exc_info[1] is None:
            say(record.getMessage())
            return
        error = record.exc_info[1]
        frames = traceback.extract_tb(error.__traceback__)
        place = (frames[-1].filename, frames[-1].lineno or 0) if frames else ("", 0)
        if place in self._places:
            return
        self._places.add(place)
        say(f"{record.getMessage()}:")
        for line in "".join(traceback.format_exception(error)).splitlines():
            print(printable(_without_keys(line)), file=sys.stderr, flush=True)


def _without_keys(line: str) -> str:
    """Return a line without the keys of this environment, which an exception may repeat."""
    for name, value in os.environ.items():
        if _SECRET.search(name) and len(value) >= _SHORTEST_KEY:
            line = line.replace(value, f"<{name}>")
    return line


def say(text: str) -> None:
    """Print one line on standard error, whatever a text holds."""
    print(" ".join(printable(text).split()), file=sys.stderr, flush=True)


def tell_files(suite: Suite) -> None:
    """Say where everything was found."""
    source, limit = suite.data.source()
    say(f"cases: {source}" + (f", the first {limit:,}" if limit is not None else ""))
    from judgekit.judges.credentials import shown_address

    for role, judge in suite.roles.items():
        at = f" at {shown_address(judge.api_base)}" if judge.api_base else ""
        say(f"{role}: {judge.model}{at}, record: {suite.record.value}")
    cassette = suite.cassette
    if cassette is not None and cassette.path is not None:
        held = len(cassette.tape) if cassette.tape is not None else 0
        say(f"cassette: {cassette.path}, {held:,} recorded")
    for metric in suite.metrics:
        for name, path in _rubrics(metric):
            say(f"rubric of {metric.name}: {name}, {path}")


def _rubrics(metric: Any) -> Iterator[tuple[str, str]]:
    inner = [metric, getattr(metric, "metric", None), *(getattr(metric, "of", None) or ())]
    for part in inner:
        rubric = getattr(part, "rubric", None)
        if rubric is not None and hasattr(rubric, "path"):
            yield f"{rubric.name}@{rubric.version}", str(rubric.path)


class Teller:
    """Says of every case what came of it."""

    def __init__(self, suite: Suite) -> None:
        self._names = [metric.name for metric in suite.metrics]

    def __call__(self, progress: Progress) -> None:
        """Say what came of the last case: its scores in a line, a line for each failure."""
        if progress.case is None:
            return
        named = list(zip(self._names, progress.results, strict=True))
        scored = [f"{n} {_shown(r)}" for n, r in named if not isinstance(r, Failure)]
        if scored:
            say(f"{progress.case.id}: {', '.join(scored)}")
        for name, result in named:
            if isinstance(result, Failure):
                say(f"{progress.case.id}: {name} failed ({result.kind}): {result.message}")


def _shown(result: Result) -> str:
    if isinstance(result, Failure) or result.value is None:
        return getattr(result, "status", "failed").replace("_", " ")
    mark = " (fallback)" if result.fallback is not None else ""
    return f"{result.shown:g}{mark}"
