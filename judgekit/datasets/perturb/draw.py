"""Draws: the same numbers from the same seed, in every process and version of Python."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


class Draw:
    """A stream of numbers that depends on its names alone: sha256 in counter mode."""

    def __init__(self, *names: str | int) -> None:
        # Lengths keep ("a", "bc") and ("ab", "c") apart.
        spelled = "".join(f"{len(str(name))}:{name}" for name in names)
        self._key = hashlib.sha256(spelled.encode("utf-8", "surrogatepass")).digest()
        self._count = 0

    def below(self, bound: int) -> int:
        """Return a whole number from 0 to `bound` - 1; the bias is under bound / 2**64."""
        self._count += 1
        block = hashlib.sha256(self._key + self._count.to_bytes(8, "big")).digest()
        return int.from_bytes(block[:8], "big") % bound

    def choice(self, things: Sequence[T]) -> T:
        """Return one of the things."""
        return things[self.below(len(things))]

    def sample(self, things: Sequence[T], count: int) -> list[T]:
        """Return that many different things, or all of them, in the order they came in."""
        left = list(range(len(things)))
        chosen = [left.pop(self.below(len(left))) for _ in range(min(count, len(left)))]
        return [things[place] for place in sorted(chosen)]
