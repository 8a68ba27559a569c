"""Agreement within groups and about systems, and the alternative annotator test."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

from judgekit.analysis.agreement.pairs import Answer, Cases, JudgedPair, Pairs
from judgekit.analysis.agreement.statistics import AnswerScale
from judgekit.report import calibration as results
from judgekit.stats import tests as stats_tests
from judgekit.stats.agreement import FEWEST_CASES, PairColumns, Paired, rank_figure
from judgekit.stats.clusters import ClusteredMean, cr2
from judgekit.stats.coefficients import kendall_figure, pearson_figure
from judgekit.stats.intervals import Coefficient, CountedFigure, mean_interval
from judgekit.stats.tests import FEWEST_ITEMS, ROUNDING, ItemComparison

FEWEST_SYSTEMS = 5
"""Minimum number of systems for a correlation of their means."""


def within_groups(scale: AnswerScale, pairs: Pairs, field: str) -> results.GroupAgreement | None:
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
        # As one unit, because no intervals are needed here.
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
    statistics = results.statistics_of(figures)
    return results.GroupAgreement(field=field, groups=len(groups), statistics=statistics)


def by_system(
    scale: AnswerScale, pairs: Pairs, field: str | None
) -> results.SystemAgreement | None:
    """Return agreement about the mean scores of systems, without failed replies.

    Yes counts as 1 and no as 0; ordered words are evenly spaced on 0..1. `None` for unordered
    words, or with fewer than two systems.
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
        systems.append(results.SystemMeans(system=name, cases=cases, judge=judge, people=people))
    if len(systems) < 2:
        return None
    figures = results.statistics_of(_of_systems(systems))
    return results.SystemAgreement(field=field, systems=tuple(systems), statistics=figures)


def _of_systems(systems: Sequence[results.SystemMeans]) -> dict[str, CountedFigure]:
    count, scores = len(systems), [(round(s.judge, 12), round(s.people, 12)) for s in systems]
    values = sorted({value for both in scores for value in both})
    pairs = PairColumns.of([Paired(n, *map(values.index, s)) for n, s in enumerate(scores)])
    figures = {
        "spearman": rank_figure(pairs),
        "pearson": pearson_figure(pairs, values),
        "kendall": kendall_figure(pairs),
    }
    few = f"{count} of the {FEWEST_CASES} systems that an interval needs"
    if count < FEWEST_SYSTEMS:
        few = f"{count} of the {FEWEST_SYSTEMS} systems that a correlation needs"
        figures = {name: replace(one, value=None, too_few=few) for name, one in figures.items()}
    figures = {name: replace(one, too_few=one.too_few and few) for name, one in figures.items()}
    known = {name: CountedFigure(count, one) for name, one in figures.items()}
    if count >= FEWEST_SYSTEMS:
        figure = _same_order(scores, figures["kendall"])
        known["same_order"] = CountedFigure(math.comb(count, 2), figure)
    return known


def _same_order(scores: Sequence[tuple[float, float]], tau: Coefficient) -> Coefficient:
    """Return the share of the pairs of systems that judge and people order alike.

    A tie on either side is no order. Without ties the share is (1 + tau-b) / 2, and so are the ends
    of its interval.
    """
    steps = [(a[0] - b[0]) * (a[1] - b[1]) for a, b in combinations(scores, 2)]
    share = Coefficient(sum(step > 0 for step in steps) / len(steps), too_few=tau.too_few)
    if tau.low is None or tau.high is None:
        return share
    if not all(steps):
        return replace(share, too_few="some systems have equal means")
    return replace(share, low=(1 + tau.low) / 2, high=(1 + tau.high) / 2)


def alternative_test(scale: AnswerScale, cases: Cases, epsilon: float) -> results.AltTest:
    """Return the alternative annotator test (Calderon et al. 2025).

    Agreement with the remaining labellers is the share of equal answers; for numbers, it is the
    negative root mean squared difference. A reply without a verdict has the lowest agreement.

    Args:
        scale: the answers.
        cases: a pair for each label.
        epsilon: the tolerated advantage of a labeller, to account for the higher cost of human
            labels.
    """
    items: dict[str, list[ItemComparison]] = {pair.labeller: [] for own in cases for pair in own}
    for own in cases:
        for one in own if len(own) > 1 else ():
            others = [pair.person for pair in own if pair is not one]
            judge, labeller = (_agreement(a, others, scale) for a in (one.judge, one.person))
            items[one.labeller].append(ItemComparison(judge, labeller, one.case.unit, one.weight))
    enough = sorted(name for name, own in items.items() if len(own) >= FEWEST_ITEMS)
    units = len({item.unit for name in enough for item in items[name]})
    clusters = units if scale.clustered else None
    few = stats_tests.too_few(max(map(len, items.values()), default=0), len(enough), clusters)
    figures: dict[str, Any] = {"labellers": ()}
    if not few:
        tests = [stats_tests.left_out(items[name], epsilon) for name in enough]
        wins = stats_tests.rejected([test.p for test in tests])
        tested = [results.AltTestLabeller(labeller=name, wins=won, **test._asdict())
                  for name, test, won in zip(enough, tests, wins, strict=True)]  # fmt: skip
        figures = {"labellers": tuple(tested), "winning_rate": sum(wins) / len(wins)}
        figures |= _advantage([items[name] for name in enough])
    figures["by"] = "negative RMSE" if scale.kind == "number" else "accuracy"
    short = tuple(sorted(items.keys() - set(enough)))
    return results.AltTest(epsilon=epsilon, short=short, too_few=few, **figures)


def _agreement(answer: Answer | None, others: Sequence[Answer], scale: AnswerScale) -> float:
    if answer is None:
        return -math.inf
    if scale.kind != "number":
        return sum(answer == other for other in others) / len(others)
    squares = math.fsum((float(answer) - float(other)) ** 2 for other in others)
    return -math.sqrt(squares / len(others))


def _advantage(labellers: Sequence[Sequence[ItemComparison]]) -> dict[str, float | None]:
    """Return the mean over labellers of the advantage probability, with its interval by unit."""
    totals: defaultdict[object, float] = defaultdict(float)
    sizes: defaultdict[object, float] = defaultdict(float)
    for items in labellers:
        whole = math.fsum(item.weight for item in items) * len(labellers)
        for item in items:
            sizes[item.unit] += item.weight / whole
            totals[item.unit] += item.weight / whole * (item.judge >= item.labeller - ROUNDING)
    figures = cr2(list(totals.values()), list(sizes.values()))
    assert figures is not None  # noqa: S101 - the test needs 30 cases
    low, high = mean_interval(*figures, bounds=(0.0, 1.0)) or (None, None)
    return {"advantage": figures.mean, "low": low, "high": high}
