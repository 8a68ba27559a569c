"""Figures of the difference between two runs, made pair by pair."""

from __future__ import annotations

import heapq
import math
from array import array
from collections import Counter
from collections.abc import Hashable
from typing import Literal

from judgekit.comparison.comparison import Difference, Flips, MetricComparison, Move, PartMove
from judgekit.comparison.pairs import Pair, Seen
from judgekit.report.clustered import ClusteredMean
from judgekit.report.power import detectable, needed
from judgekit.report.significance import mcnemar_p
from judgekit.report.statistics import MeanInterval
from judgekit.report.student import student_t_p
from judgekit.report.summary import MetricSummary, passes

WORST = 20
"""Cases kept of each metric, in either direction."""
EPSILON = 1e-9
"""Values nearer to each other than this are the same value, added up in another order."""
IntervalKind = Literal["t", "bootstrap"]


class Differences:
    """The differences of one figure."""

    def __init__(
        self,
        name: str,
        *,
        higher_is_better: bool = True,
        clustered: bool = False,
        interval: IntervalKind = "t",
    ) -> None:
        self._name = name
        self._sign = 1 if higher_is_better else -1
        self._base, self._new, self._all = MeanInterval(), MeanInterval(), MeanInterval()
        self._clustered = ClusteredMean() if clustered else None
        self._kept = array("d") if interval == "bootstrap" else None
        self._least = self._most = 0.0
        self.worse = self.better = 0

    def add(self, base: float, new: float, cluster: Hashable) -> None:
        """Take one more pair."""
        step = new - base
        if abs(step) < EPSILON:
            step = 0.0
        self._base.add(base)
        self._new.add(new)
        self._least = step if self._all.n == 0 else min(self._least, step)
        self._most = step if self._all.n == 0 else max(self._most, step)
        self._all.add(step)
        if self._clustered is not None:
            self._clustered.add(step, cluster)
        if self._kept is not None:
            self._kept.append(step)
        self.worse += step * self._sign < 0
        self.better += step * self._sign > 0

    @property
    def pairs(self) -> int:
        """How many pairs there were."""
        return self._all.n

    def finish(self, *, wanted: float | None = None) -> Difference:
        """Return the figures.

        Args:
            wanted: a difference to say the number of cases for.
        """
        figures = self._clustered if self._clustered is not None else self._all
        n, mean, error = self._all.n, figures.mean, figures.standard_error
        # Rounding must not make a spread of differences that are all the same.
        alike = self._most - self._least < EPSILON
        p, test = self._p(figures, alike=alike)
        interval = None if alike and mean else self._interval(figures)
        # The spread that as many cases, each on its own, would need to have.
        sd = None if error is None or alike else error * math.sqrt(n)
        seen = None if sd is None else detectable(sd, n)
        count = needed(sd, wanted) if sd is not None and wanted is not None else None
        return Difference(
            name=self._name,
            pairs=n,
            base=self._base.mean,
            new=self._new.mean,
            mean=mean,
            low=interval[0] if interval else None,
            high=interval[1] if interval else None,
            worse=self.worse,
            better=self.better,
            clusters=self._clustered.clusters if self._clustered is not None else None,
            p=p,
            test=test,
            verdict="unknown" if n == 0 else "same" if alike and not mean else "unclear",
            detectable=seen,
            wanted=wanted if count is not None else None,
            more=None if count is None else max(0, count - n),
        )

    def _interval(self, figures: MeanInterval | ClusteredMean) -> tuple[float, float] | None:
        if self._kept is None:
            return figures.interval()
        from judgekit.metrics.voice.bootstrap import bootstrap_interval

        found = bootstrap_interval(self._kept)
        return (found.low, found.high) if found else None

    def _p(self, figures: MeanInterval | ClusteredMean, *, alike: bool) -> tuple[float | None, str]:
        mean, error = figures.mean, figures.standard_error
        if mean is None or error is None:
            return None, ""
        if alike:
            # Without any spread a t test would be certain after two cases; the signs are not.
            independent = figures.n if isinstance(figures, MeanInterval) else figures.clusters
            return (mcnemar_p(independent, 0), "sign") if mean else (None, "")
        if error == 0:
            return None, ""
        kind = "paired t" if isinstance(figures, MeanInterval) else "paired t by cluster"
        return student_t_p(mean / error, figures.df), kind


class MetricTally:
    """One metric in two runs."""

    def __init__(
        self,
        base: MetricSummary,
        new: MetricSummary,
        *,
        clustered: bool,
        interval: IntervalKind,
        detect: float | None,
    ) -> None:
        self._summary = new
        self._higher = new.higher_is_better
        self._clustered = clustered
        self._interval = interval
        self._detect = detect if detect is not None else _twentieth(new.range)
        self.threshold = new.threshold if new.threshold is not None else base.threshold
        self._all = self._differences(new.metric, self._higher)
        self._criteria: dict[str, Differences] = {}
        self._flips: Counter[tuple[bool, bool]] = Counter()
        self._passes = self._differences("passes", True)
        self._unpaired: Counter[str] = Counter()
        self._moves: dict[int, list[tuple[float, int, Move]]] = {-1: [], 1: []}
        self.makers: dict[str, set[tuple[str, str]]] = {"base": set(), "new": set()}
        """Rubrics and digests that scores name, by run."""
        self.same_requests = 0
        self.judged = 0
        self.moved = 0

    def _differences(self, name: str, higher: bool) -> Differences:
        return Differences(
            name, higher_is_better=higher, clustered=self._clustered, interval=self._interval
        )

    def add(self, pair: Pair, cluster: Hashable) -> None:
        """Take one more case."""
        name = self._summary.metric
        base, new = pair.base.rows.get(name), pair.new.rows.get(name)
        for side, seen in (("base", base), ("new", new)):
            if seen is not None and seen.rubric and seen.digest:
                self.makers[side].add((seen.rubric, seen.digest))
        if base is None or new is None or base.value is None or new.value is None:
            self._unpaired[_why(base, new)] += 1
            self.moved += (base and base.state) != (new and new.state)
            return
        self._all.add(base.value, new.value, cluster)
        self.judged += bool(base.keys or new.keys)
        self.same_requests += bool(base.keys) and base.keys == new.keys
        for id, said in base.parts.items():
            other = new.parts.get(id)
            if said.value is not None and other is not None and other.value is not None:
                if id not in self._criteria:
                    self._criteria[id] = self._differences(id, True)
                self._criteria[id].add(said.value, other.value, cluster)
        before = passes(base.value, self.threshold, self._higher)
        after = passes(new.value, self.threshold, self._higher)
        if before is not None and after is not None:
            self._flips[before, after] += 1
            self._passes.add(float(before), float(after), cluster)
        step = new.value - base.value
        if abs(step) >= EPSILON:
            self.moved += 1
            self._keep(pair, base, new, None if before == after else bool(before))

    def _keep(self, pair: Pair, base: Seen, new: Seen, passed: bool | None) -> None:
        assert base.value is not None  # noqa: S101 - only pairs of values get here
        assert new.value is not None  # noqa: S101
        step = new.value - base.value
        way = 1 if (step > 0) == self._higher else -1
        heap = self._moves[way]
        place = (round(abs(step), 9), -self._all.better - self._all.worse)
        if len(heap) == WORST and place <= heap[0][:2]:
            return
        move = Move(
            case=pair.base.case,
            base=base.value,
            new=new.value,
            base_reason=base.reason,
            new_reason=new.reason,
            flip=None if passed is None else "pass -> fail" if passed else "fail -> pass",
            same_answer=pair.same_answer,
            part=_furthest(base, new, way),
        )
        (heapq.heappush if len(heap) < WORST else heapq.heapreplace)(heap, (*place, move))

    def finish(self) -> MetricComparison:
        """Return the figures; the verdicts come when all tests are known."""
        return MetricComparison(
            metric=self._summary.metric,
            higher_is_better=self._higher,
            range=self._summary.range,
            difference=self._all.finish(wanted=self._detect),
            flips=self._finish_flips(),
            criteria=tuple(c.finish() for c in self._criteria.values()),
            unpaired=dict(self._unpaired.most_common()),
            worst=self._ordered(-1),
            best=self._ordered(1),
            same_requests=self.same_requests,
        )

    def _ordered(self, way: int) -> tuple[Move, ...]:
        ordered = sorted(self._moves[way], key=lambda kept: kept[:2], reverse=True)
        return tuple(move for _, _, move in ordered)

    def _finish_flips(self) -> Flips | None:
        if self.threshold is None or not self._flips:
            return None
        count = self._flips
        to_fail, to_pass = count[True, False], count[False, True]
        p: float | None = mcnemar_p(to_fail, to_pass)
        test = "exact McNemar"
        if self._clustered:
            found = self._passes.finish()
            p, test = found.p, found.test
        return Flips(
            threshold=self.threshold,
            base_passed=to_fail + count[True, True],
            new_passed=to_pass + count[True, True],
            to_fail=to_fail,
            to_pass=to_pass,
            p=p if to_fail or to_pass else None,
            test=test,
            verdict="unclear" if to_fail or to_pass else "same",
        )


def _twentieth(range: tuple[float | None, float | None]) -> float | None:
    """Return a twentieth of a range: the difference people ask about when they name none."""
    low, high = range
    return None if low is None or high is None else (high - low) / 20


def _why(base: Seen | None, new: Seen | None) -> str:
    """Return why a case has no pair of values, the same words for the same cause."""
    states = [
        "not scored by this metric" if seen is None else seen.state if seen.value is None else ""
        for seen in (base, new)
    ]
    if states[0] == states[1]:
        return f"{states[0]} in both"
    return "; ".join(
        f"{state} in the {side}" for state, side in zip(states, ("base", "new run"), strict=True)
        if state
    )  # fmt: skip


def _furthest(base: Seen, new: Seen, way: int) -> PartMove | None:
    """Return the criterion that moved furthest the way its metric did; parts: higher is better."""
    found: tuple[float, PartMove] | None = None
    for id, said in base.parts.items():
        other = new.parts.get(id)
        if said.value is None or other is None or other.value is None:
            continue
        step = (other.value - said.value) * way
        if step > EPSILON and (found is None or step > found[0]):
            found = (
                step,
                PartMove(
                    id=id,
                    base=said.value,
                    new=other.value,
                    base_reason=said.reason,
                    new_reason=other.reason,
                ),
            )
    return found[1] if found else None
