"""Agreement within groups of cases, and about the mean scores of systems."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace

from judgekit.analysis.agreement.pairs import JudgedPair
from judgekit.analysis.agreement.statistics import AnswerScale
from judgekit.report.agreement import GroupAgreement, SystemAgreement, SystemMeans, statistics_of
from judgekit.stats.agreement import (
    FEWEST_CASES,
    Coefficient,
    CountedFigure,
    PairColumns,
    Paired,
    rank_figure,
)  # fmt: skip
from judgekit.stats.clusters import ClusteredMean
from judgekit.stats.correlations import kendall_figure, pearson_figure

FEWEST_SYSTEMS = 5
"""Systems that a correlation of their means needs."""


def within_groups(
    scale: AnswerScale, pairs: Sequence[JudgedPair], field: str
) -> GroupAgreement | None:
    """Return agreement within each group of cases, averaged over the groups.

    The units of the interval are groups, or clusters of whole groups.
    """
    import numpy as np

    groups: dict[str, list[int]] = {}
    for place, pair in enumerate(pairs):
        if pair.case.group is not None:
            groups.setdefault(pair.case.group, []).append(place)
    if not groups:
        return None
    means: dict[str, ClusteredMean] = {}
    whole = scale.judged(pairs)
    columns = (whole.first, whole.second, whole.weights)
    for name, places in groups.items():
        own = {*whole.units[places].tolist()}
        unit: Hashable = own.pop() if scale.clustered and len(own) == 1 else name
        # In one unit, because values need no intervals here.
        group = PairColumns(np.zeros(len(places)), *(column[places] for column in columns))
        for statistic, (_, figure) in scale.figures(group).items():
            mean = means.setdefault(statistic, ClusteredMean())
            if figure.value is not None:
                mean.add(figure.value, unit)
    figures = {}
    for statistic, mean in means.items():
        low, high = mean.interval(bounds=(-1.0, 1.0)) or (None, None)
        few = mean.too_few.replace("clusters", "groups") if mean.too_few and mean.n else None
        figures[statistic] = CountedFigure(mean.n, Coefficient(mean.mean, low, high, few))
    return GroupAgreement(field=field, groups=len(groups), statistics=statistics_of(figures))


def by_system(
    scale: AnswerScale, pairs: Sequence[JudgedPair], field: str | None
) -> SystemAgreement | None:
    """Return agreement about the mean scores of systems, without failed replies.

    Yes counts 1 and no 0; words in order are evenly spread over 0..1. `None` for words without an
    order, and without two systems.
    """
    import numpy as np

    if scale.kind == "nominal" and not scale.yes_no:
        return None
    width = 1.0 if scale.kind == "number" else len(scale.order) - 1.0
    own: dict[str, list[JudgedPair]] = {}
    for pair in pairs:
        if pair.case.system is not None and pair.judge is not None:
            own.setdefault(pair.case.system, []).append(pair)
    systems = []
    for name, known in sorted(own.items()):
        columns = scale.judged(known)
        numbers = np.asarray(scale.numbers) / (width * len(known))
        judge, people = (float((columns.weights * numbers[side]).sum())
                         for side in (columns.first, columns.second))  # fmt: skip
        cases = len({pair.case.id for pair in known})
        systems.append(SystemMeans(system=name, cases=cases, judge=judge, people=people))
    if len(systems) < 2:
        return None
    figures = statistics_of(_of_systems(systems))
    return SystemAgreement(field=field, systems=tuple(systems), statistics=figures)


def _of_systems(systems: Sequence[SystemMeans]) -> dict[str, CountedFigure]:
    count, scores = len(systems), [(round(s.judge, 12), round(s.people, 12)) for s in systems]
    values = sorted({value for both in scores for value in both})
    pairs = PairColumns.of([Paired(n, *map(values.index, s)) for n, s in enumerate(scores)])
    figures = {
        "spearman": rank_figure(pairs, len(values)),
        "pearson": pearson_figure(pairs, values),
        "kendall": kendall_figure(pairs),
    }
    few = f"{count} of the {FEWEST_CASES} systems that an interval needs"
    if count < FEWEST_SYSTEMS:
        few = f"{count} of the {FEWEST_SYSTEMS} systems that a correlation needs"
        figures = {name: replace(one, value=None, too_few=few) for name, one in figures.items()}
    return {name: CountedFigure(count, replace(one, too_few=one.too_few and few))
            for name, one in figures.items()}  # fmt: skip
