"""The entries with the largest keys."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from typing import Generic, TypeVar

T = TypeVar("T")


class Largest(Generic[T]):
    """Keeps the entries with the largest keys of many, in constant memory.

    Args:
        most: how many are kept.

    >>> largest = Largest[str](2)
    >>> for key, word in (((1.0,), "one"), ((3.0,), "three"), ((2.0,), "two")):
    ...     largest.add(key, word)
    >>> list(largest)
    ['three', 'two']
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._heap: list[tuple[tuple[float, ...], T]] = []

    def add(self, key: tuple[float, ...], entry: T) -> None:
        """Add an entry; no two keys are equal."""
        if len(self._heap) < self._most:
            heapq.heappush(self._heap, (key, entry))
        elif key > self._heap[0][0]:
            heapq.heapreplace(self._heap, (key, entry))

    def __len__(self) -> int:
        return len(self._heap)

    def __iter__(self) -> Iterator[T]:
        for _, entry in sorted(self._heap, key=lambda pair: pair[0], reverse=True):
            yield entry
