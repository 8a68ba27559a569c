"""Figures of several opinions: repeatability, and agreement between judges."""

from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping, Sequence
from functools import partial
from itertools import chain, combinations
from operator import eq
from typing import Any

from judgekit.core.distribution import LITTLE_MASS, Distribution
from judgekit.core.score import Opinion, Score
from judgekit.core.value import Value
from judgekit.metrics.aggregate import mean_of
from judgekit.rubric.criterion import SWAPPED
from judgekit.stats.clusters import FigureValues
from judgekit.stats.intervals import Coefficient
from judgekit.stats.reliability import RELIABLE, PairSums, RepeatTally, samples_needed

MOST_PAIRS = 50**2
"""Maximum number of distinct answers for kappa; with more, answers are treated as numbers."""
_Tables = defaultdict[tuple[tuple[str, ...], tuple[str, ...], int], list[tuple[Any, ...]]]
"""Judges, or none for samples; criteria; number of opinions -> rows, each with its cluster."""
_Column = Sequence[Any]
"""An entry for each case."""
_Columns = Sequence[_Column]
"""A column for each judge or sample."""
MOST_WAITING = 1_000
"""Approximate number of opinions to add up at once; columns take less time than single rows."""


class MemberSummary(Value):
    """One judge of a jury over a run."""

    member: str
    scored: int
    failed: int
    mean: float | None
    low: float | None
    high: float | None
    """95 % interval of the mean; `None` for too few values."""


class PairAgreement(Value):
    """The agreement between two judges of a jury; it does not show whether they are right."""

    members: tuple[str, str]
    criterion: str | None
    """`None` for the value of the metric."""
    cases: int
    same: float
    """Share of cases with the same answer."""
    measure: str
    """`kappa` for words and yes/no, `correlation` for numbers."""
    figure: float | None
    """`None` if it is undefined: one judge always gives the same answer."""
    low: float | None = None
    high: float | None = None
    """95 % interval; `None` for too few cases."""


class RepeatSummary(Value):
    """The repeatability of several opinions on one criterion."""

    criterion: str | None
    """`None` for the value of the metric."""
    over: str
    """The difference between the opinions: `samples`, `orders` (of two answers) or `judges`."""
    cases: int
    exact: float | None
    """Share of cases in which all opinions are the same."""
    kappa: float | None
    """Fleiss' kappa, for words and yes/no."""
    icc: float | None
    """ICC(1,1) of the values on 0..1."""
    spread: float | None
    """Standard deviation of the values within a case."""
    needed: int | None
    """Number of opinions for a reliability of .9; `None` if it cannot be reached."""


class MassSummary(Value):
    """The share of a judge's probability on legal answers."""

    criterion: str
    source: str
    rows: int
    mean: float
    little: int
    """Number of rows with less than .8."""


class OpinionSummary(Value):
    """Several opinions on the cases of a metric."""

    members: tuple[MemberSummary, ...] = ()
    pairs: tuple[PairAgreement, ...] = ()
    repeats: tuple[RepeatSummary, ...] = ()
    masses: tuple[MassSummary, ...] = ()
    unbalanced: str | None = None
    """The order that was shown once more than its reverse."""

    @property
    def lines(self) -> list[str]:
        """The figures in sentences; repeatability only of the value or the only criterion."""
        alone = len({one.criterion for one in self.repeats}) == 1
        lines = [
            *map(_member_line, self.members),
            *(_pair_line(one) for one in self.pairs if one.criterion is None),
            *(_repeat_line(one) for one in self.repeats if alone or one.criterion is None),
            *(_mass_line(one) for one in self.masses if one.little),
        ]
        if self.unbalanced is not None:
            lines.append(
                f"The order {self.unbalanced!r} is shown once more often than its reverse; "
                "an even number of samples balances them."
            )
        return lines


def _member_line(one: MemberSummary) -> str:
    mean = "-" if one.mean is None else f"{one.mean:.2f}"
    interval = "too few for an interval" if one.low is None else f"[{one.low:.2f}, {one.high:.2f}]"
    failed = f", {one.failed} failed" if one.failed else ""
    return f"{one.member}: mean {mean} {interval}, {one.scored} scored{failed}"


def _pair_line(one: PairAgreement) -> str:
    figure = "undefined" if one.figure is None else f"{one.figure:.2f}"
    interval = "" if one.low is None else f" [{one.low:.2f}, {one.high:.2f}]"
    return (
        f"{one.members[0]} and {one.members[1]}: {one.measure} {figure}{interval}, "
        f"same in {one.same:.0%} of {one.cases}"
    )


def _repeat_line(one: RepeatSummary) -> str:
    what = one.criterion or "value"
    figures = [] if one.exact is None else [f"the same in {one.exact:.0%} of {one.cases} cases"]
    several = {"kappa": one.kappa, "ICC": one.icc, "sd": one.spread}
    figures += [f"{name} {figure:.2f}" for name, figure in several.items() if figure is not None]
    of = "kappa" if one.kappa is not None else "ICC"
    enough = "no number of answers" if one.needed is None else f"{one.needed} answers"
    if one.kappa is not None or one.icc is not None:
        figures.append(f"{enough} together would reach {RELIABLE:g} by this {of} (no interval)")
    return f"{what} over {one.over}: {', '.join(figures)}"


def _mass_line(one: MassSummary) -> str:
    return (
        f"{one.criterion}: legal answers have {one.mean:.0%} of the probability on average, and "
        f"less than {LITTLE_MASS:.0%} in {one.little} of {one.rows} rows"
    )


# -- adding up ---------------------------------------------------------------------


class _Agreement:
    """Adds up the answers of two judges to one criterion."""

    def __init__(self, *, clustered: bool) -> None:
        self._clustered = clustered
        self.counts: defaultdict[tuple[object, object], Counter[Hashable]] = defaultdict(Counter)
        """Both answers -> cluster -> number of cases."""
        self.sums = PairSums()
        self.same = self.cases = 0

    def add(self, answers: _Columns, values: _Columns, clusters: _Column, *, words: bool) -> None:
        """Add cases: the answers and values of both judges, and the clusters."""
        self.cases += len(clusters)
        self.same += sum(map(eq, *answers))
        if words:
            pairs = Counter(zip(*answers, clusters, strict=True))
            for (one, other, cluster), count in pairs.items():
                if len(self.counts) <= MOST_PAIRS:
                    self.counts[one, other][cluster] += count
        if any(None in column for column in values):
            known = [pair for pair in zip(*values, strict=True) if None not in pair]
            values = list(zip(*known, strict=True)) or [(), ()]
        self.sums.add(*values)

    def coefficient(self, *, words: bool) -> Coefficient:
        if not words:
            interval = None if self._clustered else self.sums.interval
            return Coefficient(self.sums.correlation, *(interval or (None, None)))
        labels = sorted({label for pair in self.counts for label in pair}, key=repr)
        if len(labels) < 2:
            return Coefficient(None)
        from judgekit.stats.agreement import PairColumns, kappa_figure  # loads numpy

        place = {label: number for number, label in enumerate(labels)}
        units: dict[Hashable, int] = {}
        rows = []
        for one, other in sorted(self.counts, key=repr):
            clusters = self.counts[one, other]
            for cluster in sorted(clusters, key=repr):
                unit = units.setdefault(cluster, len(units))
                rows.append((unit, place[one], place[other], clusters[cluster]))
        columns = PairColumns.counted(rows, clustered=self._clustered)
        return kappa_figure(columns, len(labels), None)


class OpinionTally:
    """Adds up the opinions of a metric, many rows at once; memory grows only with the clusters.

    Args:
        clustered: whether rows have clusters; correlations have no interval then.
    """

    def __init__(self, *, clustered: bool) -> None:
        figure = partial(FigureValues, clustered=clustered)
        self._members: defaultdict[str, FigureValues] = defaultdict(figure)
        self._failed: Counter[str] = Counter()
        agreement = partial(_Agreement, clustered=clustered)
        self._pairs: defaultdict[tuple[str, str, str | None], _Agreement] = defaultdict(agreement)
        self._repeats: defaultdict[tuple[str, str | None], RepeatTally] = defaultdict(RepeatTally)
        self._numbers: set[str | None] = {None}
        """Criteria with an answer that is not a word; the value of the metric is a number."""
        self._waiting: list[tuple[Sequence[Opinion], Hashable]] = []
        self._orders: dict[str, None] = {}
        self._masses: dict[str, list[Any]] = {}
        """Criterion -> source, rows, the sum of the mass of legal answers, rows with little."""

    def add(self, score: Score, cluster: Hashable = None) -> None:
        """Add the opinions of a score, with its cluster if there are clusters."""
        self._waiting.append((score.opinions, cluster))
        if len(self._waiting) * len(score.opinions) >= MOST_WAITING:
            self._flush()

    def add_distribution(self, id: str, shown: Distribution) -> None:
        """Add the distribution of the answers to a criterion."""
        if shown.source != "samples":
            mass = self._masses.setdefault(id, [shown.source, 0, 0.0, 0])
            mass[1] += 1
            mass[2] += shown.mass
            mass[3] += shown.mass < LITTLE_MASS

    def _flush(self) -> None:
        tables: _Tables = defaultdict(list)
        for opinions, cluster in self._waiting:
            texts: dict[str, dict[str, list[Opinion]]] = {}
            for opinion in opinions:
                members = texts.setdefault(opinion.of, {})
                members.setdefault(opinion.member, []).append(opinion)
                self._orders.setdefault(opinion.order, None)
            for members in texts.values():
                self._add(members, cluster, tables)
        self._waiting.clear()
        for (judges, names, _), rows in tables.items():
            *columns, clusters = zip(*rows, strict=True)
            answers = [[opinion.answers for opinion in column] for column in columns]
            values = [[opinion.values for opinion in column] for column in columns]
            for id in names:
                given = [[own.get(id) for own in column] for column in answers]
                numbers = [[own.get(id) for own in column] for column in values]
                self._add_columns(judges, id, given, numbers, clusters)
            if len(names) > 1 or judges:
                whole = [[opinion.value for opinion in column] for column in columns]
                self._add_columns(judges, None, whole, whole, clusters)

    def _add(
        self, members: Mapping[str, list[Opinion]], cluster: Hashable, tables: _Tables
    ) -> None:
        """Add the opinions on one text to the tables, and to the figures of the members."""
        firsts: dict[str, Opinion] = {}
        for member, opinions in members.items():
            own = [opinion for opinion in opinions if opinion.failure is None]
            if len(own) < len(opinions):
                self._failed[member] += len(opinions) - len(own)
            if own:
                firsts[member] = _first(own)
            if len(own) > 1:
                tables[(), tuple(own[0].answers), len(own)].append((*own, cluster))
            mean = mean_of([opinion.value for opinion in own])
            if len(members) > 1:
                tally = self._members[member]
                if mean is not None:
                    tally.add(mean, cluster)
        if len(firsts) > 1:
            row = tuple(firsts.values())
            tables[tuple(firsts), tuple(row[0].answers), len(row)].append((*row, cluster))

    def _add_columns(
        self,
        judges: tuple[str, ...],
        criterion: str | None,
        answers: _Columns,
        values: _Columns,
        clusters: _Column,
    ) -> None:
        """Add answers to one criterion, and their values."""
        swapped = any(order.endswith(SWAPPED) for order in self._orders)
        over = "judges" if judges else "orders" if swapped else "samples"
        self._repeats[over, criterion].add(answers, values)
        kinds = set(map(type, chain.from_iterable(answers)))
        words = all(issubclass(kind, (str, bool, type(None))) for kind in kinds)
        if not words:
            self._numbers.add(criterion)
        # Samples of one judge have no pairs of judges.
        for one, other in combinations(range(len(judges)), 2):
            self._pairs[judges[one], judges[other], criterion].add(
                [answers[one], answers[other]], [values[one], values[other]], clusters, words=words
            )

    def finish(self) -> OpinionSummary | None:
        """Return the figures; `None` if every row has one opinion without probabilities."""
        self._flush()
        if not self._repeats and not self._masses:
            return None
        return OpinionSummary(
            members=tuple(self._member(*member) for member in self._members.items()),
            pairs=tuple(self._pair(*pair) for pair in self._pairs.items()),
            repeats=tuple(self._repeat(*repeat) for repeat in self._repeats.items()),
            masses=tuple(
                MassSummary(criterion=id, source=source, rows=n, mean=total / n, little=little)
                for id, (source, n, total, little) in self._masses.items()
            ),
            unbalanced=_unbalanced(list(self._orders)),
        )

    def _member(self, name: str, tally: FigureValues) -> MemberSummary:
        low, high = tally.spread.interval(bounds=(0.0, 1.0)) or (None, None)
        own = tally.rows
        return MemberSummary(
            member=name, scored=own.n, failed=self._failed[name], mean=own.mean, low=low, high=high
        )

    def _pair(self, key: tuple[str, str, str | None], agreement: _Agreement) -> PairAgreement:
        words = key[2] not in self._numbers and len(agreement.counts) <= MOST_PAIRS
        found = agreement.coefficient(words=words)
        return PairAgreement(
            members=key[:2],
            criterion=key[2],
            cases=agreement.cases,
            same=agreement.same / agreement.cases,
            measure="kappa" if words else "correlation",
            figure=found.value,
            low=found.low,
            high=found.high,
        )

    def _repeat(self, key: tuple[str, str | None], tally: RepeatTally) -> RepeatSummary:
        over, criterion = key
        numbers = criterion in self._numbers
        kappa = None if numbers else tally.kappa
        needed = samples_needed(tally.icc if numbers else kappa)
        figures = {name: getattr(tally, name) for name in ("cases", "exact", "icc", "spread")}
        return RepeatSummary(criterion=criterion, over=over, kappa=kappa, needed=needed, **figures)


def _first(opinions: Sequence[Opinion]) -> Opinion:
    """Return the first opinion of a judge; for two answers, the combination of both orders.

    In a single order, judges with a position bias would seem to agree.
    """
    first, *others = opinions
    if not others or others[0].order != SWAPPED or first.sample != others[0].sample:
        return first
    other = others[0]
    answers = {
        id: answer if answer == other.answers[id] else "orders disagree"
        for id, answer in first.answers.items()
    }
    values = {id: mean_of([value, other.values[id]]) for id, value in first.values.items()}
    update = {"answers": answers, "values": values, "value": mean_of([first.value, other.value])}
    return first.model_copy(update=update)


def _unbalanced(orders: Sequence[str]) -> str | None:
    """Return the order without its reverse, if there are several orders."""
    orders = [order for order in orders if not order.endswith(SWAPPED)]
    pairs = {order: f"{order} reversed".removeprefix("written ") for order in orders}
    alone = [o for o, pair in pairs.items() if not o.endswith("reversed") and pair not in orders]
    return alone[0] if alone and len(orders) > 1 else None
