"""`judgekit cases criteria`, and what lint says about criteria in rows."""

import json

import pytest
from typer.testing import CliRunner

from judgekit import Case, Criterion
from judgekit.authoring.cases.criteria import list_criteria
from judgekit.authoring.cases.lint import lint_cases
from judgekit.cli.app import app
from judgekit.core.errors import DatasetError
from judgekit.metrics.criteria.texts import criterion_digest
from tests.each import each


def test_criteria_are_counted():
    tree = Criterion("b", 2, of=[Criterion("c", 1, tags=["x"]), Criterion("a", 3)], tags=["y"])
    cases = [
        Case(id="1", output="o", criteria=[Criterion("a", 5), Criterion("a", -1), tree]),
        Case(id="2", output="o", criteria=[Criterion("a", 2, levels=["no", "yes"])]),
        Case(id="3", output="o"),
    ]
    found = list_criteria(cases)

    assert (found.cases, found.without, found.criteria, found.most) == (2, 1, 5, 4)
    assert (found.depth, found.kinds, found.negative) == (2, {"boolean": 4, "levels": 1}, 1)
    assert (found.points, found.tags, found.texts) == ((2, 7), {"y": 1, "x": 1}, 2)
    (recurring,) = found.recurring
    assert recurring.digest == criterion_digest("a")
    assert (recurring.cases, recurring.twice, recurring.points) == (2, 1, (-1, 5))
    assert "without criteria: 1 case" in found.text()


def test_a_wrong_criterion_is_named_with_its_case():
    wrong = Case(id="w", output="o", expected={"criteria": [{"criterion": "a"}]})

    with pytest.raises(DatasetError, match=r"case .w.: expected\.criteria: number 1"):
        list_criteria([wrong])
    with pytest.raises(DatasetError, match=r"no case has expected\.criteria"):
        list_criteria([Case(id="a", output="o")])


def test_lint_names_wrong_criteria_and_each_unread_field_once(tmp_path):
    right = {"criterion": "a", "points": 1, "title": "t"}
    rows = [[right, right], [right, {**right, "levls": ["no", "yes"]}]]
    path = tmp_path / "cases.jsonl"
    lines = [{"id": f"c{n}", "output": f"o{n}", "expected": {"criteria": r}}
             for n, r in enumerate(rows)]  # fmt: skip
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))

    found = [(one.rule, one.line, one.severity) for one in lint_cases(str(path)).findings]
    assert found.count(("wrong-criteria", 2, "error")) == 1
    assert found.count(("criteria-fields", 1, "note")) == 1
    assert found.count(("criteria-fields", 2, "note")) == 0  # the error names the misspelling


@pytest.mark.parametrize("key", ["rubrics", "rubric", "criteria"])
def test_a_key_of_a_data_set_says_how_to_read_it(tmp_path, key):
    path = tmp_path / "cases.jsonl"
    row = {"id": "a", "output": "o", key: [{"criterion": "a", "points": 1}]}
    path.write_text(json.dumps(row) + "\n")

    (finding,) = lint_cases(str(path)).findings
    assert f"fields: {{'expected.criteria': '{key}'}}" in finding.message


MESSAGES = [{"role": "user", "content": "q"}]
TREE = {"id": "r", "requirements": "root", "weight": 1, "task_category": None, "sub_tasks": [
    {"id": "s", "requirements": "x", "weight": 2, "sub_tasks": [], "task_category": "Code"},
    {"id": "t", "requirements": "y", "weight": 1, "sub_tasks": [], "task_category": "Result"},
]}  # fmt: skip
FOREIGN = {
    # Fields of a row, the paths of fields, points of the case, and the fields that are not read.
    "HealthBench": (
        {"prompt_id": "p", "prompt": MESSAGES, "answer": "o", "canary": "c", "example_tags": [],
         "rubrics": [{"criterion": "a", "points": 5, "tags": ["axis:accuracy"]},
                     {"criterion": "b", "points": -3, "tags": []}]},
        {"id": "prompt_id", "messages": "prompt", "output": "answer",
         "expected.criteria": "rubrics"},
        5, [],
    ),
    "PaperBench": (
        {"paper": "p", "submission": "o", "rubric": TREE},
        {"id": "paper", "output": "submission", "expected.criteria": "rubric"},
        1, ["task_category"],
    ),
    "RaR": (
        {"n": "p", "question": "q", "answer": "o", "rubric": [
            {"title": "A", "description": "Essential: a", "weight": 5},
            {"title": "B", "description": "Pitfall: b", "weight": -1}]},
        {"id": "n", "input": "question", "output": "answer", "expected.criteria": "rubric"},
        5, ["title"],
    ),
    "ResearchRubrics": (
        {"sample_id": "p", "prompt": "q", "answer": "o", "rubrics": [
            {"criterion": "a", "weight": 4.0, "axis": "Explicit"},
            {"criterion": "b", "weight": -2.0, "axis": "Implicit"}]},
        {"id": "sample_id", "input": "prompt", "output": "answer",
         "expected.criteria": "rubrics"},
        4, ["axis"],
    ),
    "Reward Kit": (
        {"task": "p", "answer": "o", "criterion": [
            {"name": "a", "description": "Works?", "type": "binary"},
            {"name": "b", "description": "How good?", "type": "likert", "points": 5, "weight": 2}]},
        {"id": "task", "output": "answer", "expected.criteria": "criterion"},
        3, ["name"],
    ),
}  # fmt: skip


@each(("row", "fields", "points", "unread"), FOREIGN.values(), ids=FOREIGN)
def test_rows_of_other_tools_are_read_as_the_suite_says(row, fields, points, unread, tmp_path):
    second = {**row, fields["id"]: "second"}
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(one) + "\n" for one in (row, second)))
    suite = {"cases": {"path": "rows.jsonl", "fields": fields}, "metrics": {"points": {}}}
    path = tmp_path / "suite.yaml"
    path.write_text(json.dumps({**suite, "judge": "fake/judge"}))

    linted = CliRunner().invoke(app, ["cases", "lint", str(path), "--format", "json"])
    listed = CliRunner().invoke(app, ["cases", "criteria", str(path), "--json"])

    findings = [
        one["message"].partition("' is no field")[0].rpartition("'")[2]
        for one in json.loads(linted.output)["findings"]
        if one["rule"] == "criteria-fields"
    ]
    assert findings == unread  # each once
    assert "missing-id" not in linted.output
    assert json.loads(listed.output)["points"] == [points, points]


def test_a_yaml_file_of_cases_is_no_suite(tmp_path):
    path = tmp_path / "cases.yaml"
    path.write_text("- {id: a, output: x, expected: {criteria: [{criterion: a, points: 1}]}}\n")

    for verb in ("lint", "criteria"):
        assert CliRunner().invoke(app, ["cases", verb, str(path)]).exit_code == 0
