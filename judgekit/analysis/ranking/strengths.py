"""Strengths of models: Bradley-Terry by evalica, with errors by a bootstrap over prompts."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from statistics import NormalDist
from typing import Any, NamedTuple

from judgekit.core.errors import needs_extra
from judgekit.stats.clusters import FEWEST
from judgekit.stats.student import student_t_quantile

SMALLEST = 1e-9
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


class FittedStrengths:
    """The maximum-likelihood strengths of models that are strongly connected by wins.

    The errors are estimated by the Bayesian bootstrap (Rubin 1981): in every draw, each prompt with
    all its comparisons has a weight from the exponential distribution. No weight is 0, so every
    draw has finite strengths. Fewer than 10 prompts have no errors.

    Args:
        wins: the comparisons.
        draws: draws of the bootstrap.
        seed: its seed.

    Raises:
        MissingExtra: evalica is not installed.
    """

    def __init__(self, wins: Sequence[Win], *, draws: int, seed: int) -> None:
        import numpy as np

        rows = np.array(wins)
        weights = rows[:, 3]
        prompts, prompt = np.unique(rows[:, 0], return_inverse=True)
        members, sides = np.unique(rows[:, 1:3], return_inverse=True)
        self.members: list[int] = members.astype(int).tolist()
        """The numbers of the models, in order."""
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

        self.centre = fit(np.bincount(cell, weights), _TOLERANCE)
        """The strength of each model."""
        self.prompts = len(prompts)
        self._drawn: Any = None
        if self.prompts < FEWEST:
            return
        generator = np.random.RandomState(seed)
        drawn = np.empty((draws, models))
        each = max(1, _BATCH // self.prompts)
        for first in range(0, draws, each):
            batch = generator.standard_exponential((min(each, draws - first), self.prompts))
            for number, factors in enumerate(batch, start=first):
                drawn[number] = fit(np.bincount(cell, weights * factors[prompt]), _DRAW_TOLERANCE)
        self._drawn = drawn
        self._covariance = np.cov(drawn, rowvar=False)

    @property
    def too_few(self) -> str | None:
        """Why there are no errors; `None` if there are."""
        if self.prompts >= FEWEST:
            return None
        return f"{self.prompts} of the {FEWEST} prompts that an interval needs"

    def strengths(self) -> list[Strength]:
        """Return the strengths with their intervals, in the order of the models.

        Intervals are Student's t with prompts - 1 degrees of freedom, each for itself. Rank
        intervals hold together: they count the models that are clearly stronger or weaker.
        """
        import numpy as np

        rank = 1 + (self.centre > self.centre[:, None] + SMALLEST).sum(axis=1)
        if self._drawn is None:
            return list(map(Strength, self.centre.tolist(), rank.tolist()))
        t = student_t_quantile(0.975, self.prompts - 1)
        margin = t * np.sqrt(np.diag(self._covariance))
        clear = self.clear(0.95)
        above, below = (clear < 0).sum(axis=1), (clear > 0).sum(axis=1)
        ends = self.centre - margin, self.centre + margin
        columns = (self.centre, rank, *ends, 1 + above, len(rank) - below)
        return list(map(Strength, *(column.tolist() for column in columns)))

    def clear(self, level: float) -> Any:
        """Return 1 where the model of a row is clearly stronger than that of a column, -1, or 0.

        By the intervals of all differences at once, whose width comes from the largest t of each
        draw (max-t; Mogstad, Romano, Shaikh and Wilhelm 2024).

        Args:
            level: the probability that no difference is clear in the wrong direction.
        """
        import numpy as np

        variance = np.diag(self._covariance)
        steps = self.centre[:, None] - self.centre[None, :]
        spread = np.maximum(variance[:, None] + variance[None, :] - 2 * self._covariance, 0)
        errors, df = self._drawn - self._drawn.mean(axis=0), self.prompts - 1
        widest = _widest(errors, np.sqrt(spread), df, level)
        clear = np.abs(steps) > np.maximum(widest * np.sqrt(spread), SMALLEST)
        return np.sign(steps) * clear


def _widest(errors: Any, spread: Any, df: float, level: float) -> float:
    """Return a quantile of the largest t over all pairs of models.

    The normal quantile of the draws is replaced by Student's t of the same probability, because the
    standard errors are estimated from few prompts.

    Args:
        errors: the deviation of each model's strength in each draw.
        spread: standard error of the difference of each pair of models.
        df: degrees of freedom.
        level: the probability of the quantile.
    """
    import numpy as np

    largest = np.zeros(len(errors))
    for one, other in combinations(range(errors.shape[1]), 2):
        if spread[one, other] > SMALLEST:
            step = np.abs(errors[:, one] - errors[:, other]) / spread[one, other]
            largest = np.maximum(largest, step)
    least = NormalDist().inv_cdf((1 + level) / 2)
    quantile = max(float(np.quantile(largest, level, method="higher")), least)
    return student_t_quantile(min(NormalDist().cdf(quantile), 1 - 1e-12), df)
