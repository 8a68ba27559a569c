"""Adds up the opinions of a run, in constant memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

from judgekit.core.distribution import LITTLE_MASS
from judgekit.core.score import Opinion, Score
from judgekit.metrics.aggregate import mean_of
from judgekit.report.opinion_summary import (
    MassSummary,
    MemberSummary,
    OpinionSummary,
    PairAgreement,
    RepeatSummary,
)
from judgekit.rubric.arrangement import SWAPPED
from judgekit.stats.intervals import MeanInterval
from judgekit.stats.reliability import PairSums, RepeatTally, samples_needed

MOST_LABELS = 50
"""Answers of one criterion up to which kappa is computed; more are numbers."""
_Pattern = tuple[tuple[str, ...], str | None, tuple[Any, ...], tuple[float | None, ...]]
"""Judges, or none for samples; a criterion; answers; values."""
MOST_PATTERNS = 4_096
"""Different rows that are held before they are added up."""


class _Mass:
    """Adds up the mass of legal answers of one criterion."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._rows = self._little = 0
        self._total = 0.0

    def add(self, mass: float) -> None:
        self._rows += 1
        self._total += mass
        self._little += mass < LITTLE_MASS

    def finish(self, criterion: str) -> MassSummary:
        return MassSummary(
            criterion=criterion,
            source=self._source,
            rows=self._rows,
            mean=self._total / self._rows,
            little=self._little,
        )


class _Agreement:
    """Adds up the answers of two judges to one criterion."""

    def __init__(self) -> None:
        self.counts: dict[tuple[object, object], int] = {}
        self.sums = PairSums()
        self.same = self.cases = 0
        self.words = True

    def add(
        self, answers: tuple[object, object], values: tuple[float | None, ...], count: int
    ) -> None:
        self.cases += count
        self.same += count * (answers[0] == answers[1])
        if self.words and answers not in self.counts:
            self.words = all(map(_is_word, answers)) and len(self.counts) < MOST_LABELS**2
        if self.words:
            self.counts[answers] = self.counts.get(answers, 0) + count
        one, other = values
        if one is not None and other is not None:
            self.sums.add(one, other, count)

    def finish(
        self, members: tuple[str, str], criterion: str | None, *, clustered: bool
    ) -> PairAgreement:
        figure: float | None = self.sums.correlation
        interval = self.sums.interval
        if self.words:
            figure, interval = _kappa(self.counts)
        low, high = interval if interval is not None and not clustered else (None, None)
        return PairAgreement(
            members=members,
            criterion=criterion,
            cases=self.cases,
            same=self.same / self.cases,
            measure="kappa" if self.words else "correlation",
            figure=figure,
            low=low,
            high=high,
        )


def _kappa(
    counts: Mapping[tuple[object, object], int],
) -> tuple[float | None, tuple[float, float] | None]:
    from judgekit.stats.agreement import PairColumns, Paired, kappa_figure

    labels = sorted({label for pair in counts for label in pair}, key=repr)
    place = {label: number for number, label in enumerate(labels)}
    cells = [pair for pair in sorted(counts, key=repr) for _ in range(counts[pair])]
    paired = [Paired(n, place[one], place[other]) for n, (one, other) in enumerate(cells)]
    found = kappa_figure(PairColumns.of(paired), len(labels), None)
    if found.low is None or found.high is None:
        return found.value, None
    return found.value, (found.low, found.high)


class OpinionTally:
    """Adds up the opinions of a metric, row by row, in constant memory.

    Args:
        clustered: whether rows have clusters; agreement then has no interval.
        bounds: the least and the most a value can be.
    """

    def __init__(self, *, clustered: bool) -> None:
        self._clustered = clustered
        self._members: dict[str, MeanInterval] = {}
        self._failed: Counter[str] = Counter()
        self._pairs: dict[tuple[str, str, str | None], _Agreement] = {}
        self._repeats: dict[tuple[str, str | None], RepeatTally] = {}
        self._words: dict[str | None, bool] = {}
        self._patterns: dict[_Pattern, int] = {}
        self._orders: dict[str, None] = {}
        self._masses: dict[str, _Mass] = {}

    def add(self, score: Score) -> None:
        """Add one score of the metric itself."""
        for part in score.parts:
            if (shown := part.distribution) is not None and shown.source != "samples":
                self._masses.setdefault(part.id, _Mass(shown.source)).add(shown.mass)
        texts: dict[str, list[Opinion]] = {}
        for opinion in score.opinions:
            texts.setdefault(opinion.of, []).append(opinion)
            self._orders.setdefault(opinion.order, None)
        for opinions in texts.values():
            self._add(opinions)

    def _add(self, opinions: Sequence[Opinion]) -> None:
        members: dict[str, list[Opinion]] = {}
        for opinion in opinions:
            own = members.setdefault(opinion.member, [])
            if opinion.failure is None:
                own.append(opinion)
            else:
                self._failed[opinion.member] += 1
        for own in members.values():
            if len(own) > 1:
                self._count((), own)
        if len(members) < 2:
            return
        firsts = []
        for member, own in members.items():
            tally = self._members.get(member)
            if tally is None:
                tally = self._members[member] = MeanInterval()
            values = [opinion.value for opinion in own if opinion.value is not None]
            if values:
                tally.add(sum(values) / len(values))
            if own:
                firsts.append(_first(own))
        if len(firsts) > 1:
            self._count(tuple([opinion.member for opinion in firsts]), firsts)

    def _count(self, judges: tuple[str, ...], opinions: Sequence[Opinion]) -> None:
        """Count the answers of opinions; equal rows are added up once, at the end."""
        patterns = self._patterns
        names = opinions[0].answers
        for criterion in names:
            answers = tuple([opinion.answers[criterion] for opinion in opinions])
            values = tuple([opinion.values[criterion] for opinion in opinions])
            key: _Pattern = (judges, criterion, answers, values)
            patterns[key] = patterns.get(key, 0) + 1
        if len(names) > 1 or judges:
            values = tuple([opinion.value for opinion in opinions])
            key = (judges, None, values, values)
            patterns[key] = patterns.get(key, 0) + 1
        if len(patterns) > MOST_PATTERNS:
            self._flush()

    def _flush(self) -> None:
        patterns, self._patterns = self._patterns, {}
        for (judges, criterion, answers, values), count in patterns.items():
            both = any(order.endswith(SWAPPED) for order in self._orders)
            over = "judges" if judges else "orders" if both else "samples"
            repeats = self._repeats.setdefault((over, criterion), RepeatTally())
            repeats.add(answers, values, count=count)
            words = self._words.get(criterion, True)
            self._words[criterion] = words and all(map(_is_word, answers))
            for one, other in combinations(range(len(judges)), 2):
                names = (judges[one], judges[other], criterion)
                self._pairs.setdefault(names, _Agreement()).add(
                    (answers[one], answers[other]), (values[one], values[other]), count
                )

    def finish(self) -> OpinionSummary | None:
        """Return the figures; `None` where every row has one opinion without probabilities."""
        self._flush()
        if not self._repeats and not self._pairs and not self._masses:
            return None
        return OpinionSummary(
            members=tuple(self._member(name) for name in self._members),
            pairs=tuple(
                agreement.finish((one, other), criterion, clustered=self._clustered)
                for (one, other, criterion), agreement in self._pairs.items()
            ),
            repeats=tuple(
                self._finished(over, criterion, tally)
                for (over, criterion), tally in self._repeats.items()
            ),
            masses=tuple(mass.finish(criterion) for criterion, mass in self._masses.items()),
            unbalanced=_unbalanced(list(self._orders)),
        )

    def _member(self, name: str) -> MemberSummary:
        tally = self._members[name]
        low, high = (tally.interval(bounds=(0.0, 1.0)) if not self._clustered else None) or (
            None,
            None,
        )
        return MemberSummary(
            member=name,
            scored=tally.n,
            failed=self._failed[name],
            mean=tally.mean,
            low=low,
            high=high,
        )

    def _finished(self, over: str, criterion: str | None, tally: RepeatTally) -> RepeatSummary:
        figures = tally.finish()
        words = criterion is not None and self._words[criterion]
        return RepeatSummary(
            criterion=criterion,
            over=over,
            cases=figures.cases,
            exact=figures.exact,
            kappa=figures.kappa if words else None,
            icc=figures.icc,
            spread=figures.spread,
            needed=samples_needed(figures.kappa if words else figures.icc),
        )


def _first(opinions: Sequence[Opinion]) -> Opinion:
    """Return the first opinion of a judge; of two answers, what both orders come to.

    Judges that prefer a position would agree in each order alone.
    """
    first, *others = opinions
    if not others or others[0].order != SWAPPED or first.sample != others[0].sample:
        return first
    other = others[0]
    both = {id: (answer, other.answers[id]) for id, answer in first.answers.items()}
    values = {id: mean_of([value, other.values[id]]) for id, value in first.values.items()}
    answers = {id: one if one == two else "orders disagree" for id, (one, two) in both.items()}
    update = {"answers": answers, "values": values, "value": mean_of([first.value, other.value])}
    return first.model_copy(update=update)


def _is_word(answer: object) -> bool:
    return answer is None or isinstance(answer, (str, bool))


def _unbalanced(orders: Sequence[str]) -> str | None:
    """Return the order without its reverse, if there are several orders."""
    orders = [order for order in orders if not order.endswith(SWAPPED)]
    if len(orders) < 2:
        return None
    for order in orders:
        pair = "reversed" if order == "written" else f"{order} reversed"
        if not order.endswith("reversed") and pair not in orders:
            return order
    return None
