"""Random draws that are the same for a seed in every process and Python version."""

import hashlib
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


class Draw:
    """A stream of random numbers, seeded by names: SHA-256 in counter mode."""

    def __init__(self, *names: str | int) -> None:
        # Lengths distinguish ("a", "bc") from ("ab", "c").
        spelled = "".join(f"{len(str(name))}:{name}" for name in names)
        self._key = hashlib.sha256(spelled.encode("utf-8", "surrogatepass")).digest()
        self._count = 0

    def below(self, bound: int) -> int:
        """Return a whole number from 0 to `bound` - 1; the bias is under bound / 2**64."""
        self._count += 1
        block = hashlib.sha256(self._key + self._count.to_bytes(8, "big")).digest()
        return int.from_bytes(block[:8], "big") % bound

    def choice(self, items: Sequence[T]) -> T:
        """Return one of the items."""
        return items[self.below(len(items))]

    def sample(self, items: Sequence[T], count: int) -> list[T]:
        """Return a sample of items in their order, or all items if there are fewer."""
        left = list(range(len(items)))
        chosen = [left.pop(self.below(len(left))) for _ in range(min(count, len(left)))]
        return [items[place] for place in sorted(chosen)]
