"""How far the distributions over the answers to a criterion differ between two runs."""

from __future__ import annotations

from collections.abc import Hashable

from judgekit.core.display.parts import answer_text
from judgekit.core.distribution import Distribution, Label
from judgekit.core.value import Value
from judgekit.stats.agreement import Coefficient
from judgekit.stats.clusters import ClusteredMean
from judgekit.stats.intervals import MeanInterval, MeanSpread


class DistributionChange(Value):
    """The probabilities of the answers to one criterion, over the cases of both runs."""

    criterion: str
    pairs: int
    labels: tuple[Label, ...]
    base: tuple[float, ...]
    """Mean probability of each label in the base."""
    new: tuple[float, ...]
    distance: float
    """Mean total variation between the two distributions of a case: 0 if all are the same, 1 if no
    answer is possible in both runs."""
    low: float | None
    high: float | None
    """95 % interval of the distance; `None` for too few pairs or clusters."""

    @property
    def line(self) -> str:
        """The change in one sentence."""
        moved = ", ".join(
            f"{'cannot tell' if label is None else answer_text(label)} {before:.0%} -> {after:.0%}"
            for label, before, after in zip(self.labels, self.base, self.new, strict=True)
        )
        distance = Coefficient(self.distance, self.low, self.high).text
        return (
            f"{self.criterion}: probabilities of the answers {moved}; those of a case differ by "
            f"{distance} on average (total variation, {self.pairs} cases)"
        )


class DistributionTally:
    """Adds up the distributions of one criterion, pair by pair."""

    def __init__(self, criterion: str, *, clustered: bool) -> None:
        self._criterion = criterion
        self._sums: dict[Label, list[float]] = {}
        self._distance: MeanSpread = ClusteredMean() if clustered else MeanInterval()

    def add(self, base: Distribution, new: Distribution, cluster: Hashable) -> None:
        """Add the distributions of one case."""
        labels = dict.fromkeys((*base.labels, *new.labels))
        apart = 0.0
        for label in labels:
            before, after = base.probability(label), new.probability(label)
            sums = self._sums.setdefault(label, [0.0, 0.0])
            sums[0] += before
            sums[1] += after
            apart += abs(after - before)
        self._distance.add(apart / 2, cluster)

    def finish(self) -> DistributionChange:
        """Return the figures of at least one pair."""
        figures = self._distance
        assert figures.mean is not None  # noqa: S101 - the first pair makes the tally
        low, high = figures.interval(bounds=(0.0, 1.0)) or (None, None)
        return DistributionChange(
            criterion=self._criterion,
            pairs=figures.n,
            labels=tuple(self._sums),
            base=tuple(before / figures.n for before, _ in self._sums.values()),
            new=tuple(after / figures.n for _, after in self._sums.values()),
            distance=figures.mean,
            low=low,
            high=high,
        )
