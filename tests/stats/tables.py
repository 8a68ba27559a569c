"""Coefficients of tables of counts."""

from judgekit.stats.agreement import PairColumns, Paired, kappa_figure


def kappa(table, *, places=None, power=2):
    """Return the kappa of a table of counts."""
    pairs = [Paired(0, row, column, count) for row, counts in enumerate(table)
             for column, count in enumerate(counts) if count]  # fmt: skip
    return kappa_figure(PairColumns.of(pairs), len(table), places, power=power).value
