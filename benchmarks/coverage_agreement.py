"""How often the intervals of `judgekit agree` cover the truth, by simulation.

`benchmarks/coverage.py` prints these tables after its own. For each cell, data sets are drawn
(seed 7) from a known table of the judge's answers against people's, and the product's own code
makes the interval of each.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np

from judgekit.stats.agreement import PairColumns, Paired, Units, kappa_figure, rank_figure
from judgekit.stats.coefficients import Level, alpha_figure, kendall_figure, pearson_figure
from judgekit.stats.intervals import Coefficient
from judgekit.stats.shares import share_figures
from judgekit.stats.votes import MOST_WRONG, LabelNoise, effective_votes, votes_of_errors

PROMISED = 0.90
NOMINAL = 0.95 - 2 * math.sqrt(0.95 * 0.05 / 2_000)
"""The promise less two Monte Carlo errors of 2,000 data sets."""
SIZES = (20, 50, 100, 200)
EVEN = {"two answers, .5": (0.5, 0.5), "three levels": (1 / 3,) * 3, "five levels": (0.2,) * 5}
SKEWED = {
    "two answers, .8": (0.2, 0.8),
    "two answers, .9": (0.1, 0.9),
    "two answers, .95": (0.05, 0.95),
    "three levels, .8 at the top": (0.05, 0.15, 0.8),
    "five levels, .6 at the top": (0.02, 0.05, 0.08, 0.25, 0.6),
}
CEILING = {
    "five levels, .9 at the top": (0.01, 0.01, 0.02, 0.06, 0.9),
    "five levels, .95 at the top": (0.005, 0.005, 0.01, 0.03, 0.95),
}
ELEVEN = tuple(np.diff([0, *(NormalDist().cdf(x / 2.5 - 1.8) for x in range(10)), 1]).tolist())
LATENT = (0.0, 0.5, 0.8, 0.95)
"""Correlation of the two normal variables that are cut into answers."""

Table = Any


def kappa(table: Any, *, places: Sequence[float] | None = None) -> float | None:
    """Return the kappa of a table of counts or shares."""
    pairs = [Paired(0, *cell, float(n)) for cell, n in np.ndenumerate(np.asarray(table)) if n]
    return kappa_figure(PairColumns.of(pairs), len(table), places).value


Draw = Callable[[np.random.Generator], Sequence[Paired]]
Figure = Callable[[Sequence[Paired]], Coefficient]


class Cell(NamedTuple):
    """One kind of data in one size, as in `coverage.py`."""

    covered: float
    """Share of the intervals that cover the truth; nan where there is none."""
    printed: float
    """Share of the data sets that have an interval."""
    promised: bool
    """Whether the bar applies."""

    @property
    def too_few(self) -> bool:
        return self.printed < 0.5

    def __str__(self) -> str:
        if self.too_few:
            return "too few"
        return f"{self.covered:.3f}" + ("" if self.printed > 0.995 else f" ({self.printed:.0%})")


class Grid(NamedTuple):
    """One kind of interval, as `Table` in `coverage.py`."""

    title: str
    note: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Cell, ...]], ...]
    bar: float = PROMISED


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


def covered(draw: Draw, figure: Figure, truth: float, runs: int, *, promised: bool) -> Cell:
    source = np.random.default_rng(7)
    hits = known = 0
    for _ in range(runs):
        found = figure(draw(source))
        if found.low is not None and found.high is not None:
            known += 1
            hits += found.low <= truth <= found.high
    return Cell(hits / known if known else math.nan, known / runs, promised)


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


def kappa_by(size: int, places: Sequence[float] | None, *, clustered: bool = False) -> Figure:
    return lambda pairs: kappa_figure(PairColumns.of(pairs, clustered=clustered), size, places)


def rank_by(*, clustered: bool = False) -> Figure:
    return lambda pairs: rank_figure(PairColumns.of(pairs, clustered=clustered))


def kappas(runs: int) -> Grid:
    rows = []
    for what, shares in (EVEN | SKEWED).items():
        places = None if len(shares) == 2 else [float(n) for n in range(len(shares))]
        for latent in LATENT:
            table = table_of(shares, latent)
            truth = kappa(table, places=places) or 0.0
            figure = kappa_by(len(shares), places)
            cells = tuple(
                covered(independent(table, n), figure, truth, runs, promised=n >= 50) for n in SIZES
            )
            rows.append((f"{what}, kappa {truth:.2f}", cells))
    return Grid(
        "Kappa", "A number after an answer is its share; quadratic weights for levels.",
        tuple(f"n = {n}" for n in SIZES), tuple(rows),
    )  # fmt: skip


def ranks(runs: int) -> Grid:
    rows = []
    for what, shares in (EVEN | SKEWED | {"eleven levels": ELEVEN}).items():
        if len(shares) == 2:
            continue
        for latent in LATENT:
            table = table_of(shares, latent)
            truth = rho_of(table)
            figure = rank_by()
            cells = tuple(
                covered(independent(table, n), figure, truth, runs, promised=n >= 50) for n in SIZES
            )
            rows.append((f"{what}, rho {truth:.2f}", cells))
    return Grid("Spearman's rho", "", tuple(f"n = {n}" for n in SIZES), tuple(rows))


def by_plan(table: Table, n: int) -> Draw:
    """Return what draws cases with probabilities from .2 to .8, by the answer of the judge."""
    size = len(table)
    chance = np.linspace(0.2, 0.8, size)
    flat = (table * chance[:, None]).ravel()

    def draw(source: np.random.Generator) -> Sequence[Paired]:
        cells = source.choice(size * size, size=n, p=flat / flat.sum())
        return [
            Paired(unit, int(c) // size, int(c) % size, 1 / float(chance[int(c) // size]))
            for unit, c in enumerate(cells)
        ]

    return draw


def alpha_of(table: Table, level: Level) -> float:
    """Return alpha of two raters with this table, without limit to the number of cases."""
    shares = table.sum(axis=1)
    places = np.arange(float(len(shares)))
    if level == "ordinal":
        places = np.cumsum(shares) - shares / 2
    far = 1 - np.eye(len(shares))
    if level != "nominal":
        far = np.subtract.outer(places, places) ** 2
    return float(1 - (far * table).sum() / (shares @ far @ shares))


def alphas(runs: int) -> Grid:
    """Return alpha of judge and one person; tables are symmetric."""
    rows = []
    for what, shares in (EVEN | SKEWED).items():
        level: Level = (
            "nominal" if len(shares) < 3 else "ordinal" if len(shares) < 5 else "interval"
        )
        for latent in LATENT:
            table = table_of(shares, latent)

            def figure(
                pairs: Sequence[Paired], level: Level = level, size: int = len(shares)
            ) -> Coefficient:
                cases = [pair.unit for pair in pairs] * 2
                answers = [*(pair.first for pair in pairs), *(pair.second for pair in pairs)]
                found = alpha_figure(cases, answers, list(map(float, range(size))), level)
                return found.figure

            truth = alpha_of(table, level)
            cells = tuple(
                covered(independent(table, n), figure, truth, runs, promised=n >= 50) for n in SIZES
            )
            rows.append((f"{what}, {level}, alpha {truth:.2f}", cells))
    return Grid("Krippendorff's alpha", "", tuple(f"n = {n}" for n in SIZES), tuple(rows))


def shares_of(runs: int) -> Grid:
    rows = []
    for what, shares in (EVEN | SKEWED).items():
        if len(shares) > 2:
            continue
        for latent in LATENT:
            table = table_of(shares, latent)
            many = [Paired(0, a, b, float(table[a, b])) for a in (0, 1) for b in (0, 1)]
            for name, (_, truth) in share_figures(PairColumns.of(many)).items():
                if name in ("precision", "balanced_f1"):  # recall is precision here

                    def figure(pairs: Sequence[Paired], name: str = name) -> Coefficient:
                        return share_figures(PairColumns.of(pairs))[name].figure

                    cells = tuple(
                        covered(
                            independent(table, n),
                            figure,
                            truth.value or 0.0,
                            runs,
                            promised=n >= 50,
                        )
                        for n in SIZES
                    )
                    rows.append((f"{what}, {name} {truth.value:.2f}", cells))
    return Grid(
        "Precision and balanced F1", "Precision needs 20 pairs in which the judge says yes.",
        tuple(f"n = {n}" for n in SIZES), tuple(rows),
    )  # fmt: skip


def correlations(runs: int) -> Grid:
    rows = []
    for what, shares in (EVEN | SKEWED | {"eleven levels": ELEVEN}).items():
        size = len(shares)
        values = [float(n) for n in range(size)]
        kinds: dict[str, Figure] = {
            "r": lambda pairs, of=values: pearson_figure(PairColumns.of(pairs), of),  # type: ignore[misc]
            "tau-b": lambda pairs: kendall_figure(PairColumns.of(pairs)),
        }
        for latent in LATENT:
            table = table_of(shares, latent)
            many = [
                Paired(0, a, b, float(table[a, b])) for a in range(size) for b in range(size)
                if table[a, b] > 0
            ]  # fmt: skip
            for name, figure in kinds.items():
                if size > 2 or name == "r":  # they are the same of two answers
                    truth = figure(many).value or 0.0
                    cells = tuple(
                        covered(independent(table, n), figure, truth, runs, promised=n >= 50)
                        for n in SIZES
                    )
                    rows.append((f"{what}, {name} {truth:.2f}", cells))
    return Grid(
        "Pearson's r and Kendall's tau-b", "", tuple(f"n = {n}" for n in SIZES), tuple(rows)
    )


def ceilings(runs: int) -> Grid:
    """Return correlations of levels of which nearly all are the best one."""
    rows = []
    for what, shares in CEILING.items():
        size = len(shares)
        values = [float(n) for n in range(size)]
        for latent in LATENT:
            table = table_of(shares, latent)
            cells_of_truth = [Paired(0, a, b, float(table[a, b])) for a in range(size)
                              for b in range(size) if table[a, b] > 0]  # fmt: skip
            kinds: dict[str, Callable[[PairColumns], Coefficient]] = {
                "rho": rank_figure,
                "tau-b": kendall_figure,
                "r": partial(_pearson, values),
            }
            for name, figure in kinds.items():
                truth = figure(PairColumns.of(cells_of_truth)).value or 0.0
                of_pairs = partial(_of_pairs, figure)
                cells = tuple(
                    covered(independent(table, n), of_pairs, truth, runs, promised=True)
                    for n in (*SIZES, 400)
                )
                rows.append((f"{what}, {name} {truth:.2f}", cells))
    return Grid(
        "Correlations at the ceiling", "",
        tuple(f"n = {n}" for n in (*SIZES, 400)), tuple(rows), bar=NOMINAL,
    )  # fmt: skip


def _of_pairs(figure: Callable[[PairColumns], Coefficient], pairs: Sequence[Paired]) -> Coefficient:
    return figure(PairColumns.of(pairs))


def _pearson(values: Sequence[float], pairs: PairColumns) -> Coefficient:
    return pearson_figure(pairs, values)


def planned(runs: int) -> Grid:
    """Return figures of labels that a sampling plan chose, weighted by 1 / probability."""
    rows = []
    for what, shares in (EVEN | SKEWED).items():
        size = len(shares)
        places = None if size == 2 else [float(n) for n in range(size)]
        for latent in LATENT[1:]:
            table = table_of(shares, latent)
            truth = kappa(table, places=places) or 0.0
            cells = tuple(
                covered(by_plan(table, n), kappa_by(size, places), truth, runs, promised=n >= 50)
                for n in SIZES
            )
            rows.append((f"{what}, kappa {truth:.2f}", cells))
    return Grid(
        "Kappa of a sampling plan", "Probabilities from .2 to .8, by the answer of the judge.",
        tuple(f"n = {n}" for n in SIZES), tuple(rows),
    )  # fmt: skip


def dependent(runs: int) -> Grid:
    """Return kappa where pairs are not independent, by the number of cases or clusters."""
    kinds: dict[str, Callable[[Table, int], Draw]] = {
        "three people a case": several_people,
        "two people, both ways": both_ways,
        "clusters of 5": lambda table, n: clusters(table, [5] * n),
        "one cluster of 20, others of 2": lambda table, n: clusters(table, [20, *[2] * (n - 1)]),
    }
    sizes = (5, 10, 20, 50, 100)
    rows = []
    for what, kind in kinds.items():
        clustered = "cluster" in what
        figure = kappa_by(2, None, clustered=clustered)
        for shares in ((0.5, 0.5), (0.2, 0.8)):
            for latent in (0.5, 0.95):
                table = table_of(shares, latent)
                truth = kappa(table) or 0.0
                cells = tuple(
                    covered(kind(table, n), figure, truth, runs,
                            promised=n >= (10 if clustered else 50))
                    for n in sizes
                )  # fmt: skip
                rows.append((f"{what}, {shares[1]:g}, kappa {truth:.2f}", cells))
    return Grid(
        "Kappa by cases or clusters",
        "n counts cases, or clusters in which three answers of ten are one and the same.",
        tuple(f"n = {n}" for n in sizes), tuple(rows),
    )  # fmt: skip


def same_case(n: int, people: int, right: tuple[float, float], prevalence: float) -> Draw:
    """Return what draws cases with a true answer that judge and people find independently."""

    def draw(source: np.random.Generator) -> Sequence[Paired]:
        truth = source.random(n) < prevalence
        judge = truth ^ (source.random(n) >= right[0])
        labels = truth[:, None] ^ (source.random((n, people)) >= right[1])
        return [Paired(unit, int(judge[unit]), int(label))
                for unit in range(n) for label in labels[unit]]  # fmt: skip

    return draw


def people(runs: int) -> Grid:
    """Return kappa of a judge with 1 to 5 people a case, where nine answers of ten are yes."""
    rows = []
    for right in ((0.9, 0.9), (0.8, 0.9), (0.95, 0.95)):
        agree = right[0] * right[1]
        table = np.zeros((2, 2))
        for truth, share in ((0, 0.1), (1, 0.9)):
            table[truth, truth] += share * agree
            table[truth, 1 - truth] += share * right[0] * (1 - right[1])
            table[1 - truth, truth] += share * (1 - right[0]) * right[1]
            table[1 - truth, 1 - truth] += share * (1 - right[0]) * (1 - right[1])
        truth_kappa = kappa(table) or 0.0
        for count in (1, 2, 3, 5):
            cells = tuple(
                covered(same_case(n, count, right, 0.9), kappa_by(2, None), truth_kappa, runs,
                        promised=True)
                for n in (20, 30, 50, 100, 200)
            )  # fmt: skip
            who = f"{count} {'person' if count == 1 else 'people'}"
            rows.append((f"{who}, judge right {right[0]:g}, kappa {truth_kappa:.2f}", cells))
    return Grid(
        "Kappa of several people a case, yes in .9",
        "Judge and people find the answer independently.",
        tuple(f"n = {n}" for n in (20, 30, 50, 100, 200)), tuple(rows), bar=NOMINAL,
    )  # fmt: skip


def votes(runs: int) -> Grid:
    """Return the effective votes of juries whose errors correlate, against right labels."""
    rows = []
    for members in (2, 3, 5):
        for rate in (0.1, 0.3):
            for shared in (0.0, 0.5, 0.8):
                truth = effective_votes(members, shared**2)
                cells = tuple(_votes_cell(n, members, rate, shared, truth, runs)
                              for n in (50, 100, 200))  # fmt: skip
                rows.append((f"{members} judges, errors {rate:g}, votes {truth:.2f}", cells))
    return Grid(
        "Effective votes", "One label a case, all right; the upper end allows for 25 % wrong ones.",
        ("n = 50", "n = 100", "n = 200"), tuple(rows),
    )  # fmt: skip


def _votes_cell(n: int, members: int, rate: float, shared: float, truth: float, runs: int) -> Cell:
    source = np.random.default_rng(7)
    units, hits, known = Units(np.arange(n), np.ones(n)), 0, 0
    noise = LabelNoise(MOST_WRONG, measured=False)
    for _ in range(runs):
        common, own = source.random((n, 1)), source.random((n, members))
        errors = np.where(source.random((n, members)) < shared, common, own) < rate
        found = votes_of_errors(errors, units, "two", noise=noise)
        if found.low is not None and found.high is not None:
            known += 1
            hits += found.low <= truth + 1e-9 and truth <= found.high + 1e-9
    return Cell(hits / known if known else math.nan, known / runs, promised=True)


def tables(runs: int) -> Iterator[Grid]:
    """Yield the tables; a third of the data sets, at least 500."""
    fewer = max(500, runs // 3)
    for make in (kappas, ranks, dependent, alphas, shares_of, correlations, planned, votes):
        grid = make(fewer)
        yield grid._replace(note=f"{grid.note} {fewer:,} data sets a cell.".lstrip())
    for make in (people, ceilings):
        grid = make(runs)
        yield grid._replace(note=f"{grid.note} {runs:,} data sets a cell.".lstrip())
