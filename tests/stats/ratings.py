"""Random answers of raters: with ties, missing answers, weights and constant columns.

Nothing but the standard library: the program that writes the expected figures runs in an
environment of the other libraries.
"""

from __future__ import annotations

import random
from typing import NamedTuple

COUNT = 200


class Ratings(NamedTuple):
    """Answers to a number of cases, as places from 0."""

    values: list[float]
    """The number at each place, in order."""
    first: list[int]
    second: list[int]
    raters: list[list[int | None]]
    """By rater, the answer to each case; `None` for a missing one."""
    weights: list[float]

    @property
    def yes(self) -> tuple[list[int], list[int]]:
        """Both sides as yes (1) and no (0)."""
        return [a % 2 for a in self.first], [b % 2 for b in self.second]


def ratings(seed: int) -> Ratings:
    """Return the answers of a seed."""
    draw = random.Random(seed)
    n, size = draw.randrange(5, 60), draw.randrange(2, 8)
    places = draw.choice([range(size), range(size), [draw.randrange(size)]])
    first = [draw.choice(list(places)) for _ in range(n)]
    skill = draw.random()

    def like(answer: int) -> int:
        return answer if draw.random() < skill else draw.randrange(size)

    second = [like(a) for a in first] if draw.random() < 0.9 else [0] * n
    raters = [
        [None if draw.random() < 0.25 else like(a) for a in first]
        for _ in range(draw.randrange(2, 6))
    ]
    values = sorted(round(draw.gauss(0, 3), 3) + n / 1000 for n in range(size))
    return Ratings(values, first, second, raters, [draw.uniform(0.5, 4) for _ in range(n)])
