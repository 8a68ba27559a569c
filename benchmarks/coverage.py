"""How often the intervals judgekit prints cover the truth, by simulation.

    python benchmarks/coverage.py [--runs 3000] [--write docs/intervals.md]

For each cell of the grid, that many data sets are drawn, the product's own code makes an interval
of each, and the share of those intervals that cover the true mean is given. 95 % is promised.
Where the code gives no interval, judgekit prints "too few"; a cell in which that happens to most
data sets is "too few". numpy draws the data; pass rates are summed over the binomial instead.

The tables of `judgekit agree` are made by `coverage_agreement.py`, with fewer data sets.
"""

from __future__ import annotations

import argparse
import importlib.util
import math
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from judgekit.analysis.comparison.differences import Differences
from judgekit.stats.bootstrap import bootstrap_interval
from judgekit.stats.bootstrap import too_few as too_few_to_draw
from judgekit.stats.clusters import FEWEST as FEWEST_CLUSTERS
from judgekit.stats.clusters import ClusteredMean, cr2
from judgekit.stats.intervals import FEWEST, MeanInterval, mean_interval, wilson
from judgekit.stats.tests import paired_shares_interval

Ends = tuple[float, float] | None
Draw = Callable[[Any, float, Any], Any]
SEED = 7
SHARES = (0.05, 0.2, 0.35, 0.5, 0.8, 0.95)
SIZES = (3, 5, 10, 20, 50, 200)
MARK = re.compile(r"(<!-- coverage -->\n).*?(<!-- end -->)", re.DOTALL)


class Cell(NamedTuple):
    """One kind of data in one size."""

    covered: float
    """Share of the intervals that cover the truth; nan where there is none."""
    printed: float
    """Share of the data sets that have an interval."""
    promised: bool
    """Whether the bar applies: not where outcomes are rare, or cases few."""

    @property
    def too_few(self) -> bool:
        return self.printed < 0.5

    def __str__(self) -> str:
        if self.too_few:
            return "too few"
        return f"{self.covered:.3f}" + ("" if self.printed > 0.995 else f" ({self.printed:.0%})")


class Table(NamedTuple):
    """One kind of interval."""

    title: str
    note: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Cell, ...]], ...]
    bar: float = 0.92
    """Coverage that every cell with a promise must have."""


def cell(found: Iterable[Ends], truth: float, *, promised: bool) -> Cell:
    """Return what came of the intervals of many data sets."""
    runs = hits = printed = 0
    for ends in found:
        runs += 1
        if ends is not None:
            printed += 1
            hits += ends[0] - 1e-12 <= truth <= ends[1] + 1e-12
    return Cell(hits / printed if printed else math.nan, printed / runs, promised)


# -- what data look like ------------------------------------------------------------


def passes(source: Any, mean: float, shape: Any) -> Any:
    return (source.random(shape) < mean) * 1.0


def levels(source: Any, mean: float, shape: Any) -> Any:
    """Five levels, such as grades from 0 to 1: a binomial share, which has the mean."""
    return source.binomial(4, source.beta(4 * mean, 4 * (1 - mean), shape)) / 4


def scores(source: Any, mean: float, shape: Any, *, tight: float = 4) -> Any:
    return source.beta(tight * mean, tight * (1 - mean), shape)


KINDS: dict[str, Draw] = {
    "0 or 1": passes,
    "five levels": levels,
    "Beta, a + b = 1": partial(scores, tight=1),
    "Beta, a + b = 4": scores,
    "Beta, a + b = 10": partial(scores, tight=10),
}


def plain(sets: Any, *, steps: bool = False) -> Iterator[Ends]:
    """Yield the interval of the mean of each row.

    Args:
        sets: a data set a row: scores on 0..1.
        steps: whether they are differences of such scores instead.
    """
    n = sets.shape[1]
    bounds = (-1.0, 1.0) if steps else (0.0, 1.0)
    errors = sets.std(axis=1, ddof=1) / math.sqrt(n)
    changed = (sets != 0).sum(axis=1)
    rows = zip(sets.mean(axis=1), errors, changed, strict=True)
    for place, (mean, error, count) in enumerate(rows):
        options: dict[str, Any] = {"bounds": bounds, "changed": int(count) if steps else None}
        ends = mean_interval(float(mean), float(error), n - 1, **options) if n >= FEWEST else None
        if place == 0:  # the same as value by value
            figures = MeanInterval()
            for value in sets[0].tolist():
                figures.add(value)
            check(figures.interval(**options), ends)
        yield ends


def check(one: Ends, other: Ends) -> None:
    if one != other and not np.allclose(one or math.nan, other or math.nan, atol=1e-9):
        raise AssertionError(f"two ways to one interval: {one}, {other}")


def means(runs: int) -> Table:
    source = np.random.default_rng(SEED)
    rows = []
    for kind, draw in KINDS.items():
        for mean in SHARES:
            cells = tuple(
                cell(plain(draw(source, mean, (runs, n))), mean, promised=usual(n, mean))
                for n in SIZES
            )
            rows.append((f"{kind}, mean {mean:g}", cells))
    return Table(
        "Means of scores", "Also of criteria and slices.", tuple(f"n = {n}" for n in SIZES),
        tuple(rows),
    )  # fmt: skip


def usual(n: int, mean: float) -> bool:
    return n >= 20 and 0.2 <= mean <= 0.8


def rates(runs: int) -> Table:
    rows = []
    for share in SHARES:
        cells = []
        for n in SIZES:
            covered = math.fsum(
                math.comb(n, k) * share**k * (1 - share) ** (n - k)
                for k in range(n + 1)
                if wilson(k, n)[0] <= share <= wilson(k, n)[1]
            )
            cells.append(Cell(covered, float(n >= FEWEST), usual(n, share)))
        rows.append((f"pass rate {share:g}", tuple(cells)))
    return Table(
        "Pass rates", "Wilson's interval; summed over the binomial, no simulation.",
        tuple(f"n = {n}" for n in SIZES), tuple(rows),
    )  # fmt: skip


# -- clusters -----------------------------------------------------------------------

CLUSTERS: dict[str, Sequence[int]] = {
    "5 of 20": [20] * 5,
    "10 of 1": [1] * 10,
    "10 of 5": [5] * 10,
    "10 of 30": [30] * 10,
    "40 and 9 of 2": [40, *[2] * 9],
    "1, 1, 2, 2, 3, ..., 80": [1, 1, 2, 2, 3, 4, 6, 8, 12, 20, 40, 80],
    "20 of 5": [5] * 20,
    "100 and 19 of 5": [100, *[5] * 19],
    "50 of 4": [4] * 50,
}
ALIKE = (0.0, 0.1, 0.3, 0.6, 1.0)
"""Correlation of two values of one cluster."""


def clustered(totals: Any, sizes: Sequence[int], *, steps: bool = False) -> Iterator[Ends]:
    """Yield the interval of the mean of each row.

    Args:
        totals: a data set a row: the sum of the values of each cluster.
        sizes: number of values of each cluster.
        steps: whether values are differences of scores on 0..1, or such scores.
    """
    bounds = (-1.0, 1.0) if steps else (0.0, 1.0)
    for place, row in enumerate(totals.tolist()):
        changed = sum(total != 0 for total in row) if steps else None
        found = cr2(row, sizes)
        assert found is not None
        ends = None
        if len(sizes) >= FEWEST_CLUSTERS:
            ends = mean_interval(*found, bounds=bounds, changed=changed)
        if place == 0:  # the same as value by value
            figures = ClusteredMean()
            for cluster, (total, size) in enumerate(zip(row, sizes, strict=True)):
                for _ in range(size):
                    figures.add(total / size, cluster)
            check(figures.interval(bounds=bounds, changed=changed), ends)
        yield ends


def passed(source: Any, mean: float, sizes: Sequence[int], alike: float, runs: int) -> Any:
    """Return how many cases of each cluster pass; two of one cluster have that correlation."""
    shape = (runs, len(sizes))
    shares: Any = np.full(shape, mean)
    if alike == 1:
        shares = passes(source, mean, shape)
    elif alike > 0:
        tight = 1 / alike - 1
        shares = source.beta(tight * mean, tight * (1 - mean), shape)
    return source.binomial(np.array(sizes), shares) * 1.0


def cluster_means(runs: int) -> Table:
    source = np.random.default_rng(SEED)
    shown = (0.05, 0.2, 0.5, 0.8, 0.95)
    rows = []
    for name, sizes in CLUSTERS.items():
        for alike in ALIKE:
            cells = tuple(
                cell(clustered(passed(source, mean, sizes, alike, runs), sizes), mean,
                     promised=len(sizes) >= 10 and 0.2 <= mean <= 0.8)
                for mean in shown
            )  # fmt: skip
            rows.append((f"{name}, correlation {alike:g}", cells))
    return Table(
        "Means and pass rates by cluster",
        "Scores of 0 or 1. The first column says how many clusters of how many cases there are, "
        "and how much two cases of one cluster are alike.",
        tuple(f"mean {mean:g}" for mean in shown), tuple(rows),
    )  # fmt: skip


# -- differences --------------------------------------------------------------------

FLIPS = ((0.3, 0.3), (0.3, 0.1), (0.2, 0.05), (0.1, 0.1), (0.2, 0.0), (0.1, 0.0), (0.05, 0.05),
         (0.02, 0.0))  # fmt: skip
"""Shares of pairs that get better and worse."""
SIZED = {"Beta(2, 2)": (2, 2), "Beta(1, 4)": (1, 4)}
"""How much they do."""


def flips(source: Any, up: float, down: float, shape: Any, size: str) -> Any:
    drawn = source.random(shape)
    signs = np.where(drawn < up, 1.0, np.where(drawn < up + down, -1.0, 0.0))
    return signs * source.beta(*SIZED[size], shape) if size in SIZED else signs


def apart(source: Any, mean: float, shape: Any) -> Any:
    return scores(source, mean, shape) - scores(source, 0.5, shape)


def turned(sets: Any) -> Iterator[Ends]:
    """Yield the interval of verdicts that turned over, of each row."""
    n = sets.shape[1]
    counts = zip((sets > 0).sum(axis=1), (sets < 0).sum(axis=1), strict=True)
    for place, (up, down) in enumerate(counts):
        ends = paired_shares_interval(int(up), int(down), n) if n >= FEWEST else None
        if place == 0:  # the same as pair by pair
            found = Differences("passes", range=(0.0, 1.0))
            for step in sets[0].tolist():
                found.add(float(step < 0), float(step > 0), None)
            figures = found.finish()
            one = None if figures.low is None else (figures.low, figures.high or 0.0)
            check(one, ends)
        yield ends


def differences(runs: int) -> Table:
    source = np.random.default_rng(SEED)
    rows = []
    for size, mean in (("1", 1.0), ("Beta(2, 2)", 0.5), ("Beta(1, 4)", 0.2)):
        for up, down in FLIPS:
            cells = tuple(
                cell(turned(sets) if size == "1" else plain(sets, steps=True),
                     (up - down) * mean, promised=n >= 20)
                for n in SIZES
                for sets in [flips(source, up, down, (runs, n), size)]
            )  # fmt: skip
            rows.append((f"{up:.0%} up, {down:.0%} down, by {size}", cells))
    for mean in (0.2, 0.5, 0.8):
        cells = tuple(
            cell(plain(apart(source, mean, (runs, n)), steps=True), mean - 0.5, promised=n >= 20)
            for n in SIZES
        )  # fmt: skip
        rows.append((f"Beta of mean {mean:g} less Beta of mean 0.5", cells))
    return Table(
        "Differences of pairs", "Verdicts that turn over (by 1), and scores.",
        tuple(f"n = {n}" for n in SIZES), tuple(rows),
    )  # fmt: skip


def cluster_differences(runs: int) -> Table:
    source = np.random.default_rng(SEED)
    moves = [
        (base, new, alike)
        for base, new in ((0.2, 0.5), (0.5, 0.5), (0.5, 0.8))
        for alike in (0.1, 0.6)
    ]
    rows = []
    for name, sizes in CLUSTERS.items():
        cells = []
        for base, new, alike in moves:
            before, after = (passed(source, mean, sizes, alike, runs) for mean in (base, new))
            found = clustered(after - before, sizes, steps=True)
            cells.append(cell(found, new - base, promised=len(sizes) >= 10))
        rows.append((name, tuple(cells)))
    return Table(
        "Differences of pairs by cluster",
        "Verdicts in two runs; the columns give both pass rates and the correlation.",
        tuple(f"{base:g} to {new:g}, {alike:g}" for base, new, alike in moves), tuple(rows),
    )  # fmt: skip


# -- bootstrap ----------------------------------------------------------------------


def resampled(sets: Any) -> Iterator[Ends]:
    for values in sets.tolist():
        found = None
        if too_few_to_draw(values, bounds=(0.0, 1.0)) is None:
            found = bootstrap_interval(values)
        yield (found.low, found.high) if found else None


def bootstraps(runs: int) -> Table:
    source = np.random.default_rng(SEED)
    sizes = (20, 30, 50, 100, 200, 400)
    rows = []
    for kind in ("0 or 1", "Beta, a + b = 4", "Beta, a + b = 10"):
        for mean in (0.2, 0.5, 0.8, 0.9):
            cells = tuple(
                cell(resampled(KINDS[kind](source, mean, (runs // 2, n))), mean,
                     promised=usual(n, mean))
                for n in sizes
            )  # fmt: skip
            rows.append((f"{kind}, mean {mean:g}", cells))
    return Table(
        "Bootstrap by session", "Percentiles of 1,000 draws; half of the data sets.",
        tuple(f"n = {n}" for n in sizes), tuple(rows),
    )  # fmt: skip


TABLES = (means, rates, cluster_means, differences, cluster_differences, bootstraps)


# -- what is printed ----------------------------------------------------------------


def markdown(tables: Sequence[Table], runs: int) -> Iterator[str]:
    """Yield the grid as Markdown, and what it comes to."""
    error = math.sqrt(0.95 * 0.05 / runs)
    yield f"{runs:,} data sets a cell; the standard error of a share near .95 is {error:.4f}."
    for table in tables:
        yield f"\n### {table.title}\n\n{table.note}\n"
        yield f"| | {' | '.join(table.columns)} |"
        yield f"| --- |{' --: |' * len(table.columns)}"
        for name, cells in table.rows:
            yield f"| {name} | {' | '.join(map(str, cells))} |"
    yield "\n### What it comes to\n"
    yield "| | cells | too few | bar | lowest where the bar holds | cells below the bar |"
    yield "| --- | --: | --: | --: | --: | --: |"
    count = declined = 0
    for table in tables:
        grid = [cell for _, row in table.rows for cell in row]
        few = sum(cell.too_few for cell in grid)
        count, declined = count + len(grid), declined + few
        held = [cell.covered for cell in grid if cell.promised and not cell.too_few]
        below = sum(covered < table.bar for covered in held)
        yield (
            f"| {table.title} | {len(grid)} | {few} ({few / len(grid):.0%}) | {table.bar:g} "
            f"| {min(held):.3f} | {below} of {len(held)} |"
        )
    yield f"| all | {count} | {declined} ({declined / count:.0%}) | | | |"


def agreement(runs: int) -> Iterator[Table]:
    """Yield the tables of the module beside this one."""
    path = Path(__file__).with_name("coverage_agreement.py")
    spec = importlib.util.spec_from_file_location("coverage_agreement", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for grid in module.tables(runs):
        yield Table(*grid)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3_000)
    parser.add_argument("--write", type=Path, help="page to put the grid into")
    wanted = parser.parse_args()
    found = []
    for table in chain((make(wanted.runs) for make in TABLES), agreement(wanted.runs)):
        found.append(table)
        print(f"{table.title}: done", file=sys.stderr, flush=True)
    text = "\n".join(markdown(found, wanted.runs)) + "\n"
    if wanted.write is None:
        print(text)
        return
    page = wanted.write.read_text(encoding="utf-8")
    filled, count = MARK.subn(lambda at: f"{at[1]}{text}{at[2]}", page)
    if count != 1:
        sys.exit(f"{wanted.write}: needs one <!-- coverage --> ... <!-- end -->")
    wanted.write.write_text(filled, encoding="utf-8")


if __name__ == "__main__":
    main()
