"""Agreement of two rankings, against another library and against a known truth."""

from __future__ import annotations

import json

import numpy as np
import pytest

import judgekit
from judgekit.core.errors import ConfigError
from judgekit.pages.analysis import render_ranking
from tests.analysis.ranking.simulated import drawn_wins
from tests.later import Later

stats = Later("scipy.stats")


def votes(strengths, *, judge=None, prompts=30, seed=1, pairs=6):
    wins = drawn_wins(strengths, prompts=prompts, pairs=pairs, seed=seed)
    named = {} if judge is None else {"judge": judge}
    return [
        {"prompt": w.prompt, "a": f"m{w.winner}", "b": f"m{w.loser}", "winner": "a", **named}
        for w in wins
    ]


TRUTH = [1.6, 0.9, 0.2, -0.6, -1.2]


@pytest.mark.parametrize("seed", range(4))
def test_tau_b_is_that_of_scipy(seed):
    one = votes(TRUTH, seed=seed)
    other = votes(np.random.RandomState(seed).permutation(TRUTH), seed=seed + 50)
    if seed % 2:  # models whose strengths are equal: every win has its reverse
        own = {**one[0], "a": "x", "b": "y"}
        one += [own, {**own, "winner": "b"}]
        one += [{**own, "a": a, "b": "m0", "winner": w} for a in "xy" for w in "ab"]
        other += [{**own, "a": "x", "b": m, "winner": w} for m in ("y", "m1") for w in "aab"]

    ranking = judgekit.rank(one, against=other, draws=100)
    found = ranking.against
    strengths = [
        {m.model: round(m.strength, 9) for m in each.models}
        for each in (ranking, judgekit.rank(other, draws=100))
    ]
    sides = [[each[model] for model in strengths[0]] for each in strengths]

    assert found.tau == pytest.approx(stats.kendalltau(*sides).statistic, abs=1e-9)
    assert found.models == len(strengths[0])
    assert found.same + found.opposite <= found.pairs == found.models * (found.models - 1) // 2
    assert found.share_low <= found.share == found.same / found.pairs <= found.share_high
    assert found.tau_low <= found.tau <= found.tau_high


def test_the_interval_contains_the_order_of_the_truth():
    """Two of ten pairs of models are turned over for the second judge."""
    other = [0.9, 1.6, 0.2, -1.2, -0.6]
    held = []
    for seed in range(4):
        found = judgekit.rank(
            votes(TRUTH, seed=seed, prompts=60), against=votes(other, seed=seed + 99, prompts=60),
            draws=100,
        ).against  # fmt: skip
        held.append(found.share_low <= 0.8 <= found.share_high)
        assert found.tau_low == pytest.approx(2 * found.share_low - 1)
    assert all(held)  # Bonferroni and max-t cover more than 95 %


def test_clear_orders_make_the_interval_narrow():
    wide = {"prompts": 400, "pairs": 3}
    own = votes([2, 0, -2], **wide)
    same = judgekit.rank(own, against=votes([1.5, 0, -1.5], seed=2, **wide), draws=100)
    turned = judgekit.rank(own, against=votes([-1.5, 0, 1.5], seed=2, **wide), draws=100)

    assert (same.against.share_low, same.against.share_high, same.against.tau) == (1, 1, 1)
    assert (turned.against.share_low, turned.against.share_high) == (0, 0)
    assert (turned.against.tau_low, turned.against.tau_high) == (-1, -1)
    assert same.against.line == (
        "Agreement with the ranking by the other comparisons: 3 of 3 pairs of models in the same "
        "order, 1.00 [1.00, 1.00]; Kendall's tau-b 1.00 [1.00, 1.00]. For these 3 models; other "
        "prompts may order them differently."
    )


def test_another_judge_of_one_file_is_the_other_ranking(tmp_path):
    own, people = votes(TRUTH, judge="small"), votes(TRUTH, judge="people", seed=7)
    third = votes(TRUTH, judge="large", seed=9)
    file = tmp_path / "people.jsonl"
    file.write_text("".join(json.dumps(vote) + "\n" for vote in people))
    alone = judgekit.rank(own, draws=100)

    named = judgekit.rank(own + people, against="people", draws=100)
    of_three = judgekit.rank(own + people + third, judge="small", against="people", draws=100)
    by_file = judgekit.rank(own, against=file, draws=100)

    assert named.models == of_three.models == by_file.models == alone.models
    assert named.judges == {"small": len(own)}
    assert named.against == of_three.against
    assert by_file.against.model_copy(update={"name": "people"}) == named.against
    assert alone.against is None
    assert "against" not in alone.to_json()
    assert named.to_json()["against"]["tau"] == named.against.tau
    for text in (named.text(width=200), named.markdown(), render_ranking(named)):
        assert "pairs of models in the same order" in " ".join(text.split())


@pytest.mark.parametrize(
    ("sources", "options", "message"),
    [
        ("both", {"against": "peeple"}, "no judge, file or run folder 'peeple'; did you mean"),
        ("people", {"against": "people"}, "all comparisons are by 'people'; add those of another"),
        ("both", {"against": "people", "judge": "people"}, "'people' is compared with itself"),
        ("both", {"against": []}, "no comparison has a winner or a tie; check"),
        ("both", {"against": "no.jsonl"}, "no judge, file or run folder 'no.jsonl'"),
    ],
)
def test_what_cannot_be_compared_is_an_error(sources, options, message):
    people = votes(TRUTH, judge="people", seed=7)
    rows = people if sources == "people" else people + votes(TRUTH, judge="small")
    with pytest.raises(ConfigError, match=message):
        judgekit.rank(rows, draws=100, **options)


@pytest.mark.parametrize(
    ("others", "reason"),
    [
        ([{"prompt": 1, "a": "m0", "b": "z", "winner": "tie"}], "1 model in both rankings"),
        ([{"prompt": 1, "a": "m0", "b": "m1", "winner": "a"}], "do not connect all models"),
        (
            [{"prompt": 1, "a": "m0", "b": "m1", "winner": "tie"}],
            "1 of the 10 prompts that an interval needs",
        ),
    ],
)
def test_too_little_has_a_reason_in_place_of_an_interval(others, reason):
    found = judgekit.rank(votes(TRUTH), against=others, draws=100).against

    assert reason in found.too_few
    assert reason in found.line
    assert found.share_low is found.tau_low is None
    assert found.only_here == 5 - found.models
