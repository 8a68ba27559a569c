"""Strengths against another library, and intervals against known truths."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from judgekit.analysis.ranking.strengths import FittedStrengths, Win, groups_of
from judgekit.core.errors import MissingExtra
from tests.analysis.ranking.simulated import centred, drawn_wins
from tests.later import Later

choix = Later("choix")


def with_ties(wins, share, seed):
    """Turn some wins into ties: half a win of each side."""
    random = np.random.RandomState(seed)
    tied = [random.random_sample() < share for _ in wins]
    return [
        half
        for win, tie in zip(wins, tied, strict=True)
        for half in (
            [win._replace(weight=0.5), Win(win.prompt, win.loser, win.winner, 0.5)]
            if tie
            else [win]
        )
    ]


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("ties", [0.0, 0.25])
def test_strengths_are_those_of_choix(seed, ties):
    models = 3 + seed
    truth = np.random.RandomState(seed).normal(0, 0.8, models)
    wins = with_ties(drawn_wins(truth, prompts=9, pairs=45, seed=seed), ties, seed)
    groups, _ = groups_of(wins, models)
    assert len(groups) == 1

    found = FittedStrengths(wins, draws=100, seed=1).strengths()

    # choix has no ties and no weights: all counts are doubled, and a tie is a win of each side.
    doubled = [(win.winner, win.loser) for win in wins for _ in range(round(2 * win.weight))]
    for solve in (choix.ilsr_pairwise, choix.opt_pairwise):
        expected = solve(models, doubled, alpha=0, tol=1e-12)
        strengths = [one.strength for one in found]
        assert np.allclose(strengths, centred(expected), rtol=0, atol=1e-6)
    assert sum(strengths) == pytest.approx(0, abs=1e-9)
    assert found[0].low is None  # fewer than ten prompts


@pytest.mark.parametrize("losses", [1, 3])
def test_a_model_that_nearly_always_wins_has_the_exact_strength(losses):
    wins = [Win(n, 0, 1, 1.0) for n in range(5000)] + [Win(n, 1, 0, 1.0) for n in range(losses)]

    one, other = FittedStrengths(wins, draws=100, seed=1).strengths()

    assert one.strength - other.strength == pytest.approx(np.log(5000 / losses), abs=1e-6)


@pytest.mark.thorough
def test_intervals_and_ranks_cover_the_truth():
    truth = centred([1.2, 0.4, 0.4, -0.5, -1.5])
    ranks = [(1, 1), (2, 3), (2, 3), (4, 4), (5, 5)]
    covered, ranked = [], []
    for seed in range(20):
        wins = drawn_wins(truth, prompts=60, pairs=6, seed=seed)
        found = FittedStrengths(wins, draws=100, seed=seed).strengths()
        covered += [one.low <= at <= one.high for one, at in zip(found, truth, strict=True)]
        ranked += [
            one.rank_low <= low and high <= one.rank_high
            for one, (low, high) in zip(found, ranks, strict=True)
        ]

    assert np.mean(covered) >= 0.9
    assert np.mean(ranked) >= 0.9
    assert np.mean(covered) < 1  # the intervals are not just wide


def test_prompts_are_drawn_whole():
    """Ten verdicts that repeat each other tell no more than one."""
    wins = drawn_wins([0.5, 0.0, -0.5], prompts=40, pairs=3, seed=3)
    once = FittedStrengths(wins, draws=200, seed=1).strengths()
    often = FittedStrengths([win for win in wins for _ in range(10)], draws=200, seed=1).strengths()

    for one, other in zip(once, often, strict=True):
        assert other.strength == pytest.approx(one.strength, abs=1e-9)
        assert other.high - other.low == pytest.approx(one.high - one.low, rel=1e-6)


def test_the_same_seed_gives_the_same_figures():
    wins = drawn_wins([0.5, 0.0, -0.5], prompts=20, pairs=3, seed=3)
    one, same, other = (
        FittedStrengths(wins, draws=100, seed=seed).strengths() for seed in (1, 1, 2)
    )

    assert one == same
    assert [o.low for o in one] != [o.low for o in other]
    assert [o.strength for o in one] == [o.strength for o in other]


def test_models_that_only_win_come_first_and_cycles_are_one_group():
    wins = [Win(0, *pair, 1.0) for pair in [(4, 0), (0, 1), (1, 2), (2, 0), (2, 3)]]
    groups, reach = groups_of(wins, 6)

    assert groups == [[4], [0, 1, 2], [3], [5]]
    assert reach[4, 3]
    assert not reach[3, 5]
    assert not reach[5, 3]


def test_a_missing_library_is_named_with_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "evalica", None)

    with pytest.raises(MissingExtra, match=r"a ranking needs an extra: .*\[ranking\]"):
        FittedStrengths([Win(0, 0, 1, 0.5), Win(0, 1, 0, 0.5)], draws=100, seed=1).strengths()


@pytest.mark.thorough
def test_equal_models_may_all_be_the_best():
    denied = 0
    for seed in range(20):
        wins = drawn_wins(np.zeros(8), prompts=40, pairs=8, seed=seed)
        found = FittedStrengths(wins, draws=100, seed=seed).strengths()
        denied += any(one.rank_low != 1 or one.rank_high != 8 for one in found)

    assert denied <= 4  # with intervals of single pairs, 11
