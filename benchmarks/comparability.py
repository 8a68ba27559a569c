"""How often labelled rows are called different from the rest, by simulation.

    python benchmarks/comparability.py [--runs 2000]

Each cell draws so many runs of 400 rows, labels some of them, and compares the judge's values at
p < .01, as `judgekit correct` does. A cell is the share of runs with a warning. Random samples and
samples of `judgekit labels plan` must have few warnings, labels of other rows many. In clusters,
nine in ten rows have the value of their cluster. numpy draws the data.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from judgekit.analysis.labels.plan import PlanCandidate, draw_strata
from judgekit.report.corrected import DIFFERS
from judgekit.stats.clusters import FigureValues
from judgekit.stats.comparability import compare_rows
from judgekit.stats.correction import Correction, LabelledRow

ROWS = 400
SEED = 35
Draw = Callable[[Any, int], Any]
"""Draws so many values of the judge."""


def _yes(share: float) -> Draw:
    return lambda rng, rows: (rng.random(rows) < share).astype(float)


KINDS: dict[str, Draw] = {
    **{f"yes/no, {share:g} yes": _yes(share) for share in (0.5, 0.8, 0.95, 0.99)},
    "three levels": lambda rng, rows: rng.choice([0, 0.5, 1], rows, p=[0.1, 0.2, 0.7]),
    "continuous, near 1": lambda rng, rows: rng.beta(8, 1, rows),
    "continuous, at both ends": lambda rng, rows: rng.beta(0.3, 0.3, rows),
    "one in a hundred far out": lambda rng, rows: np.where(
        rng.random(rows) < 0.01, 1.0, 0.02 * rng.random(rows)
    ),
}


def p_of(values: Any, chosen: Any, chances: Any = None, clusters: Any = None) -> float:
    """Return p for rows with values, whether each is labelled, and their probabilities."""
    others = FigureValues(clustered=clusters is not None)
    names = [None] * len(values) if clusters is None else clusters.tolist()
    said = [None] * len(values) if chances is None else chances.tolist()
    labelled = []
    for value, name, chance, own in zip(values.tolist(), names, said, chosen, strict=True):
        if own:
            labelled.append(LabelledRow(value, 0.0, name, chance))
        else:
            others.add(value, name)
    found = compare_rows(Correction(labelled, others), span=float(values.max() - values.min()))
    return 1.0 if found is None else found.p


def random_runs(draw: Draw, *, labels: int, runs: int) -> Iterator[float]:
    """Yield p of runs with a random sample of labels."""
    rng = np.random.default_rng(SEED)
    for _ in range(runs):
        chosen = np.isin(np.arange(ROWS), rng.choice(ROWS, labels, replace=False))
        yield p_of(draw(rng, ROWS), chosen)


def clustered_runs(draw: Draw, *, labels: int, whole: bool, runs: int) -> Iterator[float]:
    """Yield p of runs with 40 clusters; labels are of random rows, or of whole clusters."""
    rng = np.random.default_rng(SEED)
    clusters = np.repeat(np.arange(40), ROWS // 40)
    for _ in range(runs):
        own = draw(rng, 40)[clusters]
        values = np.where(rng.random(ROWS) < 0.9, own, draw(rng, ROWS))
        if whole:
            chosen = np.isin(clusters, rng.choice(40, labels * 40 // ROWS, replace=False))
        else:
            chosen = np.isin(np.arange(ROWS), rng.choice(ROWS, labels, replace=False))
        yield p_of(values, chosen, clusters=clusters)


def planned_runs(draw: Draw, *, labels: int, runs: int) -> Iterator[float]:
    """Yield p of runs with labels by a plan; one row in ten has no score, and is no row here."""
    rng = np.random.default_rng(SEED)
    for number in range(runs):
        values, spreads = draw(rng, ROWS), np.round(rng.random(ROWS), 1)
        scored = rng.random(ROWS) < 0.9
        rows = [PlanCandidate(f"c{n}", float(values[n]) if scored[n] else None, float(spreads[n]))
                for n in range(ROWS)]  # fmt: skip
        _, drawn = draw_strata(rows, labels, metric="m", seed=number)
        chosen = np.array([row.case in drawn for row in rows])
        chances = [drawn[row.case].probability if row.case in drawn else 1.0 for row in rows]
        yield p_of(values[scored], chosen[scored], np.array(chances)[scored])


def shifted_runs(shift: float, spread: float, *, runs: int, labels: int = 80) -> Iterator[float]:
    """Yield p of runs whose labelled rows have values that are shifted.

    Args:
        shift: the difference of the means.
        spread: standard deviation of the values; .5 is that of yes and no.
        runs: runs to draw.
        labels: labelled rows.
    """
    rng = np.random.default_rng(SEED)
    chosen = np.arange(ROWS) < labels
    means = np.where(chosen, 0.5 + shift / 2, 0.5 - shift / 2)
    for _ in range(runs):
        if spread >= 0.5:
            yield p_of((rng.random(ROWS) < means).astype(float), chosen)
        else:
            # A beta distribution keeps mean and standard deviation inside the range.
            size = means * (1 - means) / spread**2 - 1
            yield p_of(rng.beta(means * size, (1 - means) * size), chosen)


def share_flagged(values: Iterator[float]) -> float:
    """Return the share of runs with a warning."""
    return float(np.mean([p < DIFFERS for p in values]))


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=2_000)
    runs = parser.parse_args().runs
    print("| values | 10 labels | 80 | 200 | plan of 30 | plan of 80 | 40 clusters, 80 rows "
          "| 8 whole clusters |")  # fmt: skip
    print(f"| --- |{' --: |' * 7}")
    for name, draw in KINDS.items():
        cells = [share_flagged(random_runs(draw, labels=n, runs=runs)) for n in (10, 80, 200)]
        cells += [share_flagged(planned_runs(draw, labels=n, runs=runs)) for n in (30, 80)]
        cells += [
            share_flagged(clustered_runs(draw, labels=80, whole=whole, runs=runs))
            for whole in (False, True)
        ]
        print(f"| {name} | {' | '.join(f'{cell:.2%}' for cell in cells)} |", flush=True)
    print("\n| shift | sd | flagged |\n| --: | --: | --: |")
    for shift, spread in ((0.3, 0.5), (0.2, 0.3), (0.2, 0.25), (0.1, 0.3)):
        share = share_flagged(shifted_runs(shift, spread, runs=runs))
        print(f"| {shift:g} | {spread:g} | {share:.1%} |")


if __name__ == "__main__":
    main()
