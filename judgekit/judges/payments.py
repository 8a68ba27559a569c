"""The cost of the responses to one request, and the attempts without a response."""

from __future__ import annotations

import math


class Payments:
    """Collects what the responses to one request cost; they are paid even if it fails later."""

    def __init__(self) -> None:
        self._costs: list[float | None] = []
        self.lost = 0
        """Attempts since the last response that brought neither an answer nor a known error."""

    def add(self, cost: float | None) -> None:
        """Add the US dollars of a response; `None` if its price is unknown."""
        self._costs.append(cost)
        self.lost = 0

    @property
    def total(self) -> float | None:
        """US dollars of all responses; `None` if the price of one is unknown."""
        known = [cost for cost in self._costs if cost is not None]
        return math.fsum(known) if len(known) == len(self._costs) else None
