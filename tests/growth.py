"""How the work of a function grows with its input: processor time, never time on the clock."""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from collections.abc import Callable
from functools import cache
from typing import Any

LINEAR = 3.4
"""Twice the input takes about twice the work; four times would be a square."""
_LEAST = 0.005
"""Seconds below which a measurement says nothing."""
_ENOUGH = 0.025
"""Seconds that show how work grows: larger inputs would show the same."""
_ROUNDS = 12


def growth(work: Callable[[Any], object], make: Callable[[int], Any], size: int) -> float:
    """Return how many times the processor time twice the input takes.

    A busy machine makes single measurements longer, never shorter: the least of several counts, and
    no more are taken than it takes to see that growth is linear.

    Args:
        work: what is measured.
        make: returns the input of a size; it is another one every time, for what keeps results.
        size: of the smaller input, such as 100,000 characters; less if less takes long enough.
    """
    work(make(size // 16))  # what is loaded or compiled once
    for part in (size // 8, size // 4, size // 2, size):
        if (small := _seconds(work, make(part))) > _ENOUGH:
            break
    large = float("inf")
    for number in range(1, _ROUNDS):
        # Between two smaller inputs: a machine that becomes faster must not hide a square.
        large = min(large, _seconds(work, make(2 * part + number)))
        small = min(small, _seconds(work, make(part + number)))
        if large < LINEAR * max(small, _LEAST):
            break
    return large / max(small, _LEAST)


@cache
def start_of_python() -> float:
    """Return the processor time in seconds that `python -c pass` takes: a unit for this machine."""

    def spent() -> float:
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    found = []
    for _ in range(3):
        before = spent()
        subprocess.run([sys.executable, "-c", "pass"], check=True)
        found.append(spent() - before)
    return min(found)


def _seconds(work: Callable[[Any], object], value: Any) -> float:
    began = time.process_time()
    work(value)
    return time.process_time() - began


def repeated(unit: str) -> Callable[[int], str]:
    """Return what repeats a text up to a number of characters.

    >>> repeated("ab")(5)
    'ababa'
    """
    return lambda size: (unit * (size // len(unit) + 1))[:size]
