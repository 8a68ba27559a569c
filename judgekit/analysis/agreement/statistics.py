"""The statistics of the answers to one criterion."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from judgekit.analysis.agreement.pairs import Answer, JudgedPair, by_case
from judgekit.report.agreement import (
    AgreementStatistic,
    Disagreement,
    GroupAgreement,
    LabellerAgreement,
    ReasonedLabel,
    SystemAgreement,
    SystemMeans,
)
from judgekit.report.calibration import NO_VERDICT, Scale
from judgekit.stats.agreement import (
    FEWEST_CASES,
    Coefficient,
    Paired,
    kappa_figure,
    rank_figure,
)
from judgekit.stats.alpha import alpha_figure
from judgekit.stats.clusters import ClusteredMean
from judgekit.stats.correlations import kendall_figure, pearson_figure
from judgekit.stats.shares import share_figures

FEWEST_SYSTEMS = 5
"""Systems that a correlation of their means needs."""
MOST_DISAGREEMENTS = 10
"""Cases with a disagreement that are kept."""
MOST_REASON = 1_000
"""Characters of a reason that are kept."""


@dataclass(frozen=True)
class AnswerScale:
    """The answers to one criterion, in order, and how they are compared."""

    kind: Scale
    order: Sequence[Answer]
    """All answers; their places are the places of `Paired`."""
    tabled: bool
    """Whether there are few enough answers for a table and a kappa."""
    power: int
    """Of the distance in kappa: 1 for linear and 2 for quadratic weights, 0 for none."""
    clustered: bool
    rank: Mapping[Answer, int]

    @property
    def yes_no(self) -> bool:
        """Whether the answers are no and yes."""
        return list(self.order) == [False, True] and isinstance(self.order[0], bool)

    @property
    def numbers(self) -> list[float]:
        """The position of each place."""
        return [float(v) if self.kind == "number" else float(n) for n, v in enumerate(self.order)]

    def judged(self, pairs: Sequence[JudgedPair]) -> list[Paired]:
        """Return pairs as places; a reply without a verdict has a place after all answers."""
        rank, failed = self.rank, len(self.order)
        return [
            Paired(
                p.case.unit, failed if p.judge is None else rank[p.judge], rank[p.person], p.weight
            )
            for p in pairs
        ]

    def people(self, pairs: Sequence[JudgedPair]) -> list[Paired]:
        """Return the pairs of answers by two people to one case, in both orders.

        The order of two people is arbitrary.
        """
        once = [
            Paired(one.case.unit, self.rank[one.person], self.rank[other.person], one.weight)
            for own in by_case(pairs)
            for one, other in combinations(own, 2)
        ]
        return [*once, *(pair._replace(first=pair.second, second=pair.first) for pair in once)]

    def kappa(self, pairs: Sequence[Paired]) -> Coefficient | None:
        """Return kappa; `None` for too many answers."""
        if not self.tabled:
            return None
        size = len(self.order) + any(pair.first >= len(self.order) for pair in pairs)
        places = self.numbers if self.power else None
        return kappa_figure(pairs, size, places, power=self.power or 2, clustered=self.clustered)

    def spearman(self, pairs: Sequence[Paired]) -> Coefficient | None:
        """Return Spearman's rho without failed replies; `None` for answers without an order."""
        if self.kind == "nominal":
            return None
        return rank_figure(self.verdicts(pairs), len(self.order), clustered=self.clustered)

    def verdicts(self, pairs: Sequence[Paired]) -> list[Paired]:
        """Return the pairs with a verdict."""
        return [pair for pair in pairs if pair.first < len(self.order)]

    def correlations(self, pairs: Sequence[Paired]) -> dict[str, Coefficient]:
        """Return Pearson's r of numbers and of yes/no, and Kendall's tau-b of ordered answers."""
        known, figures = self.verdicts(pairs), {}
        if self.kind == "number" or self.yes_no:
            figures["pearson"] = pearson_figure(known, self.numbers, clustered=self.clustered)
        if self.kind != "nominal":
            figures["kendall"] = kendall_figure(known, clustered=self.clustered)
        return figures

    def of_pairs(self, pairs: Sequence[Paired], *, orders: int = 1) -> list[AgreementStatistic]:
        """Return the statistics of pairs.

        Args:
            pairs: the pairs.
            orders: how often each pair is there: twice for two people.
        """
        if not pairs:
            return []
        figures = []
        if self.yes_no:
            shares = share_figures(pairs, clustered=self.clustered)
            figures += [
                AgreementStatistic.of(name, one.n // orders, one.figure)
                for name, one in shares.items()
                # Between people the others are the F1 of yes or of no.
                if orders == 1 or name in ("f1", "balanced_f1")
            ]
        n = len(self.verdicts(pairs)) // orders
        named = self.correlations(pairs).items()
        return figures + [AgreementStatistic.of(name, n, one) for name, one in named]

    def alphas(self, pairs: Sequence[JudgedPair], *, judge: bool) -> list[AgreementStatistic]:
        """Return Krippendorff's alphas over cases with at least two answers.

        A failed reply is an answer that nobody else gave where answers have no order, and missing
        otherwise.

        Args:
            pairs: a pair for each label.
            judge: whether the judge is a rater beside the people.
        """
        levels: list[str] = ["nominal"] if self.tabled else []
        levels += ["ordinal"] if self.kind != "nominal" else []
        levels += ["interval"] if self.kind == "number" else []
        cases = list(by_case(pairs))
        values = [*self.numbers, float(len(self.order))]
        figures = []
        for level in levels:
            answers = []
            for own in cases:
                raters = [self.rank[pair.person] for pair in own]
                first = own[0].judge
                if judge and (first is not None or level == "nominal"):
                    raters.append(len(self.order) if first is None else self.rank[first])
                answers.append(raters)
            n = sum(len(raters) > 1 for raters in answers)
            if n:
                figure = alpha_figure(
                    answers, values, level,  # type: ignore[arg-type]
                    units=[own[0].case.unit for own in cases] if self.clustered else None,
                    weights=[own[0].weight for own in cases],
                )  # fmt: skip
                figures.append(AgreementStatistic.of(f"alpha_{level}", n, figure))
        return figures

    def main(self, pairs: Sequence[Paired], *, orders: int = 1) -> AgreementStatistic:
        """Return kappa, or Spearman's rho of numbers of many values."""
        n = len(pairs) // orders
        if (kappa := self.kappa(pairs)) is not None:
            return AgreementStatistic.of("kappa", n, kappa)
        rho = self.spearman(pairs) or Coefficient(None)
        return AgreementStatistic.of("spearman", len(self.verdicts(pairs)) // orders, rho)

    def distance(self, one: Answer | None, other: Answer) -> float:
        """Return the distance of two answers, from 0 to 1 for the largest possible one."""
        if one is None or self.kind == "nominal":
            return float(one is None or one != other)
        numbers, width = self.numbers, self.numbers[-1] - self.numbers[0]
        return abs(numbers[self.rank[one]] - numbers[self.rank[other]]) / (width or 1.0)


def by_labeller(scale: AnswerScale, pairs: Sequence[JudgedPair]) -> list[LabellerAgreement]:
    """Return each labeller against the judge and against the other labellers, by name."""
    own: dict[str, list[JudgedPair]] = {}
    against: dict[str, list[Paired]] = {}
    for pair in pairs:
        own.setdefault(pair.labeller, []).append(pair)
    for answers in by_case(pairs):
        for one in answers:
            against.setdefault(one.labeller, []).extend(
                Paired(one.case.unit, scale.rank[one.person], scale.rank[other.person], one.weight)
                for other in answers if other is not one
            )  # fmt: skip
    return [
        LabellerAgreement(
            labeller=name,
            judge=scale.main(scale.judged(own[name])),
            others=scale.main(against[name]) if against[name] else None,
        )
        for name in sorted(own)
    ]


def within_groups(
    scale: AnswerScale, pairs: Sequence[JudgedPair], field: str
) -> GroupAgreement | None:
    """Return agreement within each group of cases, averaged over the groups.

    The units of the interval are groups, or clusters of whole groups.
    """
    groups: dict[str, list[JudgedPair]] = {}
    for pair in pairs:
        if pair.case.group is not None:
            groups.setdefault(pair.case.group, []).append(pair)
    if not groups:
        return None
    means: dict[str, ClusteredMean] = {}
    for name, own in groups.items():
        judged = scale.judged(own)
        figures = {"kappa": scale.kappa(judged), "spearman": scale.spearman(judged)}
        units = {pair.case.unit for pair in own}
        unit: Hashable = units.pop() if scale.clustered and len(units) == 1 else name
        for statistic, figure in (figures | scale.correlations(judged)).items():
            if figure is not None:
                mean = means.setdefault(statistic, ClusteredMean())
                if figure.value is not None:
                    mean.add(figure.value, unit)
    return GroupAgreement(
        field=field,
        groups=len(groups),
        statistics=tuple(_mean_statistic(name, mean) for name, mean in means.items()),
    )


def _mean_statistic(name: str, mean: ClusteredMean) -> AgreementStatistic:
    low, high = mean.interval(bounds=(-1.0, 1.0)) or (None, None)
    why = mean.too_few.replace("clusters", "groups") if mean.too_few else None
    return AgreementStatistic(
        name=name, n=mean.n, value=mean.mean, low=low, high=high, too_few=why if mean.n else None
    )


def by_system(
    scale: AnswerScale, pairs: Sequence[JudgedPair], field: str | None
) -> SystemAgreement | None:
    """Return agreement about the mean scores of systems, without failed replies.

    Yes counts 1 and no 0; words in order are evenly spread over 0..1. `None` for words without an
    order, and without two systems.
    """
    if scale.kind == "nominal" and not scale.yes_no:
        return None
    numbers, width = scale.numbers, 1.0 if scale.kind == "number" else len(scale.order) - 1.0
    sums: dict[str, list[float]] = {}
    cases: dict[str, set[str]] = {}
    for pair in pairs:
        name = pair.case.system
        if name is None or pair.judge is None:
            continue
        total = sums.setdefault(name, [0.0, 0.0, 0.0])
        for place, answer in enumerate((pair.judge, pair.person)):
            total[place] += pair.weight * numbers[scale.rank[answer]] / width
        total[2] += pair.weight
        cases.setdefault(name, set()).add(pair.case.id)
    if len(sums) < 2:
        return None
    systems = [
        SystemMeans(system=name, cases=len(cases[name]), judge=one / weight, people=other / weight)
        for name, (one, other, weight) in sorted(sums.items())
    ]
    return SystemAgreement(
        field=field, systems=tuple(systems), statistics=tuple(_of_systems(systems))
    )


def _of_systems(systems: Sequence[SystemMeans]) -> list[AgreementStatistic]:
    count = len(systems)
    values = sorted({round(v, 12) for one in systems for v in (one.judge, one.people)})
    place = {value: number for number, value in enumerate(values)}
    pairs = [
        Paired(n, place[round(one.judge, 12)], place[round(one.people, 12)])
        for n, one in enumerate(systems)
    ]
    figures = {
        "spearman": rank_figure(pairs, len(values)),
        "pearson": pearson_figure(pairs, values),
        "kendall": kendall_figure(pairs),
    }
    few = f"{count} of the {FEWEST_CASES} systems that an interval needs"
    if count < FEWEST_SYSTEMS:
        few = f"{count} of the {FEWEST_SYSTEMS} systems that a correlation needs"
        figures = {name: replace(one, value=None, too_few=few) for name, one in figures.items()}
    return [
        AgreementStatistic.of(name, count, replace(one, too_few=one.too_few and few))
        for name, one in figures.items()
    ]


def shown(answer: Answer | None) -> str:
    """Return an answer as text."""
    if answer is None:
        return NO_VERDICT
    if isinstance(answer, bool):
        return "yes" if answer else "no"
    return answer if isinstance(answer, str) else f"{answer:g}"


def disagreements(scale: AnswerScale, pairs: Sequence[JudgedPair]) -> list[Disagreement]:
    """Return the cases with the largest mean distance of the judge to the labels."""
    found: list[tuple[float, int, list[JudgedPair]]] = []
    for own in by_case(pairs):
        distance = sum(scale.distance(p.judge, p.person) for p in own) / len(own)
        if distance > 0:
            found.append((-distance, len(found), own))
    return [
        Disagreement(
            case=own[0].case.id,
            judge=shown(own[0].judge),
            reason=own[0].case.reason[:MOST_REASON],
            people=tuple(
                ReasonedLabel(
                    labeller=p.labeller, value=shown(p.person), reason=p.reason[:MOST_REASON]
                )
                for p in own
            ),
            distance=-negative,
        )
        for negative, _, own in sorted(found)[:MOST_DISAGREEMENTS]
    ]
