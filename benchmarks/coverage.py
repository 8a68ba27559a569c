"""How often the intervals judgekit prints cover the truth, by simulation.

    python benchmarks/coverage.py [--runs 20000]

For each distribution and number of cases, that many data sets are drawn (seed 7), an interval of
each is made by the product's own code, and the share that cover the true mean is printed, with its
own standard error. 95 % is promised.
"""

from __future__ import annotations

import argparse
import math
import random
from collections.abc import Callable

from judgekit.metrics.voice.bootstrap import bootstrap_interval
from judgekit.report.clustered import ClusteredMean
from judgekit.report.statistics import MeanInterval, wilson

Draw = Callable[[random.Random], float]
Ends = tuple[float, float] | None

DISTRIBUTIONS: dict[str, tuple[Draw, float]] = {
    "normal": (lambda r: r.gauss(0.5, 0.1), 0.5),
    "Beta(9, 1)": (lambda r: r.betavariate(9, 1), 0.9),
    "Bernoulli(.95)": (lambda r: float(r.random() < 0.95), 0.95),
}
SIZES = (20, 50, 200)


def by_t(values: list[float]) -> Ends:
    figures = MeanInterval()
    for value in values:
        figures.add(value)
    return figures.interval(bounds=(0.0, 1.0))  # the range of a score


def by_wilson(values: list[float]) -> Ends:
    return wilson(int(sum(values)), len(values))


def by_bootstrap(values: list[float]) -> Ends:
    found = bootstrap_interval(values)
    return (found.low, found.high) if found else None


def covered(
    draw: Draw, truth: float, n: int, make: Callable[[list[float]], Ends], runs: int
) -> float:
    source = random.Random(7)
    hits = 0
    for _ in range(runs):
        ends = make([draw(source) for _ in range(n)])
        hits += ends is not None and ends[0] <= truth <= ends[1]
    return hits / runs


def covered_clusters(clusters: int, each: int, runs: int) -> tuple[float, float]:
    """Return how often clustered and plain t intervals cover, where half the spread is shared."""
    source = random.Random(7)
    hits = [0, 0]
    for _ in range(runs):
        clustered, plain = ClusteredMean(), MeanInterval()
        for cluster in range(clusters):
            shared = source.gauss(0.5, 0.1)
            for _ in range(each):
                value = shared + source.gauss(0, 0.1)
                clustered.add(value, cluster)
                plain.add(value)
        for place, ends in enumerate((clustered.interval(), plain.interval())):
            assert ends is not None
            hits[place] += ends[0] <= 0.5 <= ends[1]
    return hits[0] / runs, hits[1] / runs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=20_000)
    parser.add_argument("--bootstrap-runs", type=int, default=1_000)
    wanted = parser.parse_args()
    runs, fewer = wanted.runs, wanted.bootstrap_runs
    off = [math.sqrt(0.95 * 0.05 / count) for count in (runs, fewer)]
    print(f"standard error of a share near .95: {off[0]:.4f} ({runs} data sets), "
          f"{off[1]:.4f} (bootstrap, {fewer})")  # fmt: skip
    print(f"{'':<15} {'n':>4}  {'t':>6}  {'Wilson':>6}  {'bootstrap':>9}")
    for name, (draw, truth) in DISTRIBUTIONS.items():
        for n in SIZES:
            t = covered(draw, truth, n, by_t, runs)
            share = ""
            if name.startswith("Bernoulli"):
                share = f"{covered(draw, truth, n, by_wilson, runs):.3f}"
            drawn = covered(draw, truth, n, by_bootstrap, fewer)
            print(f"{name:<15} {n:>4}  {t:>6.3f}  {share:>6}  {drawn:>9.3f}", flush=True)
    print(f"{'clusters of 5':<15} {'n':>4}  {'by cluster':>10}  {'plain t':>7}")
    for clusters in (10, 30, 100):
        found = covered_clusters(clusters, 5, max(1, runs // 4))
        print(f"{clusters:>15} {5 * clusters:>4}  {found[0]:>10.3f}  {found[1]:>7.3f}", flush=True)


if __name__ == "__main__":
    main()
