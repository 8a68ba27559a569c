"""`judgekit cases criteria`, and what lint says about criteria in rows."""

import json

import pytest

from judgekit import Case, Criterion
from judgekit.authoring.cases.criteria import list_criteria
from judgekit.authoring.cases.lint import lint_cases
from judgekit.core.errors import DatasetError
from judgekit.metrics.criteria.texts import criterion_digest


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
