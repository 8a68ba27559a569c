"""How far an evaluation is, and one line that says it, written over as it goes on."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from judgekit.core.case import Case
    from judgekit.core.score import Result

_BETWEEN = 0.25
"""Seconds between two lines."""
_PATIENCE = 0.5
"""Seconds in which nothing is shown: what is done by then needs no line."""


class Progress(NamedTuple):
    """How far an evaluation is."""

    cases: int
    failed: int
    """Rows without a score."""
    case: Case | None = None
    """The case that was done last."""
    results: Sequence[Result] = ()
    """What came of it, in the order of the metrics."""


def listener(progress: Callable[[Any], None] | bool | None) -> Callable[[Any], None] | None:
    """Return what is to be told of progress: `True` stands for a line, `False` for nobody."""
    if isinstance(progress, bool):
        return ProgressLine() if progress else None
    return progress


class ProgressLine:
    """Shows progress: in a notebook one output that is replaced, on a terminal one line.

    Where neither is to be had, such as in a file of logs, nothing is shown.
    """

    def __init__(self) -> None:
        self._started = time.monotonic()
        self._shown: float | None = None
        self._cases = self._failed = 0
        self._notebook = _notebook()
        self._terminal = not self._notebook and sys.stderr.isatty()
        self._output: Any = None

    def __call__(self, news: Any) -> None:
        """Take what a door says: a `Progress`, or one more answered case."""
        cases = getattr(news, "cases", None)
        self._cases = self._cases + 1 if cases is None else cases
        failed = self._failed + (getattr(news, "state", "") == "failed")
        self._failed = getattr(news, "failed", failed)
        now = time.monotonic()
        if now - self._started < _PATIENCE:
            return
        if self._shown is None or now - self._shown >= _BETWEEN:
            self._shown = now
            self._show(f"{self._line()}, {self._cases / (now - self._started):.0f} a second")

    def close(self) -> None:
        """Leave the last figures in a notebook, and nothing on a terminal."""
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
    """Return whether this runs in a kernel; IPython is not loaded to find out."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return shell is not None and getattr(shell, "kernel", None) is not None
