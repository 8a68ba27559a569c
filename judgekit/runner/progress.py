"""The progress of an evaluation, and a progress line."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from judgekit.core.case import Case
    from judgekit.core.score import Failure, Result

_BETWEEN = 0.25
"""Seconds between two updates."""
_PATIENCE = 0.5
"""Seconds before the first update; shorter runs show no line."""


class Progress(NamedTuple):
    """Progress of an evaluation."""

    cases: int
    failed: int
    """Number of rows without a score."""
    case: Case | None = None
    """The last finished case."""
    results: Sequence[Result] = ()
    """Its results, in the order of the metrics."""


class FinishedCase(Protocol):
    """A finished case of `answer_cases`."""

    @property
    def failure(self) -> Failure | None:
        """The reason why the case has no answer."""


Listener = Callable[[Any], None]
"""A function that is called with the progress."""


def listener(progress: Listener | bool | None) -> Listener | None:
    """Return the progress listener: a `ProgressLine` for `True`, `None` for `False`."""
    if isinstance(progress, bool):
        return ProgressLine() if progress else None
    return progress


def close(progress: Listener | None) -> None:
    """Close a progress line; other listeners need no closing."""
    if isinstance(progress, ProgressLine):
        progress.close()


class ProgressLine:
    """Shows progress: in a notebook one output that is updated, on a terminal one line.

    Outside notebooks and terminals, for example in a log file, it shows nothing.
    """

    def __init__(self) -> None:
        self._started = time.monotonic()
        self._shown: float | None = None
        self._cases = self._failed = 0
        self._notebook = _notebook()
        self._terminal = not self._notebook and sys.stderr.isatty()
        self._output: Any = None

    def __call__(self, news: Progress | FinishedCase) -> None:
        """Count a case, and show the progress if an update is due."""
        if isinstance(news, Progress):
            self._cases, self._failed = news.cases, news.failed
        else:
            self._cases += 1
            self._failed += news.failure is not None
        now = time.monotonic()
        if now - self._started < _PATIENCE:
            return
        if self._shown is None or now - self._shown >= _BETWEEN:
            self._shown = now
            self._show(f"{self._line()}, {self._cases / (now - self._started):.0f} a second")

    def close(self) -> None:
        """Keep the final figures in a notebook; clear the line on a terminal."""
        if self._shown is None:
            return
        if self._notebook:
            self._show(f"{self._line()} in {time.monotonic() - self._started:.1f} s")
        elif self._terminal:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)

    def _line(self) -> str:
        cases = f"{self._cases:,} case{'s' if self._cases != 1 else ''}"
        return f"{cases}, {self._failed:,} failed" if self._failed else cases

    def _show(self, line: str) -> None:
        if self._terminal:
            print(f"\r\x1b[K{line[:79]}", end="", file=sys.stderr, flush=True)
        elif self._notebook and self._output is None:
            from IPython.display import display

            self._output = display({"text/plain": line}, raw=True, display_id=True)
        elif self._notebook:
            self._output.update({"text/plain": line}, raw=True)


def _notebook() -> bool:
    """Return whether this process is a notebook kernel, without importing IPython."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return shell is not None and getattr(shell, "kernel", None) is not None
