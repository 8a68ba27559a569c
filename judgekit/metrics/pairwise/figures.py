"""Figures of a pairwise metric over a run: the judge's bias for position and length."""

from __future__ import annotations

from array import array

from judgekit.core.score import Opinion, Row, Score
from judgekit.metrics.aggregate import Figures
from judgekit.rubric.criterion import SWAPPED
from judgekit.stats.clusters import ClusteredMean
from judgekit.stats.logistic import length_controlled_rate

EVEN = 0.5
"""The value of a tie."""
EQUAL = 1e-9
"""Values that differ by less are the same."""


def side_of(value: float) -> int:
    """Return which answer a value prefers: 1 the output, -1 the other, 0 neither."""
    return 0 if abs(value - EVEN) < EQUAL else 1 if value > EVEN else -1


FIGURES = {
    "positional_consistency": True,
    "first_position_rate": False,
    "first_position_low": False,
    "first_position_high": False,
    "disagreeing_first_rate": False,
    "disagreeing_first_low": False,
    "disagreeing_first_high": False,
    "tie_rate": False,
    "length_controlled_win_rate": True,
    "length_controlled_low": True,
    "length_controlled_high": True,
    "length_separated": False,
    "length_one_sided": False,
}
"""The figures of `PairTally`, and whether higher is better."""


class PairTally:
    """Counts the comparisons of one metric over a run; scores of fallbacks do not count.

    - `positional_consistency`: share of the pairs of both orders that prefer the same answer, or
      none.
    - `first_position_rate`: of the opinions that prefer an answer, the share that prefers the one
      shown first, with its 95 % interval, clustered by case. A pair of orders that agree counts as
      .5, so the rate is nearer to .5 the more often the judge is sure.
    - `disagreeing_first_rate`: of the pairs of orders that prefer different answers, the share in
      which both orders prefer the answer shown first, with its 95 % interval, clustered by case.
    - `tie_rate`: share of the decided comparisons that are ties.
    - `length_controlled_win_rate`: see `judgekit.stats.logistic`, with its 95 % interval for
      independent cases; `None` if the length alone separates wins from losses; `length_separated`
      is then 1. `None`, too, if one
      side is nearly always longer; `length_one_sided` is then 1.
    """

    def __init__(self) -> None:
        self._consistent = self._pairs = 0
        self._first = ClusteredMean()
        self._disagreeing = ClusteredMean()
        """1 for a pair of orders that both prefer the answer shown first, 0 for the last one."""
        self._ties = 0
        self._wins = array("d")
        self._longer = array("d")

    def add(self, row: Row) -> None:
        """Add one result."""
        score = row.result
        if not isinstance(score, Score) or score.fallback is not None:
            return
        self._add_opinions(row.case, score.opinions)
        pair, lengths = score.details.get("pairwise"), score.details.get("lengths")
        match pair, lengths:
            case {"winner": str(winner)}, [int(output), int(other)]:
                self._ties += winner == "tie"
                self._wins.append(EVEN if score.value is None else score.value)
                self._longer.append(output - other)

    def _add_opinions(self, case: str, opinions: tuple[Opinion, ...]) -> None:
        sides: dict[tuple[str, int], list[tuple[int, bool]]] = {}
        for opinion in opinions:
            if opinion.value is None:
                continue
            side = side_of(opinion.value)
            swapped = opinion.order.endswith(SWAPPED)
            sides.setdefault((opinion.member, opinion.sample), []).append((side, swapped))
            if side != 0:
                self._first.add(float((side > 0) != swapped), case)
        both = [pair for pair in sides.values() if len(pair) == 2]
        self._pairs += len(both)
        self._consistent += sum(one == other for (one, _), (other, _) in both)
        for (side, swapped), (other, _) in both:
            if side * other < 0:
                self._disagreeing.add(float((side > 0) != swapped), case)

    def finish(self) -> Figures:
        """Return the figures; `None` without comparisons."""
        count = len(self._wins)
        low, high = self._first.interval(bounds=(0.0, 1.0)) or (None, None)
        ends = self._disagreeing.interval(bounds=(0.0, 1.0)) or (None, None)
        controlled = length_controlled_rate(self._wins, self._longer)
        return {
            "positional_consistency": self._consistent / self._pairs if self._pairs else None,
            "first_position_rate": self._first.mean,
            "first_position_low": low,
            "first_position_high": high,
            "disagreeing_first_rate": self._disagreeing.mean,
            "disagreeing_first_low": ends[0],
            "disagreeing_first_high": ends[1],
            "tie_rate": self._ties / count if count else None,
            "length_controlled_win_rate": controlled.rate,
            "length_controlled_low": controlled.low,
            "length_controlled_high": controlled.high,
            "length_separated": int(controlled.separated) if count else None,
            "length_one_sided": int(controlled.one_sided) if count else None,
        }
