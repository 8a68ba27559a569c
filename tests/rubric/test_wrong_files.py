from __future__ import annotations

import re
from pathlib import Path

import pytest

from judgekit.core.errors import AbstractRubric, RubricError
from judgekit.rubric.load import load_rubric
from tests.each import each

NAME = "name: mine\n"
ONE = NAME + "criteria:\n  a: {text: A.}\n"

TABLE = Path(__file__).parents[1] / "data" / "wrong_rubrics.txt"
WRONG = re.findall(r"^##### (.+)\n((?s:.*?))\n##> (\d+): (.+)$", TABLE.read_text("utf-8"), re.M)


@each(("text", "line", "message"), [pytest.param(*entry, id=name) for name, *entry in WRONG])
def test_a_wrong_rubric_is_refused_with_file_and_line(rubric_file, text, line, message):
    path = rubric_file(None, f"{text}\n")

    with pytest.raises(RubricError) as caught:
        load_rubric(path)

    assert str(caught.value) == f"{path}:{line}: {message}"
    assert caught.value.where == f"{path}:{line}"


def test_the_table_is_read_whole():
    assert len(WRONG) == TABLE.read_text("utf-8").count("\n##### ")
    assert len({name for name, *_ in WRONG}) == len(WRONG) >= 40


def test_a_macro_that_is_not_there_is_refused(rubric_file):
    path = rubric_file(
        ONE, "{% from '_criteria.jinja' import nope %}{{ nope(criteria) }}{{ case.output }}"
    )

    with pytest.raises(RubricError):
        load_rubric(path)


def test_text_is_not_front_matter_without_its_end(rubric_file):
    path = rubric_file(None, "---\nname: mine\ncriteria: {}\n")

    with pytest.raises(RubricError, match="has no front matter"):
        load_rubric(path)


def test_the_fault_of_a_parent_names_the_parents_file(rubric_file):
    parent = rubric_file(NAME + "criteria:\n  a: {text: A., weight: lots}", name="parent")
    child = rubric_file("name: child\nextends: parent", name="child")

    with pytest.raises(RubricError) as caught:
        load_rubric(child)

    assert caught.value.where == f"{parent}:4"


def test_a_fault_in_an_included_file_names_that_file(rubric_file, tmp_path):
    (tmp_path / "_part.jinja").write_text("one\n{{ case.outputt }}\n", encoding="utf-8")
    path = rubric_file(ONE, "{{ criteria | length }}{% include '_part.jinja' %}")

    with pytest.raises(RubricError) as caught:
        load_rubric(path)

    assert caught.value.where == f"{tmp_path / '_part.jinja'}:2"


def test_parents_in_a_circle_are_refused(rubric_file):
    rubric_file(ONE.replace("mine", "a") + "extends: b", name="a")
    path = rubric_file(ONE.replace("mine", "b") + "extends: a", name="b")

    with pytest.raises(RubricError, match="leads back to itself"):
        load_rubric(path)


def test_an_abstract_rubric_has_an_error_of_its_own():
    with pytest.raises(AbstractRubric, match="extend it"):
        load_rubric("base")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"\xff\xfe---", ":1: is UTF-16; save the file as UTF-8"),
        (
            b"x" * 1_000_001,
            ": cannot be read: larger than 1,000,000 bytes; make it smaller",
        ),
    ],
)
def test_a_file_that_is_no_text_is_refused(tmp_path, data, message):
    path = tmp_path / "mine.jinja"
    path.write_bytes(data)

    with pytest.raises(RubricError) as caught:
        load_rubric(path)

    assert str(caught.value) == f"{path}{message}"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("{{ case.output }}", "the template never shows the criteria"),
        ("", "the template never shows the criteria"),
        ("{{ criteria | length }}", "the template never shows the case"),
    ],
)
def test_a_template_must_show_the_criteria_and_the_case(rubric_file, body, message):
    path = rubric_file(NAME + "criteria:\n  accuracy: {text: A.}", body)

    with pytest.raises(RubricError) as caught:
        load_rubric(path)

    assert str(caught.value).startswith(f"{path}: {message}")
