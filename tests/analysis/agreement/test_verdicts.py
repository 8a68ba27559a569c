"""The answers of a judge that people's answers are compared with."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from judgekit.analysis.agreement.agree import agree
from judgekit.analysis.agreement.verdicts import TIE, answer_of, member_answers
from judgekit.cli.app import app
from judgekit.core.case import Case
from judgekit.core.distribution import Distribution
from judgekit.core.errors import ConfigError
from judgekit.core.jury import Jury
from judgekit.core.score import Opinion, Part, Score
from judgekit.judges.fake import FakeJudge
from judgekit.metrics.pairwise.preference import PairwiseMetric
from judgekit.metrics.rubric import RubricMetric
from judgekit.report.calibration import Calibration
from judgekit.rubric.load import load_rubric
from judgekit.runner.evaluation import evaluate_sync

VALUES = {"A": 1.0, "tie": 0.5, "B": 0.0}


def likely(**probabilities):
    names = {"yes": True, "no": False, "unknown": None}
    return Distribution.of({names[k]: p for k, p in probabilities.items()}, source="decisions")


@pytest.mark.parametrize(
    ("probabilities", "answer"),
    [
        ({"yes": 0.3, "no": 0.25, "unknown": 0.45}, True),
        ({"yes": 0.2, "no": 0.35, "unknown": 0.45}, False),
        ({"yes": 0.3, "no": 0.3, "unknown": 0.4}, None),
    ],
)
def test_the_most_probable_real_answer_stands_for_a_value_without_an_answer(probabilities, answer):
    part = Part(id="ok", value=0.5, answer=None, distribution=likely(**probabilities))

    assert answer_of(part, Score(value=0.5)) is answer


def opinion(word, *, order="written", member="", sample=0, failure=None):
    given = {} if failure else {"answers": {"p": word}, "values": {"p": VALUES[word]}}
    return Opinion(order=order, member=member, sample=sample, failure=failure, **given)


def both(one, other, **fields):
    return (opinion(one, **fields), opinion(other, order="swapped", **fields))


@pytest.mark.parametrize(
    ("value", "opinions", "answer"),
    [
        (1.0, both("A", "A"), "A"),
        (0.5, both("A", "B"), TIE),
        (0.75, both("A", "tie"), "A"),
        (0.25, both("tie", "B"), "B"),
        (0.625, (*both("A", "A"), *both("B", "tie", sample=1)), "A"),
        (0.5, both("tie", "tie"), "tie"),
    ],
)
def test_the_answer_of_two_orders_is_the_side_of_the_value(value, opinions, answer):
    part = Part(id="p", value=value, answer=None)
    score = Score(value=value, opinions=opinions, details={"pairwise": {"winner": "a"}})

    assert answer_of(part, score) == answer


@pytest.mark.parametrize(
    ("rule", "answers"),
    [
        ("strict", {"x": "A", "y": TIE, "z": "tie"}),
        ("vote", {"x": "A", "y": TIE, "z": TIE}),
        ("mean", {"x": "A", "y": TIE, "z": "A"}),
    ],
)
def test_each_pairwise_judge_of_a_jury_combines_its_orders_by_the_rule(rule, answers):
    opinions = (
        *both("A", "A", member="x"),
        *both("A", "B", member="y"),
        *both("A", "tie", member="z"),
        opinion(None, member="w", failure="refused"),
        opinion(None, member="w", order="swapped", failure="refused"),
    )

    assert member_answers(opinions, "p", rule=rule) == {**answers, "w": None}
    assert member_answers(both("A", "B"), "p", rule=rule) == {}


def test_votes_of_several_samples_in_both_orders():
    opinions = (
        *both("A", "A", member="x"),
        *both("A", "B", member="x", sample=1),
        *both("B", "B", member="y"),
    )

    assert member_answers(opinions, "p", rule="vote") == {"x": "A", "y": "B"}
    assert member_answers(opinions, "p", rule="strict") == {"x": TIE, "y": "B"}


# -- from a run -----------------------------------------------------------------------


def preferring(first, swapped):
    """Return a script that answers by the order: a word for each case, by its number."""

    def answer(request):
        number = int(request.about.case[1:])
        text = "".join(message.content for message in request.messages)
        words = first if text.index(f"ours {number}") < text.index(f"theirs {number}") else swapped
        return {"preference": {"reason": "r", "value": words[number % len(words)]}}

    return answer


CASES = [Case(id=f"c{n}", input="i", output=f"ours {n}.", baseline=f"theirs {n}.")
         for n in range(30)]  # fmt: skip


def labelled(tmp_path, values, *, criterion="preference", metric="preference"):
    lines = [{"case": f"c{n}", "metric": metric, "labeller": "ann", "values": {criterion: value}}
             for n, value in enumerate(values)]  # fmt: skip
    path = tmp_path / "labels.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


@pytest.mark.parametrize("rule", ["strict", "vote", "mean"])
def test_orders_that_disagree_are_compared_with_people(tmp_path, rule):
    metric = PairwiseMetric(judge=FakeJudge(preferring("A", ["B", "A", "tie"])), rule=rule)
    report = evaluate_sync(CASES, [metric])

    (found,) = agree(report, labelled(tmp_path, ["model_a"] * 30), write=False).criteria

    assert found.categories == ("A", "tie", "B")
    # The second order disagrees in every third case, and says tie in another third.
    assert found.same == {"strict": 10, "vote": 10, "mean": 20}[rule]


def test_both_orders_are_compared_with_people(tmp_path):
    metric = PairwiseMetric(judge=FakeJudge(preferring("A", ["B", "A", "tie"])))
    report = evaluate_sync(CASES, [metric])

    calibration = agree(report, labelled(tmp_path, ["A"] * 20 + ["B"] * 10), write=False)

    known = {one.name: one for one in calibration.criteria[0].statistics}
    # A is said in the first order; in the other one A, B and tie in turn.
    right = [(n < 20, n % 3 == (0 if n < 20 else 1)) for n in range(30)]
    assert known["positional"].value == pytest.approx(1 / 3)
    assert known["both_orders"].value == pytest.approx(sum(all(one) for one in right) / 30)
    assert known["either_order"].value == pytest.approx(sum(map(sum, right)) / 60)
    assert known["positional"].n == 30
    text = " ".join(calibration.text().split())
    assert "both orders prefer the same answer in 0.33 [" in text


def test_a_jury_of_pairwise_judges(tmp_path):
    judges = {
        "fair": FakeJudge(preferring("A", "B"), model="fake/fair"),
        "first": FakeJudge(preferring("A", "A"), model="fake/first"),
        "torn": FakeJudge(preferring("A", ["B", "tie"]), model="fake/torn"),
    }
    report = evaluate_sync(CASES, [PairwiseMetric(judge=Jury(judges))])

    (found,) = agree(report, labelled(tmp_path, ["A"] * 30), write=False).criteria

    assert {one.member: (one.pairs, one.same) for one in found.jury.members} == {
        "fair": (30, 30),
        "first": (30, 0),
        "torn": (30, 15),
    }


RUBRIC = """---
name: both
extends: base
description: Judge it.
criteria:
  ok: {text: Is it ok?, kind: boolean}
  stars: {text: How good?, minimum: 1, maximum: 5}
---
"""


@pytest.fixture
def run(tmp_path):
    path = tmp_path / "both.jinja"
    path.write_text(RUBRIC, encoding="utf-8")
    answer = {"ok": {"reason": "r", "value": True}, "stars": {"reason": "r", "value": 4}}
    metric = RubricMetric(load_rubric(path), judge=FakeJudge(lambda _: answer))
    return evaluate_sync(CASES, [metric], out=tmp_path / "run")


def two(tmp_path, oks, stars):
    lines = [
        {"case": f"c{n}", "metric": "both", "labeller": "ann", "values": {"ok": ok, "stars": star}}
        for n, (ok, star) in enumerate(zip(oks, stars, strict=True))
    ]
    path = tmp_path / "labels.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def test_one_odd_criterion_does_not_hide_the_others(run, tmp_path):
    labels = two(tmp_path, [True] * 6, [3, 4, 5, 6, 4, 4])

    found = agree(run, labels)

    assert [one.criterion for one in found.criteria] == ["ok"]
    why = "case 'c3' by ann: 6 is no answer to 'stars', which is a number from 1 to 5"
    assert found.problems == {"both, stars": why}
    stored = json.loads((run.folder / "agree.json").read_text(encoding="utf-8"))
    assert Calibration.model_validate(stored) == found
    result = CliRunner().invoke(app, ["agree", str(run.folder), str(labels)])
    assert result.exit_code == 2
    assert "both, ok: 6 cases" in result.stdout
    assert "both, stars: not compared: case 'c3' by ann" in " ".join(result.stdout.split())


def test_labels_that_are_all_odd_are_one_error(run, tmp_path):
    labels = two(tmp_path, ["perhaps"], [9])

    with pytest.raises(ConfigError, match="both, ok: case 'c0' by ann: 'perhaps' is no answer"):
        agree(run, labels)


def test_answers_are_read_as_people_write_them(run, tmp_path):
    oks = ["y", "n", 1.0, 0.0, "1.0", "0", "Yes", "f"]

    found = agree(run, two(tmp_path, oks, ["4", 4.0, "3", 4, 4, 4, 4, 4]), write=False)

    ok, stars = found.criteria
    assert (ok.table, stars.same) == (((0, 0), (4, 4)), 7)


@pytest.mark.parametrize("odd", ["people", "the judge"])
def test_one_answer_of_a_side_measures_nothing(tmp_path, odd):
    varied = [n >= 5 for n in range(30)]
    judge, people = ([True] * 30, varied) if odd == "the judge" else (varied, [True] * 30)
    path = tmp_path / "both.jinja"
    path.write_text(RUBRIC, encoding="utf-8")

    def answer(request):
        value = judge[int(request.about.case[1:])]
        return {"ok": {"reason": "r", "value": value}, "stars": {"reason": "r", "value": 4}}

    report = evaluate_sync(CASES, [RubricMetric(load_rubric(path), judge=FakeJudge(answer))])

    (found,) = agree(report, labelled(tmp_path, people, criterion="ok", metric="both"),
                     write=False).criteria  # fmt: skip

    assert found.sentence == (
        f"25 of 30 answers are the same; {odd} gave one answer, yes, so kappa is 0 whatever the "
        "other side answers: it measures nothing here."
    )
