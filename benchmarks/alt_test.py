"""How often the alternative annotator test passes a judge, by simulation with known truth.

    python benchmarks/alt_test.py [runs]

Cases have one of k true labels. Labellers give it with a known probability, and any other label
otherwise. *Size*: the judge is exactly so bad that a labeller is better in epsilon more of the
cases than the judge; it must pass at most 6 % of the time. *Power*: the judge is as good as the
labellers. The plain t test, without the added case, is shown beside.
"""

from __future__ import annotations

import sys
from statistics import NormalDist
from typing import Any

import numpy as np

from judgekit.stats.student import student_t_p
from judgekit.stats.tests import ItemComparison, left_out, rejected

SIZE = 0.06
CASES = (30, 50, 100, 200)
SETTINGS = [
    (labellers, right, labels, epsilon)
    for labellers in (3, 5)
    for right in (0.7, 0.9, 1.0)
    for labels in (2, 4)
    for epsilon in (0.1, 0.15, 0.2)
    if not (right == 0.7 and labels == 2 and epsilon == 0.2)  # a judge who is nearly never right
]


def raters(draw: Any, truth: Any, right: float, labels: int) -> Any:
    wrong = (truth + draw.integers(1, labels, truth.shape)) % labels
    return np.where(draw.random(truth.shape) < right, truth, wrong)


def scores(draw: Any, shape: tuple[int, int], setting: Any, judge: float) -> tuple[Any, Any]:
    """Return how well judge and labeller agree with the others, by labeller, run and case."""
    labellers, right, labels, _ = setting
    truth = draw.integers(0, labels, shape)
    one = raters(draw, truth, judge, labels)
    people = np.stack([raters(draw, truth, right, labels) for _ in range(labellers)])
    others = [np.delete(people, left, axis=0) for left in range(labellers)]
    ours = [(one == rest).mean(axis=0) for rest in others]
    theirs = [(people[left] == rest).mean(axis=0) for left, rest in enumerate(others)]
    return np.array(ours), np.array(theirs)


def boundary(setting: Any) -> float:
    """Return how often a judge is right who is worse by exactly epsilon."""
    low, high = 0.0, 1.0
    for _ in range(30):
        middle = (low + high) / 2
        ours, theirs = scores(np.random.default_rng(1), (100, 1000), setting, middle)
        difference = (theirs > ours + 1e-9).mean() - (ours > theirs + 1e-9).mean()
        low, high = (middle, high) if difference > setting[-1] else (low, middle)
    return (low + high) / 2


def plain(ours: Any, theirs: Any, epsilon: float) -> float:
    """Return the p of the t test without the added case."""
    d = (theirs > ours + 1e-9) * 1.0 - (ours > theirs + 1e-9)
    error = d.std(ddof=1) / len(d) ** 0.5
    if error == 0:
        return float(d[0] >= epsilon)
    t = (d.mean() - epsilon) / error
    tail = student_t_p(t, len(d) - 1) / 2
    return tail if t < 0 else 1 - tail


def passed(setting: Any, cases: int, judge: float, runs: int) -> tuple[float, float]:
    """Return the share of runs that pass, by the product's test and by the plain one."""
    labellers, epsilon = setting[0], setting[-1]
    ours, theirs = scores(np.random.default_rng(7), (runs, cases), setting, judge)
    counts = [0, 0]
    for run in range(runs):
        product, usual = [], []
        for left in range(labellers):
            both = zip(ours[left, run].tolist(), theirs[left, run].tolist(), strict=True)
            items = [ItemComparison(one, other, n) for n, (one, other) in enumerate(both)]
            product.append(left_out(items, epsilon).p)
            usual.append(plain(ours[left, run], theirs[left, run], epsilon))
        for place, values in enumerate((product, usual)):
            counts[place] += sum(rejected(values)) / labellers >= 0.5
    return counts[0] / runs, counts[1] / runs


def main() -> int:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    noise = NormalDist().inv_cdf(0.99) * (SIZE * (1 - SIZE) / runs) ** 0.5
    print(f"{runs:,} runs a cell; size (plain t in brackets), then power of an equal judge")
    print("labellers right labels epsilon |", "  ".join(f"n = {n:<12}" for n in CASES))
    worst = 0.0
    for setting in SETTINGS:
        labellers, right, labels, epsilon = setting
        judge = boundary(setting)
        cells = []
        for cases in CASES:
            size, usual = passed(setting, cases, judge, runs)
            power, _ = passed(setting, cases, right, max(200, runs // 4))
            worst = max(worst, size)
            cells.append(f"{size:.3f} ({usual:.3f}) {power:.2f}")
        print(f"{labellers:9} {right:5} {labels:6} {epsilon:7} |", "  ".join(cells), flush=True)
    print(f"largest size {worst:.3f}, at most {SIZE} (with noise {SIZE + noise:.3f})")
    return int(worst > SIZE + noise)


if __name__ == "__main__":
    sys.exit(main())
