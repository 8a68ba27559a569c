from __future__ import annotations

import re

import pytest

from judgekit.core.errors import AbstractRubric, RubricError
from judgekit.rubric.library import builtin_folder, rubric_names
from judgekit.rubric.load import load_rubric, open_rubric
from tests.each import each
from tests.rubric.test_wrong_files import WRONG

MANY = """\
name: mine
modes:
  m: {g: 0.5, h: -0.5}
default_mode: n
criteria:
  a b: {text: A., weight: 0}
  g.b: {text: A., weight: 0.4}
  g.c: {text: A.}
examples:
  - case: {outputt: x}
    answers: {}
"""


@each(("text", "line", "message"), [pytest.param(*entry, id=name) for name, *entry in WRONG])
def test_what_stops_loading_is_among_the_faults(rubric_file, text, line, message):
    path = rubric_file(None, f"{text}\n")
    try:
        load_rubric(path)
    except AbstractRubric:
        return
    except RubricError as exc:
        first = exc

    found = open_rubric(path).faults

    assert str(first) in [str(fault) for fault in found]
    assert all(fault.rule != "bad-rubric" for fault in found)


def test_all_faults_are_found_at_once(rubric_file):
    path = rubric_file(MANY, "{{ cases }}\n{{ case.outputs }}\n")

    found = [(f.where.rpartition(":")[2], f.rule) for f in open_rubric(path).faults]

    assert found == [
        ("7", "weight-zero"),
        ("6", "weight-sum"),
        ("9", "weight-missing"),
        ("6", "weight-sum"),
        ("7", "criterion-name"),
        ("4", "mode-group"),
        ("4", "mode-sum"),
        ("4", "mode-sum"),
        ("5", "default-mode"),
        ("14", "unknown-variable"),
        ("15", "unknown-field"),
        ("11", "bad-case"),
    ]


def test_all_faults_of_the_front_matter_are_found_at_once(rubric_file):
    path = rubric_file(
        "name: my name\ncriteria:\n  a: {wieght: 1}\n  b: {text: B., kind: x}\nbogus: 1"
    )

    found = {(f.where.rpartition(":")[2], f.rule) for f in open_rubric(path).faults}

    assert found == {
        ("2", "bad-value"),
        ("4", "missing-key"),
        ("4", "unknown-key"),
        ("5", "bad-value"),
        ("6", "unknown-key"),
    }


@pytest.mark.parametrize("name", ["polite", "kind", "text", "items"])
def test_a_criterion_may_have_the_name_of_a_key(rubric_file, name):
    path = rubric_file(f"name: mine\ncriteria:\n  {name}: {{text: A., wieght: 1}}")

    with pytest.raises(RubricError) as caught:
        load_rubric(path)

    unknown = f"unknown key 'criteria.{name}.wieght'; did you mean 'weight'?"
    assert str(caught.value) == f"{path}:4: {unknown}"


@each("name", rubric_names())
def test_a_built_in_rubric_has_no_faults(name):
    assert open_rubric(builtin_folder() / f"{name}.jinja").faults == []


def test_silences_are_no_part_of_what_a_judge_sees(rubric):
    plain = "name: mine\ncriteria:\n  a: {text: Is it right?}"
    spoken = rubric(plain).criteria[0].question
    silent = rubric(
        "name: mine\nlint: {missing-tests: no cases yet}\n"
        "criteria:\n  a: {text: Is it right?, lint: {terse-criterion: known to all}}"
    )

    assert silent.criteria[0].question == spoken


def test_a_silence_is_a_reason_and_nothing_else(rubric_file):
    path = rubric_file("name: mine\nlint: {missing-tests: [a]}\ncriteria:\n  a: {text: A.}")

    with pytest.raises(RubricError, match=re.escape(f"{path}:3: lint.missing-tests: ")):
        load_rubric(path)
