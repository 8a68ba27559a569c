"""How often the intervals of corrected means cover the truth, by simulation.

    python benchmarks/coverage_correction.py [--runs 2000]

Each cell draws so many runs of 1,000 rows, labels some of them, and takes the interval that
`judgekit correct` prints. A cell is the share of intervals that cover the true mean; in brackets
the share of runs that have an interval, where some are "too few". With unequal probabilities the
number of labels varies, and half of the runs have fewer than 50. `width` is the mean width over
that of labels alone, for each number of labels; `bias` the largest mean error, in standard errors
of one estimate. numpy draws the data.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from judgekit.stats.clusters import FigureValues
from judgekit.stats.correction import Correction, LabelledRow

ROWS = 1_000
SEED = 11


class Kind(NamedTuple):
    """A way to draw judge and person for every row, and the true mean of the person."""

    name: str
    draw: Callable[[Any, int], tuple[Any, Any]]
    truth: float


def yes_no(prevalence: float, sensitivity: float, specificity: float) -> Kind:
    def draw(rng: Any, rows: int) -> tuple[Any, Any]:
        person = rng.random(rows) < prevalence
        right = rng.random(rows) < np.where(person, sensitivity, specificity)
        return np.where(right, person, ~person).astype(float), person.astype(float)

    name = f"yes/no, prevalence {prevalence:g}, rates {sensitivity:g} and {specificity:g}"
    return Kind(name, draw, prevalence)


def continuous(mean: float, noise: float) -> Kind:
    def draw(rng: Any, rows: int) -> tuple[Any, Any]:
        person = rng.beta(4 * mean, 4 * (1 - mean), rows)
        return np.clip(person + 0.1 + rng.normal(0, noise, rows), 0, 1), person

    return Kind(f"continuous, mean {mean:g}, noise {noise:g}", draw, mean)


def ordinal(shares: tuple[float, ...], noise: float) -> Kind:
    levels = np.linspace(0, 1, len(shares))

    def draw(rng: Any, rows: int) -> tuple[Any, Any]:
        place = rng.choice(len(shares), rows, p=shares)
        moved = np.where(rng.random(rows) < noise, rng.choice([-1, 1, 1], rows), 0)
        return levels[np.clip(place + moved, 0, len(shares) - 1)], levels[place]

    truth = float(levels @ np.array(shares))
    return Kind(f"ordinal, mean {truth:.2f}, noise {noise:g}", draw, truth)


class Result(NamedTuple):
    covered: float
    printed: float
    width: float
    """Mean width over that of labels alone."""
    bias: float
    """Mean error, in standard errors of one estimate."""


def simulate(
    kind: Kind, n: int, runs: int, *, by: str = "ppi", chances: Any = None, weigh: bool = True,
    rows: int = ROWS, abstains: Any = None,
) -> Result:  # fmt: skip
    """Return what the product's intervals do over many runs.

    Args:
        kind: the data.
        n: labels.
        runs: runs to draw.
        by: `ppi` or `rogan-gladen`.
        chances: returns the relative probability of each row to be labelled, from the judge's
            values; without it, labels are a random sample.
        weigh: whether the labels say these probabilities.
        rows: rows of a run.
        abstains: returns the probability that the judge has no value, from the truth; as in
            `judgekit correct`, the mean of its values stands for a missing one.
    """
    rng = np.random.default_rng(SEED)
    hits = printed = 0
    widths = [0.0, 0.0]
    errors = []
    for _ in range(runs):
        judge, person = kind.draw(rng, rows)
        if chances is None:
            chosen, said = np.arange(rows) < n, [None] * rows
        else:
            probability = chances(judge)
            probability = np.minimum(1, n * probability / probability.sum())
            chosen = rng.random(rows) < probability
            said = probability.tolist() if weigh else [None] * rows
        if abstains is not None:
            silent = rng.random(rows) < abstains(person)
            judge = np.where(silent, judge[~silent].mean() if (~silent).any() else 0.0, judge)
        others = FigureValues()
        for value in judge[~chosen].tolist():
            others.add(value)
        labelled = [
            LabelledRow(f, y, probability=p)
            for f, y, p, picked in zip(judge.tolist(), person.tolist(), said, chosen, strict=True)
            if picked
        ]
        correction = Correction(labelled, others, bounds=(0, 1))
        figures = correction.ppi() if by == "ppi" else correction.rogan_gladen()
        if figures is None:
            continue
        corrected = figures.corrected
        if np.isfinite(corrected.value):
            errors.append(corrected.value - kind.truth)
        if corrected.low is None or corrected.high is None:
            continue
        printed += 1
        hits += corrected.low <= kind.truth <= corrected.high
        widths[0] += corrected.high - corrected.low
        labels = figures.labels
        if labels.low is not None and labels.high is not None:
            widths[1] += labels.high - labels.low
    spread = np.std(errors)
    return Result(
        hits / printed if printed else float("nan"),
        printed / runs,
        widths[0] / widths[1] if widths[1] else float("nan"),
        float(np.mean(errors) / spread) if spread else 0.0,
    )


SIZES = (50, 100, 300)
PPI = (
    *(yes_no(p, *rates) for p in (0.2, 0.5, 0.8) for rates in ((0.9, 0.8), (0.7, 0.7))),
    *(continuous(m, noise) for m in (0.2, 0.5, 0.8) for noise in (0.05, 0.3)),
    ordinal((0.6, 0.15, 0.1, 0.1, 0.05), 0.3),
    ordinal((0.2, 0.2, 0.2, 0.2, 0.2), 0.3),
    ordinal((0.03, 0.07, 0.1, 0.3, 0.5), 0.1),
)
RARE = (yes_no(0.02, 0.9, 0.95), yes_no(0.05, 0.9, 0.95), yes_no(0.5, 0.98, 0.98))
RATES = tuple(
    yes_no(p, *rates)
    for p in (0.2, 0.5, 0.8)
    for rates in ((0.7, 0.7), (0.9, 0.5), (0.5, 0.9), (0.9, 0.8), (0.98, 0.95))
)


def near_the_middle(judge: Any) -> Any:
    """Label doubtful rows up to nine times as often, as sampling plans do."""
    return 1 + 8 * (np.abs(judge - 0.5) < 0.25)


def low_first(judge: Any) -> Any:
    """Label low scores four times as often."""
    return np.where(judge < 0.5, 4.0, 1.0)


def on_hard_cases(person: Any) -> Any:
    """Abstain in .2 of the rows with the best answers and .6 of those with the worst ones."""
    return 0.6 - 0.4 * person


def on_good_answers(person: Any) -> Any:
    """Abstain in .6 of the rows with the best answers and .2 of those with the worst ones."""
    return 0.2 + 0.4 * person


def rows_of(kinds: tuple[Kind, ...], runs: int, **how: Any) -> Iterator[str]:
    for kind in kinds:
        results = [simulate(kind, n, runs, **how) for n in SIZES]
        cells = [
            f"{one.covered:.3f}" + ("" if one.printed > 0.995 else f" ({one.printed:.0%})")
            for one in results
        ]
        widths = ", ".join(f"{one.width:.2f}" for one in results)
        bias = max((one.bias for one in results), key=abs)
        yield f"| {kind.name} | {' | '.join(cells)} | {widths} | {bias:+.2f} |"


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=2_000)
    parser.add_argument("--only", default="", help="print the tables whose title has this text")
    chosen = parser.parse_args()
    runs = chosen.runs
    weighted = (yes_no(0.2, 0.9, 0.8), yes_no(0.5, 0.8, 0.8), yes_no(0.8, 0.9, 0.8),
                continuous(0.3, 0.2), continuous(0.6, 0.2),
                ordinal((0.2, 0.2, 0.2, 0.2, 0.2), 0.3))  # fmt: skip
    tables: tuple[tuple[str, tuple[Kind, ...], dict[str, Any]], ...] = (
        ("PPI++", PPI, {}),
        ("PPI++, rare outcomes and rare errors", RARE, {}),
        ("PPI++, doubtful rows more often", weighted, {"chances": near_the_middle}),
        ("PPI++, low scores more often", weighted, {"chances": low_first}),
        ("Low scores more often, weights ignored", weighted,
         {"chances": low_first, "weigh": False}),
        ("PPI++, the judge abstains in .6 of bad and .2 of good answers", PPI,
         {"abstains": on_hard_cases}),
        ("PPI++, the judge abstains in .2 of bad and .6 of good answers", PPI,
         {"abstains": on_good_answers}),
        ("Rogan-Gladen", RATES, {"by": "rogan-gladen"}),
        ("Rogan-Gladen, low scores more often", weighted[:3],
         {"by": "rogan-gladen", "chances": low_first}),
    )  # fmt: skip
    for title, kinds, how in tables:
        if chosen.only not in title:
            continue
        print(f"\n{title}\n")
        print(f"| data | {' | '.join(f'{n} labels' for n in SIZES)} | width | bias |")
        print(f"| --- |{' --: |' * len(SIZES)} --- | --: |")
        for line in rows_of(kinds, runs, **how):
            print(line, flush=True)


if __name__ == "__main__":
    main()
