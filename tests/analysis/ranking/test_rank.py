"""Rankings of comparisons in files, objects and run folders."""

from __future__ import annotations

import json
from inspect import unwrap
from itertools import combinations

import pytest

import judgekit
from judgekit.analysis.ranking.records import PairwiseRecord, comparisons_of
from judgekit.core.case import Case
from judgekit.core.errors import ConfigError, DatasetError
from judgekit.core.score import Score
from judgekit.runner.evaluation import evaluate_sync
from tests.analysis.comparison.marked import Marked


@pytest.fixture(autouse=True)
def few_draws(monkeypatch):
    """Fewer draws, because most tests are about other figures."""
    monkeypatch.setitem(unwrap(judgekit.rank).__kwdefaults__, "draws", 100)


def row(prompt, a, b, winner, **more):
    return {"prompt": prompt, "a": a, "b": b, "winner": winner, **more}


def cycle(prompts=12):
    """x beats y twice as often as y beats x, and both are even with z."""
    rows = []
    for n in range(prompts):
        rows.append(row(n, "x", "y", "b" if n % 3 == 0 else "a", judge=f"j{n % 2}"))
        rows.append(row(n, "z", "x", "tie", judge="j0"))
        rows.append(row(n, "y", "z", "z" if n % 2 else "y", judge="j1"))
    return rows


def test_wins_ties_and_losses_are_counted():
    ranking = judgekit.rank(cycle())

    assert [one.model for one in ranking.models] == ["x", "z", "y"]
    x = ranking.models[0]
    assert (x.wins, x.ties, x.losses, x.n) == (8, 12, 4, 24)
    assert (ranking.comparisons, ranking.prompts) == (36, 12)
    assert ranking.judges == {"j0": 18, "j1": 18}
    assert x.low < x.strength < x.high
    assert (x.rank, x.rank_low, x.rank_high) == (1, 1, 3)
    assert ranking.connected
    assert ranking.warnings == ()
    duel = next(pair for pair in ranking.pairs if {pair.a, pair.b} == {"x", "y"})
    assert (duel.a, duel.wins, duel.ties, duel.losses) == ("x", 8, 0, 4)
    assert duel.rate == pytest.approx(2 / 3)


def test_files_objects_and_the_order_of_rows_give_the_same_ranking(tmp_path):
    rows = cycle()
    lines = tmp_path / "votes.jsonl"
    lines.write_text("".join(json.dumps(each) + "\n" for each in rows))
    table = tmp_path / "votes.csv"
    table.write_text(
        "prompt,a,b,winner,judge\n"
        + "".join(",".join(map(str, each.values())) + "\n" for each in rows)
    )

    expected = judgekit.rank(rows).to_json()

    assert judgekit.rank(lines).to_json() == expected
    assert judgekit.rank(table).to_json() == expected
    assert judgekit.rank(rows[20:], list(reversed(rows[:20]))).to_json() == expected


def test_one_judge_may_be_chosen():
    ranking = judgekit.rank(cycle(), judge="j1")

    assert ranking.judges == {"j1": 18}
    with pytest.raises(ConfigError, match="no comparison is by the judge 'j2'; "):
        judgekit.rank(cycle(), judge="j2")
    with pytest.raises(ConfigError, match="no comparison names its judge"):
        judgekit.rank([row(1, "x", "y", "a")], judge="j2")


@pytest.mark.parametrize(
    ("winner", "share"),
    [("a", 1), ("x", 1), ("b", 0), ("y", 0), ("tie", 0.5), (None, None), ("", None)],
)
def test_a_winner_is_a_side_a_model_or_a_tie(winner, share):
    assert list(comparisons_of([row(7, " x", "y", winner)])) == [
        PairwiseRecord("7", "x", "y", share)
    ]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"prompt": 1, "a": "x", "b": "y"}, "'winner': missing; a row has prompt, a, b, winner"),
        ({"prompt": 1, "a": "x", "b": "y", "winer": "a"}, "'winner': missing; rename 'winer'"),
        (row(1, "x", "x", "a"), "'x' is compared with itself; a and b are two models"),
        (row(1, "gpt", "old", "gtp"), "'gtp' is neither of the models; did you mean 'gpt'?"),
        (row(1, "gpt", "old", "3.5"), "neither of the models; use a, b, tie, 'gpt' or 'old'"),
        (row(1, "b", "a", "a"), "'a' is ambiguous with models 'b' and 'a'; rename them"),
        (row(1, "tie", "y", "tie"), "'tie' is ambiguous"),
        (row(1, "x", "", "a"), "field 'b': expected a name, found text"),
        (row(1, ["x"], "y", "a"), "field 'a': expected a name"),
        (row(True, "x", "y", "a"), "field 'prompt': expected a name"),
        (row(1, "x" * 201, "y", "a"), "field 'a': longer than 200 characters; give a name"),
        (["x", "y"], "expected an object with prompt, a, b, winner, found a list"),
    ],
)  # fmt: skip
def test_a_wrong_row_has_its_place(wrong, message):
    with pytest.raises(DatasetError) as error:
        judgekit.rank([row(1, "x", "y", "a"), wrong])

    assert str(error.value).startswith("row 2: ")
    assert message in str(error.value)


def test_models_that_are_not_strongly_connected_are_in_groups():
    rows = [*cycle(), row(1, "top", "x", "a"), row(2, "top", "z", "top"), row(3, "y", "low", "a")]
    ranking = judgekit.rank(rows)

    assert not ranking.connected
    assert [(one.model, one.group, one.rank) for one in ranking.models] == [
        ("top", 1, None), ("x", 2, 1), ("z", 2, 2), ("y", 2, 3), ("low", 3, None),
    ]  # fmt: skip
    assert ranking.models[0].strength is None
    expected = {one.model: one.strength for one in judgekit.rank(cycle()).models}
    assert {one.model: one.strength for one in ranking.models[1:4]} == pytest.approx(expected)
    assert "group 1: top; group 2: x, y, z; group 3: low" in ranking.warnings[0]
    assert ranking.warnings[1:] == (
        "Group 1 never lost against group 2, 3.",
        "Group 2 never lost against group 3.",
    )
    assert "do not put all models on one scale" in ranking.text()


def test_models_that_never_met_have_no_order():
    rows = [row(n, *pair, "tie") for n in range(3) for pair in (("p", "q"), ("r", "s"))]
    ranking = judgekit.rank(rows)

    assert ranking.warnings[1:] == ("Group 1 has no order with group 2.",)
    assert ranking.too_few == "3 of the 10 prompts that an interval needs"
    assert [one.rank for one in ranking.models] == [1, 1, 1, 1]


def test_no_verdicts_no_ranking():
    with pytest.raises(ConfigError, match=r"no comparison has a winner or a tie \(1 comp"):
        judgekit.rank([row(1, "x", "y", None)])
    with pytest.raises(ConfigError, match="nothing to rank"):
        judgekit.rank()
    ranking = judgekit.rank([*cycle(), row(1, "x", "y", None)])
    assert ranking.left_out == {"comparisons without a winner": 1}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"draws": 10}, "draws must be from 100 to 100,000, not 10"),
        ({"seed": -1}, "the seed must be from 0"),
        ({"metric": "x"}, "--metric belongs to runs"),
    ],
)
def test_a_wrong_option_is_refused(options, message):
    with pytest.raises(ConfigError, match=message):
        judgekit.rank(cycle(), **options)


def test_answers_in_place_of_models_are_noticed():
    rows = [row(n, f"answer {n}", f"other answer {n}", "a") for n in range(501)]
    with pytest.raises(ConfigError, match=r"1,002 models, .* are 'a' and 'b' names of models"):
        judgekit.rank(rows)


# -- runs ------------------------------------------------------------------------------


def answers(*values):
    return list(values)


def test_runs_are_compared_case_by_case_in_the_direction_of_the_metric(run):
    values = {
        "one": [0.9, 0.5, 0.1, 0.4],
        "two": [0.3, 0.5, 0.2, None],
        "three": [0.9, 0.1, 0.9, 1],
    }
    folders = [run(name, answers(*own)) for name, own in values.items()]
    ranking = judgekit.rank(*folders)

    duels = {(p.a, p.b): (p.wins, p.ties, p.losses) for p in ranking.pairs}
    duels |= {(b, a): figures[::-1] for (a, b), figures in duels.items()}
    assert duels["one", "two"] == (1, 1, 1)
    assert duels["one", "three"] == (1, 1, 2)
    assert duels["two", "three"] == (1, 0, 2)
    assert ranking.metric == "worth"
    assert list(ranking.left_out.values()) == [1]

    lower = [
        run(f"low-{name}", answers(*own), metrics=[Marked(higher=False)])
        for name, own in values.items()
    ]
    turned = {(p.a, p.b): p.wins for p in judgekit.rank(*lower).pairs}
    turned |= {(p.b, p.a): p.losses for p in judgekit.rank(*lower).pairs}
    assert turned["low-two", "low-three"] == 2


def test_cases_that_differ_are_left_out_and_counted(run):
    one = run("one", answers(1, 0, 1))
    two = run("two", answers(0, 1), inputs={"c000": "another question"})
    ranking = judgekit.rank(one, two)

    assert ranking.comparisons == 1
    assert ranking.left_out == {
        "another question under the same id": 1, "no such case in the other run": 1,
    }  # fmt: skip


def test_runs_are_named_by_the_model_that_answered(run):
    def by(model):
        return lambda _: {"answered": {"output": {"model": model, "key": "k"}}}

    named = [run(name, answers(1, 0), metadata=by(f"lab/{name}")) for name in ("one", "two")]
    same = [run(name, answers(1, 0), metadata=by("lab/m")) for name in ("three", "four")]
    manifest = run("five", answers(0, 1), manifest={"answered_by": "lab/five"})

    assert {one.model for one in judgekit.rank(*named, manifest).models} == {
        "lab/one", "lab/two", "lab/five",
    }  # fmt: skip
    assert {one.model for one in judgekit.rank(*same).models} == {"three", "four"}


@pytest.mark.parametrize(
    ("sources", "metric", "message"),
    [
        (["one"], None, "worth is not a pairwise metric; name two or more runs"),
        (["one", "one"], None, "is named twice"),
        (["one", "both"], "wroth", "metric 'wroth' is not in all runs; did you mean 'worth'"),
        (["both", "also"], None, "name the metric to rank by: --metric second or worth"),
        (["one", "lower"], None, "the range or direction of worth differs"),
    ],
)
def test_runs_that_cannot_be_compared(run, sources, metric, message):
    two = [Marked(), Marked(name="second")]
    run("one", answers(1, 0))
    run("both", answers(1, 0), metrics=two)
    run("also", answers(0, 0), metrics=two)
    folder = run("lower", answers(1, 0), metrics=[Marked(higher=False)]).parent

    with pytest.raises(ConfigError, match=message):
        judgekit.rank(*(folder / name for name in sources), metric=metric)


def duel(case: Case) -> Score:
    """A pairwise metric: the case says who met, and who won."""
    a, b, value = case.metadata["met"]
    details = {"pairwise": {"a": a, "b": b}}
    if value is None:
        return Score(status="abstained", reason="a tie of votes", details=details)
    return Score(value=value, reason="so it was said", details=details)


def test_rows_of_a_pairwise_metric_are_comparisons(tmp_path):
    met = [(a, b, value) for a, b in combinations("xyz", 2) for value in (1, 0.5, 0, 0.7, None)]
    cases = [
        Case(id=f"c{n}", input="?", output="!", metadata={"met": list(one)})
        for n, one in enumerate(met)
    ]
    evaluate_sync(cases, [judgekit.metric("duel")(duel)], out=tmp_path / "duels")

    ranking = judgekit.rank(tmp_path / "duels")

    assert ranking.metric == "duel"
    assert [(p.wins, p.ties, p.losses) for p in ranking.pairs] == [(2, 1, 1)] * 3
    assert ranking.left_out == {"abstained": 3}
    assert ranking.comparisons == 12


def test_frames_and_markdown_hold_what_the_ranking_holds():
    ranking = judgekit.rank([*cycle(), row(1, "<b>|evil", "x", "tie"), row(2, "x", "z", "a")])
    frame = ranking.to_pandas()

    assert list(frame["model"]) == [one.model for one in ranking.models]
    assert list(ranking.to_polars()["n"]) == list(frame["n"])
    markdown = ranking.markdown()
    assert "<b>" not in markdown
    assert sum(line.startswith("| ") for line in markdown.splitlines()) == 2 + 4
    assert ranking._repr_html_().count("<b>|evil") == 0
