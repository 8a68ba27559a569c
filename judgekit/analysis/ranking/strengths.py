"""Strengths of models: Bradley-Terry by evalica, with errors by a bootstrap over prompts."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from statistics import NormalDist
from typing import Any, NamedTuple

from judgekit.core.errors import needs_extra
from judgekit.stats.clusters import FEWEST
from judgekit.stats.intervals import Z
from judgekit.stats.student import student_t_quantile

_SMALLEST = 1e-9
"""Strengths that differ by less are equal."""
_TOLERANCE, _DRAW_TOLERANCE = 1e-12, 1e-9
_ITERATIONS = 100_000
_BATCH = 2_000_000
"""Maximum number of prompt weights in memory."""


class Win(NamedTuple):
    """A win, or half of a tie, by the indices of prompt and models."""

    prompt: int
    winner: int
    loser: int
    weight: float
    """1, or 0.5 for each side of a tie."""


class Strength(NamedTuple):
    """The strength of one of several models that are strongly connected by wins."""

    strength: float
    """Natural logarithm, with mean 0: i beats j with probability 1 / (1 + exp(s[j] - s[i]))."""
    rank: int
    """Rank by strength, from 1."""
    low: float | None = None
    """95 % interval; `None` for too few prompts."""
    high: float | None = None
    rank_low: int | None = None
    """The best rank that the comparisons allow, from 1."""
    rank_high: int | None = None


def groups_of(wins: Sequence[Win], models: int) -> tuple[list[list[int]], Any]:
    """Return the strongly connected groups of models, and which models reach which by wins.

    A group that only wins against another one comes before it. `reach[i, j]` is true if a chain of
    wins or ties leads from i to j, and for i = j.
    """
    import numpy as np

    reach = np.eye(models, dtype=np.float32)
    for win in wins:
        reach[win.winner, win.loser] = 1
    for _ in range(models.bit_length()):
        reach = (reach @ reach > 0).astype(np.float32)
    mutual = (reach > 0) & (reach.T > 0)
    groups: dict[int, list[int]] = {}
    for model in range(models):
        groups.setdefault(int(mutual[model].argmax()), []).append(model)
    ordered = sorted(groups.values(), key=lambda group: (-int(reach[group[0]].sum()), group))
    return ordered, reach > 0


def strengths_of(wins: Sequence[Win], *, draws: int, seed: int) -> list[Strength]:
    """Return the maximum-likelihood strengths of models that are strongly connected by wins.

    They are in the order of the numbers of the models.

    The errors are estimated by the Bayesian bootstrap (Rubin 1981): in every draw, each prompt with
    all its comparisons has a weight from the exponential distribution. No weight is 0, so every
    draw has finite strengths. Intervals are Student's t with prompts - 1 degrees of freedom, each
    for itself. Rank intervals hold together: they count the models that are stronger or weaker by
    the intervals of all differences at once, whose width comes from the largest t of each draw
    (max-t; Mogstad, Romano, Shaikh and Wilhelm 2024).

    Args:
        wins: the comparisons.
        draws: draws of the bootstrap.
        seed: its seed.

    Raises:
        MissingExtra: evalica is not installed.
    """
    import numpy as np

    rows = np.array(wins)
    weights = rows[:, 3]
    prompts, prompt = np.unique(rows[:, 0], return_inverse=True)
    members, sides = np.unique(rows[:, 1:3], return_inverse=True)
    models, (winner, loser) = len(members), sides.reshape(-1, 2).T
    cells, cell = np.unique(winner * models + loser, return_inverse=True)
    with needs_extra("a ranking", "ranking"):
        import evalica
    pairs = (cells // models).tolist(), (cells % models).tolist()
    every = (*pairs, [evalica.Winner.X] * len(cells))

    def fit(weights: Any, tolerance: float) -> Any:
        """Return the logarithms of strengths with mean 0, by the numbers of the models."""
        options = {"weights": weights.tolist(), "tolerance": tolerance, "limit": _ITERATIONS}
        logs = np.log(evalica.bradley_terry(*every, **options).scores.sort_index().to_numpy())
        return logs - logs.mean()

    centre = fit(np.bincount(cell, weights), _TOLERANCE)
    rank = 1 + (centre > centre[:, None] + 1e-9).sum(axis=1)
    if len(prompts) < FEWEST:
        return list(map(Strength, centre.tolist(), rank.tolist()))
    generator = np.random.RandomState(seed)
    drawn = np.empty((draws, models))
    each = max(1, _BATCH // len(prompts))
    for first in range(0, draws, each):
        batch = generator.standard_exponential((min(each, draws - first), len(prompts)))
        for number, factors in enumerate(batch, start=first):
            drawn[number] = fit(np.bincount(cell, weights * factors[prompt]), _DRAW_TOLERANCE)
    t = student_t_quantile(0.975, len(prompts) - 1)
    covariance = np.cov(drawn, rowvar=False)
    variance = np.diag(covariance)
    margin = t * np.sqrt(variance)
    steps = centre[:, None] - centre[None, :]
    spread = np.maximum(variance[:, None] + variance[None, :] - 2 * covariance, 0)
    widest = _widest(drawn - drawn.mean(axis=0), np.sqrt(spread), len(prompts) - 1)
    clear = np.abs(steps) > np.maximum(widest * np.sqrt(spread), 1e-9)
    above, below = (((side < 0) & clear).sum(axis=1) for side in (steps, -steps))
    columns = (centre, rank, centre - margin, centre + margin, 1 + above, models - below)
    return list(map(Strength, *(column.tolist() for column in columns)))


def _widest(errors: Any, spread: Any, df: float) -> float:
    """Return the 95 % quantile of the largest t over all pairs of models.

    The normal quantile of the draws is replaced by Student's t of the same probability, because the
    standard errors are estimated from few prompts.

    Args:
        errors: the deviation of each model's strength in each draw.
        spread: standard error of the difference of each pair of models.
        df: degrees of freedom.
    """
    import numpy as np

    largest = np.zeros(len(errors))
    for one, other in combinations(range(errors.shape[1]), 2):
        if spread[one, other] > _SMALLEST:
            step = np.abs(errors[:, one] - errors[:, other]) / spread[one, other]
            largest = np.maximum(largest, step)
    quantile = max(float(np.quantile(largest, 0.95, method="higher")), Z)
    return student_t_quantile(min(NormalDist().cdf(quantile), 1 - 1e-12), df)
