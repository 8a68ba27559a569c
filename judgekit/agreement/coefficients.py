"""Figures of agreement, and how far they might be off: cases drawn again, always the same way."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from judgekit.report.calibration import Coefficient

RESAMPLES = 1000
SEED = 42
_AT_ONCE = 2_000_000
"""Numbers held at a time while drawing."""


class Paired(NamedTuple):
    """One pair of answers, as places in their sorted values, and the case it is about."""

    case: int
    first: int
    second: int


def kappa(table: Any, *, places: Sequence[float] | None = None) -> Any:
    """Return Cohen's kappa (1960) of square tables of counts; nan where it is not defined.

    With places, a disagreement counts by the square of its distance (quadratic weights, Cohen
    1968), so that two levels apart are four times as bad as one.

    Args:
        table: counts, the last two axes being the categories in order.
        places: where the categories stand, such as 0, 1, 2; none if they have no order.

    >>> import numpy as np
    >>> round(float(kappa(np.array([[20, 5], [10, 15]]))), 6)
    0.4
    """
    import numpy as np

    counts = np.asarray(table, dtype=float)
    if places is None:
        far = 1 - np.eye(counts.shape[-1])
    else:
        far = np.subtract.outer(np.asarray(places, float), np.asarray(places, float)) ** 2
    n = counts.sum(axis=(-2, -1))
    by_chance = counts.sum(axis=-1)[..., :, None] * counts.sum(axis=-2)[..., None, :]
    seen = (far * counts).sum(axis=(-2, -1))
    expected = (far * by_chance).sum(axis=(-2, -1))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(expected > 0, 1 - n * seen / expected, np.nan)


def _ranks(counts: Any) -> Any:
    """Return the mean rank of each of sorted values, given how often each occurs."""
    import numpy as np

    return np.cumsum(counts, axis=-1) - (counts - 1) / 2


def rank_of(pairs: Sequence[Paired], weights: Any, size: tuple[int, int]) -> Any:
    """Return Spearman's rho of pairs that each count as often as their weight says.

    Args:
        pairs: the pairs.
        weights: one row of weights per figure wanted, one column per pair.
        size: how many values either side has. Equal values share their mean rank.
    """
    import numpy as np

    sides = ([pair.first for pair in pairs], [pair.second for pair in pairs])
    ranks = []
    for side, count in zip(sides, size, strict=True):
        places = np.array(side)
        totals = [np.bincount(places, weights=row, minlength=count) for row in weights]
        ranks.append(_ranks(np.array(totals))[:, places])
    n = weights.sum(axis=1)[:, None]
    one, other = (rank - (n + 1) / 2 for rank in ranks)
    together = (weights * one * other).sum(axis=1)
    spread = (weights * one**2).sum(axis=1) * (weights * other**2).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(spread > 1e-12, together / np.sqrt(spread), np.nan)


def kappa_figure(pairs: Sequence[Paired], size: int, places: Sequence[float] | None) -> Coefficient:
    """Return kappa with its bootstrap interval by case.

    Args:
        pairs: the pairs.
        size: how many categories there are.
        places: where they stand; none if they have no order.
    """
    import numpy as np

    cells = np.array([pair.first * size + pair.second for pair in pairs])

    def figures(weights: Any) -> Any:
        counts = [np.bincount(cells, weights=row, minlength=size * size) for row in weights]
        return kappa(np.array(counts).reshape(-1, size, size), places=places)

    return _with_interval(pairs, figures)


def rank_figure(pairs: Sequence[Paired], size: tuple[int, int]) -> Coefficient:
    """Return Spearman's rho with its bootstrap interval by case."""
    return _with_interval(pairs, lambda weights: rank_of(pairs, weights, size))


def _with_interval(pairs: Sequence[Paired], figures: Callable[[Any], Any]) -> Coefficient:
    """Return a figure and its percentile interval: cases drawn with replacement, 1,000 times."""
    import numpy as np

    (value,) = figures(np.ones((1, len(pairs)))).tolist()
    if math.isnan(value):
        return Coefficient(value=None)
    cases = np.array([pair.case for pair in pairs])
    _, cases = np.unique(cases, return_inverse=True)
    count = int(cases.max()) + 1
    if count < 2:
        return Coefficient(value=value)
    drawn = np.random.RandomState(SEED)
    found: list[float] = []
    step = max(1, _AT_ONCE // max(count, len(pairs)))
    while len(found) < RESAMPLES:
        rows = min(step, RESAMPLES - len(found))
        picked = drawn.randint(0, count, size=(rows, count))
        times = np.stack([np.bincount(row, minlength=count) for row in picked])
        found += figures(times[:, cases].astype(float)).tolist()
    known = sorted(one for one in found if not math.isnan(one))
    # Where many draws leave nothing to tell apart, the ends would be those of the lucky rest.
    if len(known) < 0.9 * RESAMPLES:
        return Coefficient(value=value)
    low, high = np.percentile(known, [2.5, 97.5]).tolist()
    return Coefficient(value=value, low=low, high=high)
