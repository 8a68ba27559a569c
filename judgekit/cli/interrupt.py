"""Ctrl-C: the first ends the work with what there is, the second ends the program at once."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def on_interrupt(stop: Callable[[], object], *, said: str) -> Iterator[None]:
    """Call `stop` at the first Ctrl-C while the body runs, and say so on standard error.

    From then on, to the end of the program, another Ctrl-C ends it at once: also when it comes
    while the rest is being written or the interpreter is leaving.

    Args:
        stop: asks for the end; called in the main thread, between any two steps of it.
        said: what is kept, such as "what is done is kept".
    """

    def first(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        # Not print: the signal may have come in the middle of one.
        os.write(2, f"\nstopping; {said} (Ctrl-C again to leave at once)\n".encode())
        stop()

    try:
        before = signal.signal(signal.SIGINT, first)
    except ValueError:  # another thread than the main one: Ctrl-C is not ours
        yield
        return
    try:
        yield
    finally:
        if signal.getsignal(signal.SIGINT) is first:
            signal.signal(signal.SIGINT, before)
