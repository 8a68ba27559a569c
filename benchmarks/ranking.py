"""Coverage of the intervals of `judgekit rank`, by simulation, and its time.

    python benchmarks/ranking.py [repetitions]

For each setting, comparisons are drawn from known strengths (seed = number of the repetition), and
the product's own code makes the intervals. A covered strength is one whose distance from the centre
is inside its interval; a covered rank is one whose interval contains the true rank. Then all models
are equal, and each of them is a best one: a study errs if it denies one of them rank 1. Last, two
rankings by other prompts, whose true strengths agree about some pairs of models: the interval of
the share of pairs in the same order, and its mean width.
"""

from __future__ import annotations

import sys
import time

import numpy as np

from judgekit.analysis.ranking.rank import rank
from judgekit.analysis.ranking.strengths import FittedStrengths, groups_of
from tests.analysis.ranking.simulated import centred, drawn_wins

SETTINGS = [(4, 15, 6), (5, 20, 10), (5, 60, 3), (8, 60, 10), (8, 300, 2)]
"""Models, prompts, comparisons on each prompt."""
DRAWS = 200
EQUAL = [(2, 40, 1), (3, 20, 3), (5, 30, 5), (8, 60, 8), (12, 60, 20)]
"""Models of the same strength, prompts, comparisons on each prompt."""


def share_denied(models: int, prompts: int, pairs: int, *, studies: int) -> float:
    """Return the share of studies in which one of several equal models may not be the best."""
    denied = []
    for seed in range(studies):
        wins = drawn_wins(np.zeros(models), prompts=prompts, pairs=pairs, seed=seed)
        if len(groups_of(wins, models)[0]) == 1:
            found = FittedStrengths(wins, draws=DRAWS, seed=seed).strengths()
            denied.append(any(one.rank_low != 1 for one in found))
    return float(np.mean(denied))


def agreement(models: int, prompts: int, pairs: int, turned: int, *, studies: int) -> list[float]:
    """Return the true share of pairs in the same order, its coverage, and the mean width.

    Args:
        models: the number of models.
        prompts: prompts of each ranking.
        pairs: comparisons on each prompt.
        turned: how many neighbours are the other way round in the second ranking.
        studies: studies to draw.
    """
    truth = np.linspace(1.2, -1.2, models)
    other = truth.copy()
    for place in range(0, 2 * turned, 2):
        other[[place, place + 1]] = other[[place + 1, place]]
    share = 1 - turned / (models * (models - 1) / 2)
    covered, widths = [], []
    for seed in range(studies):
        both = [
            [{"prompt": w.prompt, "a": f"m{w.winner}", "b": f"m{w.loser}", "winner": "a"}
             for w in drawn_wins(strengths, prompts=prompts, pairs=pairs, seed=own)]
            for strengths, own in ((truth, seed), (other, seed + studies))
        ]  # fmt: skip
        found = rank(both[0], against=both[1], draws=DRAWS).against
        if found is not None and found.share_low is not None and found.share_high is not None:
            covered.append(found.share_low <= share + 1e-9 and share - 1e-9 <= found.share_high)
            widths.append(found.share_high - found.share_low)
    return [share, float(np.mean(covered)), float(np.mean(widths))]


AGREEMENT = [(4, 40, 6, 1), (5, 100, 10, 1), (8, 200, 20, 2)]
"""Models, prompts, comparisons on each prompt, and neighbours that are the other way round."""


def main(repetitions: int) -> None:
    print("models  prompts  comparisons  strengths  ranks  not connected")
    for models, prompts, pairs in SETTINGS:
        truth = centred(np.linspace(1.2, -1.2, models))
        covered, ranked, apart = [], [], 0
        for seed in range(repetitions):
            wins = drawn_wins(truth, prompts=prompts, pairs=pairs, seed=seed)
            if len(groups_of(wins, models)[0]) > 1:
                apart += 1
                continue
            found = FittedStrengths(wins, draws=DRAWS, seed=seed).strengths()
            covered += [one.low <= at <= one.high for one, at in zip(found, truth, strict=True)]
            ranked += [one.rank_low <= n <= one.rank_high for n, one in enumerate(found, start=1)]
        print(
            f"{models:6}  {prompts:7}  {prompts * pairs:11}  {np.mean(covered):9.3f}  "
            f"{np.mean(ranked):5.3f}  {apart:13}"
        )
    print("equal models  prompts  comparisons  one is denied rank 1")
    for models, prompts, pairs in EQUAL:
        share = share_denied(models, prompts, pairs, studies=repetitions)
        print(f"{models:12}  {prompts:7}  {prompts * pairs:11}  {share:.3f}", flush=True)
    print("models  prompts  comparisons  same order  covered  width")
    for models, prompts, pairs, turned in AGREEMENT:
        share, covered, width = agreement(models, prompts, pairs, turned, studies=repetitions)
        figures = f"{share:10.2f}  {covered:7.3f}  {width:5.2f}"
        print(f"{models:6}  {prompts:7}  {prompts * pairs:11}  {figures}", flush=True)
    names = [f"model {n}" for n in range(10)]
    wins = drawn_wins(np.linspace(1, -1, 10), prompts=1000, pairs=10, seed=1)
    rows = [
        {"prompt": w.prompt, "a": names[w.winner], "b": names[w.loser], "winner": "a"} for w in wins
    ]
    start = time.perf_counter()
    rank(rows)
    seconds = time.perf_counter() - start
    print(f"{len(rows):,} comparisons of 10 models, 1,000 draws: {seconds:.1f} s")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
