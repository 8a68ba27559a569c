"""Compute the figures of the difference between two runs, pair by pair."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from functools import partial
from statistics import fmean
from typing import Any

from judgekit.analysis.comparison import comparison as results
from judgekit.analysis.comparison.differences import EPSILON, ComparisonSettings, Differences, Range
from judgekit.analysis.comparison.pairs import ComparedResult, Pair
from judgekit.core.distribution import Distribution, Label
from judgekit.core.errors import ConfigError
from judgekit.report.own_criteria import MOST_TEXTS, RECURS
from judgekit.report.summary import Largest, MetricSummary
from judgekit.report.thresholds import passes
from judgekit.stats.clusters import ClusteredMean
from judgekit.stats.intervals import MeanInterval, MeanSpread
from judgekit.stats.slices import SliceMean, mean_over_slices

WORST = 20
"""Maximum number of listed cases per metric and direction."""
MOST_SLICES = 50
"""Maximum number of slices; a field with more values is an id, or a text."""
_UNTESTED: Mapping[str, Any] = {"p": None, "test": "", "verdict": "unknown", "detectable": None}
"""The figures that a slice does not have: many slices would have many chance findings."""
UNIT: Range = (0.0, 1.0)
"""The range of criteria and of verdicts: 1 is a pass."""


class MetricTally:
    """One metric in two runs."""

    def __init__(
        self, base: MetricSummary, new: MetricSummary, settings: ComparisonSettings
    ) -> None:
        self._summary = new
        self._higher = new.higher_is_better
        self._settings = settings
        self._clustered = settings.cluster is not None
        self._differences = partial(
            Differences, clustered=self._clustered, interval=settings.interval
        )
        self.threshold = new.threshold if new.threshold is not None else base.threshold
        self._all = self._differences(new.metric, range=new.range, higher_is_better=self._higher)
        self._criteria: dict[str, Differences] = {}
        self._slices: dict[str, Differences] = {}
        """Value of the field of the settings -> its cases; those without the field have none."""
        self._own = OwnCriteriaTally(lambda text: self._differences(text, range=UNIT))
        self._distributions: dict[str, DistributionTally] = {}
        self._flips: Counter[tuple[bool, bool]] = Counter()
        self._passes = self._differences("passes", range=UNIT)
        self._unpaired: Counter[str] = Counter()
        self._moves = {way: Largest[tuple[Pair, str | None]](WORST) for way in (-1, 1)}
        """Cases that got worse (-1) or better, with the change of their verdict."""
        self.rubrics: tuple[set[tuple[str, str]], ...] = (set(), set())
        """Names and digests of the rubrics in the scores, of base and new run."""
        self.example: Pair | None = None
        """The first case that was judged in both runs."""
        self.same_requests = self._same_answers = 0
        self.differs = False
        """Whether the result of any case differs in value, reason or request."""

    def add(self, pair: Pair, cluster: Hashable, slice: str | None = None) -> None:
        """Add one case.

        Args:
            pair: its results in both runs.
            cluster: its cluster.
            slice: its value of the field by which means are sliced.

        Raises:
            ConfigError: the field has too many values.
        """
        name = self._summary.metric
        base, new = pair.base.rows.get(name), pair.new.rows.get(name)
        for rubrics, result in zip(self.rubrics, (base, new), strict=True):
            if result is not None and result.rubric and result.digest:
                rubrics.add((result.rubric, result.digest))
        self.differs = self.differs or not _same_result(base, new)
        if self.example is None and base and new and base.keys and new.keys:
            self.example = pair
        if base is None or new is None or base.value is None or new.value is None:
            self._unpaired[_unpaired_reason(base, new)] += 1
            return
        self._all.add(base.value, new.value, cluster)
        if slice is not None:
            self._slice(slice).add(base.value, new.value, cluster)
        self.same_requests += bool(base.keys) and base.keys == new.keys
        self._same_answers += pair.same_answer
        self._add_parts(base, new, cluster)
        before, after = (passes(one.value, self.threshold, self._higher) for one in (base, new))
        if before is not None and after is not None:
            self._flips[before, after] += 1
            self._passes.add(float(before), float(after), cluster)
        step = new.value - base.value
        if abs(step) >= EPSILON:
            way = 1 if (step > 0) == self._higher else -1
            flip = None if before == after else "pass -> fail" if before else "fail -> pass"
            place = (round(abs(step), 9), -self._all.better - self._all.worse)
            self._moves[way].add(place, (pair, flip))

    def _add_parts(self, base: ComparedResult, new: ComparedResult, cluster: Hashable) -> None:
        own = base.own_criteria and new.own_criteria
        for id, part in base.parts.items():
            other = new.parts.get(id)
            if own and part.value is not None and other is not None and other.value is not None:
                self._own.add(id, part.value, other.value, cluster, case=self._all.pairs)
            elif part.value is not None and other is not None and other.value is not None:
                if id not in self._criteria:
                    self._criteria[id] = self._differences(id, range=UNIT)
                self._criteria[id].add(part.value, other.value, cluster)
            if not own and part.distribution and other is not None and other.distribution:
                if id not in self._distributions:
                    self._distributions[id] = DistributionTally(id, clustered=self._clustered)
                self._distributions[id].add(part.distribution, other.distribution, cluster)

    def _slice(self, value: str) -> Differences:
        if value not in self._slices:
            if len(self._slices) == MOST_SLICES:
                by = self._settings.by
                raise ConfigError(
                    f"{by!r} has more than {MOST_SLICES} values; slice by a field with few values, "
                    "or cluster by it"
                )
            summary = self._summary
            self._slices[value] = self._differences(
                value, range=summary.range, higher_is_better=self._higher
            )
        return self._slices[value]

    def finish(self) -> results.MetricComparison:
        """Return the figures; `verdicts` adds the verdicts after all tests are known."""
        detect, (low, high) = self._settings.detect, self._summary.range
        if detect is None and low is not None and high is not None:
            detect = (high - low) / 20
        difference = self._all.finish(detect=detect)
        slices = [self._slices[value].finish() for value in sorted(self._slices)]
        over = self._over_slices(slices) if slices else None
        # The same replies to the same requests say nothing about other cases.
        pairs = self._all.pairs
        if pairs and not self.differs and pairs in (self.same_requests, self._same_answers):
            update = {"low": 0.0, "high": 0.0, "standard_error": None, "df": None,
                      "detectable": None, "wanted": None, "more": None, "more_high": None,
                      "too_few": None}  # fmt: skip
            difference = difference.model_copy(update=update)
            slices = [one.model_copy(update=update) for one in slices]
            over = over and over.model_copy(update=update)
        return results.MetricComparison(
            metric=self._summary.metric,
            higher_is_better=self._higher,
            range=self._summary.range,
            difference=difference,
            flips=self._finish_flips(),
            criteria=tuple(
                c.finish() for c in (*self._criteria.values(), *self._own.recurring.values())
            ),
            own_criteria=self._own.finish(),
            slices=tuple(one.model_copy(update=_UNTESTED) for one in slices),
            over_slices=over,
            distributions=tuple(d.finish() for d in self._distributions.values()),
            unpaired=dict(self._unpaired.most_common()),
            worst=tuple(self._case_moves(-1)),
            best=tuple(self._case_moves(1)),
            same_requests=self.same_requests,
            pass_fail=self._all.pass_fail,
        )

    def _over_slices(self, slices: Sequence[results.MeanDifference]) -> results.MeanDifference:
        """Return the mean of the differences of all slices."""
        spreads = [self._slices[one.name].spread for one in slices]
        sums = [one.sums if isinstance(one, ClusteredMean) else None for one in spreads]
        found = mean_over_slices([
            SliceMean(one.mean or 0.0, one.low, one.high, one.standard_error, one.df or 0.0, own)
            for one, own in zip(slices, sums, strict=True)
        ])  # fmt: skip
        few = next((f"{one.name}: {one.too_few}" for one in slices if one.too_few), None)
        clusters = {name for own in sums if own is not None for name in own}
        return results.MeanDifference(
            name=self._settings.by or "",
            pairs=sum(one.pairs for one in slices),
            base=fmean(one.base or 0.0 for one in slices),
            new=fmean(one.new or 0.0 for one in slices),
            mean=found.mean,
            low=found.low,
            high=found.high,
            worse=sum(one.worse for one in slices),
            better=sum(one.better for one in slices),
            clusters=len(clusters) if self._clustered else None,
            standard_error=found.error,
            df=found.df,
            too_few=few,
        )

    def _case_moves(self, way: int) -> Iterator[results.CaseMove]:
        for pair, flip in self._moves[way]:
            base, new = (entry.rows[self._summary.metric] for entry in pair)
            yield results.CaseMove(
                case=pair.base.case,
                base=base.value,
                new=new.value,
                base_reason=base.reason,
                new_reason=new.reason,
                flip=flip,
                same_answer=pair.same_answer,
                part=_furthest(base, new, way),
            )

    def _finish_flips(self) -> results.Flips | None:
        count = self._flips
        if self.threshold is None or not count:
            return None
        return results.Flips(
            threshold=self.threshold,
            base_passed=count[True, False] + count[True, True],
            new_passed=count[False, True] + count[True, True],
            to_fail=count[True, False],
            to_pass=count[False, True],
            **self._passes.finish().model_dump(include={"p", "test", "verdict"}),
        )


class OwnCriteriaTally:
    """Criteria that cases have themselves: those that recur, and the agreement on all of them.

    Args:
        make: makes the differences of a criterion, given its text.
    """

    def __init__(self, make: Callable[[str], Differences]) -> None:
        self._make = make
        self._few: dict[int, list[tuple[float, float, Hashable]]] = {}
        self.recurring: dict[str, Differences] = {}
        self._cases = array("q")
        self._verdicts = array("b")
        """Base and new share of each criterion: 0 or 1."""

    def add(self, text: str, base: float, new: float, cluster: Hashable, *, case: int) -> None:
        """Add a criterion of a case, which is given by its number."""
        if {base, new} <= {0.0, 1.0}:
            self._cases.append(case)
            self._verdicts.extend((int(base), int(new)))
        if (known := self.recurring.get(text)) is not None:
            known.add(base, new, cluster)
            return
        key = hash(text)  # texts of cases are long, and most occur once
        if key not in self._few and len(self._few) >= MOST_TEXTS:
            return
        few = self._few.setdefault(key, [])
        few.append((base, new, cluster))
        if len(few) >= RECURS:
            self.recurring[text] = self._make(text)
            for one in self._few.pop(key):
                self.recurring[text].add(*one)

    def finish(self) -> results.CriteriaAgreement | None:
        """Return the agreement; `None` without criteria whose shares are 0 or 1."""
        if not self._cases:
            return None
        from judgekit.stats.agreement import PairColumns, Paired, kappa_figure  # loads numpy

        verdicts = zip(self._verdicts[::2], self._verdicts[1::2], strict=True)
        pairs = [Paired(case, *both) for case, both in zip(self._cases, verdicts, strict=True)]
        kappa = kappa_figure(PairColumns.of(pairs, clustered=True), 2, None)
        return results.CriteriaAgreement(
            pairs=len(pairs),
            rose=sum(pair.first < pair.second for pair in pairs),
            fell=sum(pair.first > pair.second for pair in pairs),
            kappa=kappa.value,
            low=kappa.low,
            high=kappa.high,
        )


class DistributionTally:
    """Adds up the distributions of one criterion, pair by pair."""

    def __init__(self, criterion: str, *, clustered: bool) -> None:
        self._criterion = criterion
        self._sums: dict[Label, list[float]] = {}
        self._distance: MeanSpread = ClusteredMean() if clustered else MeanInterval()

    def add(self, base: Distribution, new: Distribution, cluster: Hashable) -> None:
        """Add the distributions of one case."""
        apart = 0.0
        for label in dict.fromkeys((*base.labels, *new.labels)):
            before, after = base.probability(label), new.probability(label)
            sums = self._sums.setdefault(label, [0.0, 0.0])
            sums[0] += before
            sums[1] += after
            apart += abs(after - before)
        self._distance.add(apart / 2, cluster)

    def finish(self) -> results.DistributionChange:
        """Return the figures of at least one pair."""
        figures = self._distance
        assert figures.mean is not None  # noqa: S101 - the first pair makes the tally
        low, high = figures.interval(bounds=(0.0, 1.0)) or (None, None)
        return results.DistributionChange(
            criterion=self._criterion,
            pairs=figures.n,
            labels=tuple(self._sums),
            base=tuple(before / figures.n for before, _ in self._sums.values()),
            new=tuple(after / figures.n for _, after in self._sums.values()),
            distance=figures.mean,
            low=low,
            high=high,
        )


def _unpaired_reason(base: ComparedResult | None, new: ComparedResult | None) -> str:
    """Return the reason why a case has no pair of values."""
    reasons = {}
    for side, result in (("base", base), ("new run", new)):
        if result is None:
            reasons[side] = "not scored by this metric"
        elif result.value is None:
            reasons[side] = result.state
    if len(reasons) == 2 and len(set(reasons.values())) == 1:
        return f"{reasons['base']} in both"
    return "; ".join(f"{reason} in the {side}" for side, reason in reasons.items())


def _furthest(base: ComparedResult, new: ComparedResult, way: int) -> results.PartMove | None:
    """Return the criterion with the largest change in the direction of its metric.

    For criteria, higher is always better.
    """
    steps = {
        id: (other.value - part.value) * way
        for id, part in base.parts.items()
        if part.value is not None and (other := new.parts.get(id)) and other.value is not None
    }
    id = max(steps, key=lambda id: steps[id], default="")
    if steps.get(id, 0.0) <= EPSILON:
        return None
    one, other = base.parts[id], new.parts[id]
    return results.PartMove(
        id=id, base=one.value, new=other.value, base_reason=one.reason, new_reason=other.reason
    )


def _same_result(base: ComparedResult | None, new: ComparedResult | None) -> bool:
    """Return whether two results have the same requests, values and reasons."""
    if base is None or new is None:
        return base is new
    if (base.state, base.reason, base.keys) != (new.state, new.reason, new.keys):
        return False
    if base.parts.keys() != new.parts.keys() or not _same_value(base.value, new.value):
        return False
    parts = ((part, new.parts[id]) for id, part in base.parts.items())
    return all(a.reason == b.reason and _same_value(a.value, b.value) for a, b in parts)


def _same_value(base: float | None, new: float | None) -> bool:
    if base is None or new is None:
        return base is new
    return abs(base - new) < EPSILON
