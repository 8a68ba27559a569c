"""Bradley-Terry strengths by evalica, with errors by a bootstrap over prompts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from judgekit.core.errors import MissingExtra
from judgekit.stats.clusters import FEWEST
from judgekit.stats.student import student_t_quantile

EXTRA = "ranking"
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


class Strengths(NamedTuple):
    """Strengths of models that are strongly connected by wins."""

    strength: list[float]
    """Natural logarithms with mean 0: i beats j with probability 1 / (1 + exp(s[j] - s[i]))."""
    margin: list[float] | None
    """Half the width of the 95 % interval; `None` for too few prompts."""
    ranks: list[tuple[int, int]] | None
    """The best and the worst rank that the comparisons allow, from 1."""


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


def strengths_of(wins: Sequence[Win], models: int, *, draws: int, seed: int) -> Strengths:
    """Return the maximum-likelihood strengths of models that are strongly connected by wins.

    The errors come from the Bayesian bootstrap (Rubin 1981): in every draw each prompt, with all
    its comparisons, has a weight from the exponential distribution. No weight is 0, so that every
    draw has finite strengths. Intervals are Student's t with prompts - 1 degrees of freedom. A
    rank interval counts the models that are stronger or weaker beyond the interval of the
    difference (Mogstad, Romano, Shaikh and Wilhelm 2024).

    Args:
        wins: the comparisons.
        models: number of models; all are connected.
        draws: draws of the bootstrap.
        seed: its seed.

    Raises:
        MissingExtra: evalica is not installed.
    """
    import numpy as np

    rows = np.array([(win.prompt, win.winner * models + win.loser) for win in wins])
    weights = np.array([win.weight for win in wins])
    prompts, prompt = np.unique(rows[:, 0], return_inverse=True)
    cells, cell = np.unique(rows[:, 1], return_inverse=True)
    fit = _Fit((cells // models).tolist(), (cells % models).tolist())
    centre = fit(np.bincount(cell, weights).tolist(), _TOLERANCE)
    if len(prompts) < FEWEST:
        return Strengths(centre.tolist(), None, None)
    generator = np.random.RandomState(seed)
    drawn = np.empty((draws, models))
    each = max(1, _BATCH // len(prompts))
    for first in range(0, draws, each):
        batch = generator.standard_exponential((min(each, draws - first), len(prompts)))
        for number, factors in enumerate(batch, start=first):
            sums = np.bincount(cell, weights * factors[prompt])
            drawn[number] = fit(sums.tolist(), _DRAW_TOLERANCE)
    t = student_t_quantile(0.975, len(prompts) - 1)
    covariance = np.cov(drawn, rowvar=False)
    variance = np.diag(covariance)
    steps = centre[:, None] - centre[None, :]
    spread = np.maximum(variance[:, None] + variance[None, :] - 2 * covariance, 0)
    clear = np.abs(steps) > np.maximum(t * np.sqrt(spread), 1e-9)
    above = ((steps < 0) & clear).sum(axis=1).tolist()
    below = ((steps > 0) & clear).sum(axis=1).tolist()
    ranks = [(1 + a, models - b) for a, b in zip(above, below, strict=True)]
    return Strengths(centre.tolist(), (t * np.sqrt(variance)).tolist(), ranks)


class _Fit:
    """Fits strengths to weighted wins.

    Raises:
        MissingExtra: evalica is not installed.
    """

    def __init__(self, winners: list[int], losers: list[int]) -> None:
        try:
            import evalica
        except ImportError as exc:
            raise MissingExtra(feature="a ranking", extra=EXTRA) from exc
        self._solve = evalica.bradley_terry
        self._sides = winners, losers, [evalica.Winner.X] * len(winners)

    def __call__(self, weights: list[float], tolerance: float) -> Any:
        """Return the centred logarithms of the strengths, by the numbers of the models."""
        import numpy as np

        winners, losers, outcomes = self._sides
        found = self._solve(
            winners, losers, outcomes, weights=weights, tolerance=tolerance, limit=_ITERATIONS
        )
        logs = np.log(found.scores.sort_index().to_numpy())
        return logs - logs.mean()
