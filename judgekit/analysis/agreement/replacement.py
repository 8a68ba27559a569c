"""The alternative annotator test, on the labels of one criterion."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from typing import Literal

from judgekit.analysis.agreement.pairs import Answer, Cases
from judgekit.analysis.agreement.statistics import AnswerScale
from judgekit.report.agreement import AltTest, AltTestLabeller
from judgekit.stats.clusters import cr2
from judgekit.stats.intervals import mean_interval
from judgekit.stats.replacement import (
    FEWEST_ITEMS,
    ROUNDING,
    ItemComparison,
    left_out,
    rejected,
    too_few,
)  # fmt: skip


def alternative_test(scale: AnswerScale, cases: Cases, epsilon: float) -> AltTest:
    """Return the alternative annotator test (Calderon et al. 2025).

    Agreement with the remaining labellers is the share of equal answers, for numbers the negative
    root of the mean squared difference. A reply without a verdict agrees least.

    Args:
        scale: the answers.
        cases: a pair for each label.
        epsilon: by how much a labeller may be better; what labels by people cost more.
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
    few = too_few(max(map(len, items.values()), default=0), len(enough), clusters)
    by: Literal["accuracy", "negative RMSE"]
    by = "negative RMSE" if scale.kind == "number" else "accuracy"
    short = tuple(sorted(items.keys() - set(enough)))
    result = AltTest(epsilon=epsilon, by=by, labellers=(), short=short, too_few=few)
    if few:
        return result
    tests = [left_out(items[name], epsilon) for name in enough]
    wins = rejected([test.p for test in tests])
    tested = [AltTestLabeller(labeller=name, wins=won, **test._asdict())
              for name, test, won in zip(enough, tests, wins, strict=True)]  # fmt: skip
    advantage, low, high = _advantage([items[name] for name in enough])
    update = {"labellers": tuple(tested), "winning_rate": sum(wins) / len(wins)}
    return result.model_copy(update=update | {"advantage": advantage, "low": low, "high": high})


def _agreement(answer: Answer | None, others: Sequence[Answer], scale: AnswerScale) -> float:
    if answer is None:
        return -math.inf
    if scale.kind != "number":
        return sum(answer == other for other in others) / len(others)
    squares = math.fsum((float(answer) - float(other)) ** 2 for other in others)
    return -math.sqrt(squares / len(others))


def _advantage(
    labellers: Sequence[Sequence[ItemComparison]],
) -> tuple[float, float | None, float | None]:
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
    return figures.mean, *(mean_interval(*figures, bounds=(0.0, 1.0)) or (None, None))
