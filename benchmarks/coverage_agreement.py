"""How often the intervals of `judgekit agree` cover the truth, by simulation.

    python benchmarks/coverage_agreement.py [--runs 2000]

For each cell that many data sets are drawn (seed 7) from a known table of the judge's answers
against people's, and the interval of each is made by the product's own code. A cell is the share
that cover the true coefficient; "too few" where judgekit prints no interval.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterator, Sequence
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np

from judgekit.agreement.coefficients import Paired, kappa, kappa_figure, rank_figure
from judgekit.report.calibration import Coefficient

PROMISED = 0.90
SIZES = (20, 50, 100, 200)
EVEN = {"two answers, .5": (0.5, 0.5), "three levels": (1 / 3,) * 3, "five levels": (0.2,) * 5}
SKEWED = {
    "two answers, .8": (0.2, 0.8),
    "two answers, .9": (0.1, 0.9),
    "two answers, .95": (0.05, 0.95),
    "three levels, .8 at the top": (0.05, 0.15, 0.8),
    "five levels, .6 at the top": (0.02, 0.05, 0.08, 0.25, 0.6),
}
ELEVEN = tuple(np.diff([0, *(NormalDist().cdf(x / 2.5 - 1.8) for x in range(10)), 1]).tolist())
LATENT = (0.0, 0.5, 0.8, 0.95)
"""Correlation of the two normal variables that are cut into answers."""

Table = Any
Draw = Callable[[np.random.Generator], Sequence[Paired]]
Figure = Callable[[Sequence[Paired]], Coefficient]


class Cell(NamedTuple):
    """One cell of the grid."""

    covered: float | None
    """Share of intervals that cover the truth; `None` where most data sets have no interval."""

    def __str__(self) -> str:
        return "too few" if self.covered is None else f"{self.covered:.3f}"


def table_of(shares: Sequence[float], latent: float) -> Table:
    """Return the table of two sides that answer by the same shares and correlate."""
    if latent == 0:
        return np.outer(shares, shares)
    cuts = [NormalDist().inv_cdf(p) for p in np.cumsum(shares)[:-1]]
    grid = np.linspace(-6, 6, 4001)
    step = grid[1] - grid[0]
    density = np.exp(-grid * grid / 2) / math.sqrt(2 * math.pi) * step
    rest = math.sqrt(1 - latent * latent)
    own = np.searchsorted(cuts, grid)
    below = [np.array([NormalDist().cdf((cut - latent * x) / rest) for x in grid]) for cut in cuts]
    beside = np.diff([np.zeros_like(grid), *below, np.ones_like(grid)], axis=0)
    table = np.zeros((len(shares), len(shares)))
    for place, column in enumerate(beside):
        np.add.at(table[:, place], own, density * column)
    table = (table + table.T) / 2
    return table / table.sum()


def rho_of(table: Table) -> float:
    """Return Spearman's rho of a table of shares."""
    shares = table.sum(axis=1)
    ranks = np.cumsum(shares) - shares / 2 - 0.5
    return float(ranks @ table @ ranks / (shares * ranks**2).sum())


def covered(draw: Draw, figure: Figure, truth: float, runs: int) -> Cell:
    source = np.random.default_rng(7)
    hits = known = 0
    for _ in range(runs):
        found = figure(draw(source))
        if found.low is not None and found.high is not None:
            known += 1
            hits += found.low <= truth <= found.high
    return Cell(hits / known if known > runs / 2 else None)


def independent(table: Table, n: int) -> Draw:
    size, flat = len(table), table.ravel()

    def draw(source: np.random.Generator) -> Sequence[Paired]:
        cells = source.choice(size * size, size=n, p=flat)
        return [Paired(unit, int(c) // size, int(c) % size) for unit, c in enumerate(cells)]

    return draw


def several_people(table: Table, n: int) -> Draw:
    """Return what draws three answers of people for each answer of the judge."""
    size = len(table)
    rows = table / table.sum(axis=1, keepdims=True)

    def draw(source: np.random.Generator) -> Sequence[Paired]:
        judge = source.choice(size, size=n, p=table.sum(axis=1))
        return [
            Paired(unit, int(j), int(person))
            for unit, j in enumerate(judge)
            for person in source.choice(size, size=3, p=rows[j])
        ]

    return draw


def both_ways(table: Table, n: int) -> Draw:
    """Return what draws pairs of two people, each named first once."""
    once = independent(table, n)

    def draw(source: np.random.Generator) -> Sequence[Paired]:
        pairs = once(source)
        return [*pairs, *(Paired(p.unit, p.second, p.first) for p in pairs)]

    return draw


def clusters(table: Table, sizes: Sequence[int]) -> Draw:
    """Return what draws clusters, in which three answers of ten are one and the same."""
    size, flat = len(table), table.ravel()

    def draw(source: np.random.Generator) -> Sequence[Paired]:
        pairs = []
        for unit, rows in enumerate(sizes):
            cells = source.choice(size * size, size=rows + 1, p=flat)
            alike = source.random(rows) < 0.3
            for cell in np.where(alike, cells[-1], cells[:-1]):
                pairs.append(Paired(unit, int(cell) // size, int(cell) % size))
        return pairs

    return draw


class Row(NamedTuple):
    """A row of the grid."""

    what: str
    latent: float
    truth: float
    cells: tuple[Cell, ...]


def kappa_by(size: int, places: Sequence[float] | None, *, clustered: bool = False) -> Figure:
    return lambda pairs: kappa_figure(pairs, size, places, clustered=clustered)


def rank_by(size: int, *, clustered: bool = False) -> Figure:
    return lambda pairs: rank_figure(pairs, size, clustered=clustered)


def kappas(runs: int) -> Iterator[Row]:
    for what, shares in (EVEN | SKEWED).items():
        places = None if len(shares) == 2 else [float(n) for n in range(len(shares))]
        for latent in LATENT:
            table = table_of(shares, latent)
            truth = kappa(table, places=places) or 0.0
            cells = tuple(
                covered(independent(table, n), kappa_by(len(shares), places), truth, runs)
                for n in SIZES
            )
            yield Row(what, latent, truth, cells)


def ranks(runs: int) -> Iterator[Row]:
    for what, shares in (EVEN | SKEWED | {"eleven levels": ELEVEN}).items():
        if len(shares) == 2:
            continue
        for latent in LATENT:
            table = table_of(shares, latent)
            truth = rho_of(table)
            cells = tuple(
                covered(independent(table, n), rank_by(len(shares)), truth, runs) for n in SIZES
            )
            yield Row(what, latent, truth, cells)


def dependent(runs: int) -> Iterator[Row]:
    """Yield kappa where pairs are not independent, by the number of cases or clusters."""
    equal, unequal = (lambda n: [5] * n), (lambda n: [20, *[2] * (n - 1)])
    kinds: dict[str, Callable[[Table, int], Draw]] = {
        "three people a case": several_people,
        "two people, both ways": both_ways,
        "clusters of 5": lambda table, n: clusters(table, equal(n)),
        "one cluster of 20, others of 2": lambda table, n: clusters(table, unequal(n)),
    }
    for what, kind in kinds.items():
        clustered = "cluster" in what
        for shares in ((0.5, 0.5), (0.2, 0.8)):
            for latent in (0.5, 0.95):
                table = table_of(shares, latent)
                truth = kappa(table) or 0.0
                cells = tuple(
                    covered(kind(table, n), kappa_by(2, None, clustered=clustered), truth, runs)
                    for n in (10, 20, 50, 100)
                )
                yield Row(f"{what}, {shares[1]:g}", latent, truth, cells)


def grid(runs: int) -> Iterator[str]:
    """Yield the grid as tables in Markdown."""
    off = math.sqrt(0.95 * 0.05 / runs)
    yield f"{runs:,} data sets a cell; the standard error of a share near .95 is {off:.4f}."
    all_cells: list[Cell] = []
    for title, rows, sizes in (
        ("kappa (quadratic for levels), by cases", kappas(runs), SIZES),
        ("Spearman's rho, by cases", ranks(runs), SIZES),
        ("kappa of two answers, by cases or clusters", dependent(runs), (10, 20, 50, 100)),
    ):
        yield ""
        yield f"| {title} | latent | true value | {' | '.join(map(str, sizes))} |"
        yield f"| --- {'| --: ' * (len(sizes) + 2)}|"
        for row in rows:
            all_cells += row.cells
            shown = " | ".join(map(str, row.cells))
            yield f"| {row.what} | {row.latent:g} | {row.truth:.2f} | {shown} |"
    few = sum(cell.covered is None for cell in all_cells)
    known = [cell.covered for cell in all_cells if cell.covered is not None]
    yield ""
    yield (
        f'{few} of {len(all_cells)} cells are "too few"; the lowest coverage of the others is '
        f"{min(known):.3f}, and {sum(c < PROMISED for c in known)} are below {PROMISED:.2f}."
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=2_000)
    for line in grid(parser.parse_args().runs):
        print(line, flush=True)


if __name__ == "__main__":
    main()
