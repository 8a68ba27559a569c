"""The alternative annotator test, on the labels of one criterion."""

from __future__ import annotations

import math
from collections.abc import Sequence

from judgekit.analysis.agreement.pairs import Answer, JudgedPair, by_case
from judgekit.analysis.agreement.statistics import AnswerScale
from judgekit.report.agreement import AltTest, AltTestLabeller
from judgekit.stats.clusters import cr2
from judgekit.stats.intervals import mean_interval
from judgekit.stats.replacement import FEWEST_ITEMS, ItemComparison, left_out, rejected, too_few


def alternative_test(scale: AnswerScale, pairs: Sequence[JudgedPair], epsilon: float) -> AltTest:
    """Return the alternative annotator test (Calderon et al. 2025).

    Agreement with the remaining labellers is the share of equal answers, for numbers the negative
    root of the mean squared difference. A reply without a verdict agrees least.

    Args:
        scale: the answers.
        pairs: a pair for each label.
        epsilon: by how much a labeller may be better; what labels by people cost more.
    """
    items: dict[str, list[ItemComparison]] = {pair.labeller: [] for pair in pairs}
    for own in by_case(pairs):
        for one in own if len(own) > 1 else ():
            others = [pair.person for pair in own if pair is not one]
            judge, labeller = (_agreement(a, others, scale) for a in (one.judge, one.person))
            items[one.labeller].append(ItemComparison(judge, labeller, one.case.unit, one.weight))
    enough = sorted(name for name, own in items.items() if len(own) >= FEWEST_ITEMS)
    units = len({item.unit for name in enough for item in items[name]})
    clusters = units if scale.clustered else None
    few = too_few(max(map(len, items.values()), default=0), len(enough), clusters)
    tests = [(name, left_out(items[name], epsilon)) for name in (() if few else enough)]
    known = [(name, test) for name, test in tests if test is not None]
    wins = rejected([test.p for _, test in known])
    tested = tuple(
        AltTestLabeller(
            labeller=name, n=test.n, difference=test.mean, advantage=test.advantage, p=test.p,
            wins=won,
        )
        for (name, test), won in zip(known, wins, strict=True)
    )  # fmt: skip
    result = AltTest(
        epsilon=epsilon,
        by="negative RMSE" if scale.kind == "number" else "accuracy",
        labellers=tested,
        short=tuple(sorted(items.keys() - set(enough))),
        too_few=few,
    )
    if few:
        return result
    advantage, low, high = _advantage([items[name] for name in enough])
    return result.model_copy(
        update={
            "winning_rate": sum(wins) / len(wins), "advantage": advantage, "low": low, "high": high
        }
    )  # fmt: skip


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
    totals: dict[object, float] = {}
    sizes: dict[object, float] = {}
    for items in labellers:
        whole = math.fsum(item.weight for item in items) * len(labellers)
        for item in items:
            share = item.weight / whole
            sizes[item.unit] = sizes.get(item.unit, 0.0) + share
            better = item.judge >= item.labeller - 1e-12
            totals[item.unit] = totals.get(item.unit, 0.0) + share * better
    figures = cr2(list(totals.values()), list(sizes.values()))
    assert figures is not None  # noqa: S101 - the test needs 30 cases
    ends = mean_interval(*figures, bounds=(0.0, 1.0))
    low, high = ends or (None, None)
    return figures.mean, low, high
