"""Comparisons of models with known strengths."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from judgekit.analysis.ranking.strengths import Win


def centred(values: Sequence[float]) -> np.ndarray:
    logs = np.asarray(values, dtype=float)
    return logs - logs.mean()


def drawn_wins(strengths: Sequence[float], *, prompts: int, pairs: int, seed: int) -> list[Win]:
    """Draw comparisons of some random pairs on each prompt, without ties."""
    random = np.random.RandomState(seed)
    every = list(combinations(range(len(strengths)), 2))
    wins = []
    for prompt in range(prompts):
        for place in random.permutation(len(every))[:pairs]:
            one, other = every[place]
            if random.random_sample() > 1 / (1 + np.exp(strengths[other] - strengths[one])):
                one, other = other, one
            wins.append(Win(prompt, one, other, 1.0))
    return wins
