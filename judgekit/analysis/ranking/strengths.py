"""Bradley-Terry strengths by evalica, with errors by a bootstrap over prompts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from judgekit.core.errors import needs_extra
from judgekit.stats.clusters import FEWEST
from judgekit.stats.student import student_t_quantile

_TOLERANCE, _DRAW_TOLERANCE = 1e-12, 1e-9
_ITERATIONS = 100_000
_BATCH = 2_000_000
"""Weights of prompts kept in memory at a time."""


class Win(NamedTuple):
    """A win, or half of a tie, by the numbers of the prompt and the models."""

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
    """By strength, from 1."""
    low: float | None = None
    """95 % interval; `None` for too few prompts."""
    high: float | None = None
    rank_low: int | None = None
    """The best rank that the comparisons allow, from 1."""
    rank_high: int | None = None


def groups_of(wins: Sequence[Win], models: int) -> tuple[list[list[int]], Any]:
    """Return the strongly connected groups of models, and which models reach which by wins.

    A group that only wins against another comes before it. `reach[i, j]` is whether a chain of
    wins or ties leads from i to j; it is true for i = j.
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

    The errors come from the Bayesian bootstrap (Rubin 1981): in every draw each prompt, with all
    its comparisons, has a weight from the exponential distribution. No weight is 0, so that every
    draw has finite strengths. Intervals are Student's t with prompts - 1 degrees of freedom. A
    rank interval counts the models that are stronger or weaker beyond the interval of the
    difference (Mogstad, Romano, Shaikh and Wilhelm 2024).

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
    clear = np.abs(steps) > np.maximum(t * np.sqrt(spread), 1e-9)
    above, below = (((side < 0) & clear).sum(axis=1) for side in (steps, -steps))
    columns = (centre, rank, centre - margin, centre + margin, 1 + above, models - below)
    return list(map(Strength, *(column.tolist() for column in columns)))
