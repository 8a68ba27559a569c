"""Tests of a frame: their cases have criteria themselves."""

import json

import pytest

from judgekit.authoring.rubric_test.run import RubricTestSettings, run_tests
from judgekit.core.errors import RubricError
from judgekit.rubric.load import load_rubric
from judgekit.suite.judge_file import JudgeFile
from tests.each import each

CRITERIA = """[{id: dose, criterion: Names the dose, points: 2},
      {criterion: Is friendly, points: 1, levels: [cold, warm]}]"""


def frame(tmp_path, tests, *, name="strict", extends="criterion_met@2"):
    path = tmp_path / f"{name}.jinja"
    front = f"name: {name.partition('@')[0]}\nversion: {name.partition('@')[2] or 1}\n"
    path.write_text(f"---\n{front}extends: {extends}\n{tests}---\n")
    return path


def written(expect, *, criteria=CRITERIA, more=""):
    case = f"{{output: Take one., expected: {{criteria: {criteria}}}}}"
    return f"tests:\n  - {{name: t, case: {case}, expect: {expect}{more}}}\n"


def run_of(path, tmp_path, first=True, second="warm"):
    answers = {"c1": {"reason": "r", "quotes": ["one"], "value": first},
               "c2": {"reason": "r", "quotes": [], "value": second}}  # fmt: skip
    line = {"case": "t/1..2", "metric": "points", "answers": answers}
    (tmp_path / "answers.jsonl").write_text(json.dumps(line))
    judge = JudgeFile(model="manual/ann", answers=str(tmp_path / "answers.jsonl"))
    settings = RubricTestSettings(judge=judge, record="all", cassettes=tmp_path)
    return run_tests(load_rubric(path), settings)


def test_expectations_are_about_the_criteria_of_the_case(tmp_path):
    expect = "{dose: {answer: true, quotes: one}, criterion 2: cold, value: {min: 0.9}}"
    run = run_of(frame(tmp_path, written(expect)), tmp_path)

    (outcome,) = run.outcomes
    assert outcome.verdict == "failed"
    (short,) = outcome.shortfalls
    assert (short.criterion, short.expected, short.said) == ("criterion 2", "cold", "warm, worth 1")


@each(
    ("expect", "further", "message"),
    [
        ("{dos: true}", {}, "the case has no criterion 'dos'; did you mean 'dose'?"),
        (
            "{dose: true}",
            {"criteria": "[{criterion: a}]"},
            "number 1: has no points; add points: 1",
        ),
        ("{dose: true}", {"extends": "criterion_met"}, "extend criterion_met@2 instead"),
    ],
)
def test_a_wrong_test_has_one_line(expect, further, message, tmp_path):
    criteria = further.pop("criteria", CRITERIA)
    path = frame(tmp_path, written(expect, criteria=criteria), **further)
    with pytest.raises(RubricError) as caught:
        run_tests(load_rubric(path))

    assert message in str(caught.value)
    assert caught.value.where == f"{path}:6"


def test_tests_of_a_frozen_rubric_are_in_a_file_beside_it(tmp_path):
    (tmp_path / "versions").mkdir()
    path = frame(tmp_path / "versions", "", name="strict@2")
    beside = path.with_name("strict@2.tests.yaml")
    beside.write_text(written("{dose: true, value: {min: 1}}"))

    rubric = load_rubric(path)
    assert run_of(path, tmp_path).exit_code == 0
    assert rubric.tests[0].where == f"{beside}:2"

    beside.write_text("tests:\n  - {name: t, case: {output: a}, expects: {value: {min: 1}}}\n")
    with pytest.raises(RubricError, match="did you mean 'expect'") as caught:
        load_rubric(path)
    assert caught.value.where == f"{beside}:2"
