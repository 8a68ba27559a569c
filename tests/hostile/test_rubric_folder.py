"""Rubrics stay in their folder, whatever names and links say."""

from __future__ import annotations

import pytest

from judgekit.core.errors import RubricError
from judgekit.rubric.load import load_rubric

CRITERIA = "criteria:\n  a: {text: A}\n"


@pytest.fixture
def outside(tmp_path):
    """Put a file that must never be read above the folder of the rubric."""
    inner = tmp_path / "rubrics"
    inner.mkdir()
    (tmp_path / "outside.jinja").write_text(
        f"---\nname: outside\n{CRITERIA}---\nSECRET", encoding="utf-8"
    )
    return inner


@pytest.mark.parametrize(
    "name",
    ["../outside", "../outside.jinja", "{whole}", "./../outside", "x/../../outside", "..\\outside"],
)
def test_extends_does_not_leave_the_folder(outside, name):
    name = name.replace("{whole}", str(outside.parent / "outside.jinja"))
    path = outside / "mine.jinja"
    path.write_text(f"---\nname: mine\nextends: '{name}'\n---\nx", encoding="utf-8")

    with pytest.raises(RubricError, match=r"not found|write a name") as caught:
        load_rubric(path)

    assert caught.value.where == f"{path}:3"


def test_a_link_does_not_lead_out_of_the_folder(outside):
    (outside / "link.jinja").symlink_to("../outside.jinja")
    (outside / "_link.jinja").symlink_to("/etc/hostname")
    path = outside / "mine.jinja"
    for front, body in (
        ("extends: link\n", "x"),
        (CRITERIA, "{% include 'link.jinja' %}"),
        (CRITERIA, "{% include '_link.jinja' %}"),
        (CRITERIA, "{% import '_link.jinja' as x %}"),
    ):
        path.write_text(f"---\nname: mine\n{front}---\n{body}", encoding="utf-8")

        with pytest.raises(RubricError, match="not found"):
            load_rubric(path)


def test_a_circle_of_extends_is_refused(outside):
    for name, parent in (("a", "b"), ("b", "c"), ("c", "a")):
        (outside / f"{name}.jinja").write_text(
            f"---\nname: {name}\nextends: {parent}\n{CRITERIA}---\n", encoding="utf-8"
        )

    with pytest.raises(RubricError, match="leads back to itself"):
        load_rubric(outside / "a.jinja")


def test_a_long_row_of_extends_is_refused(outside):
    for number in range(30):
        (outside / f"r{number}.jinja").write_text(
            f"---\nname: r{number}\nextends: r{number + 1}\n{CRITERIA}---\n", encoding="utf-8"
        )

    with pytest.raises(RubricError, match="11th file in a row"):
        load_rubric(outside / "r0.jinja")


def test_many_files_of_many_criteria_are_refused(outside):
    for number in range(3):
        criteria = "".join(f"  c{number}-{n}: {{text: T}}\n" for n in range(100))
        parent = f"extends: r{number + 1}\n" if number < 2 else ""
        (outside / f"r{number}.jinja").write_text(
            f"---\nname: r{number}\n{parent}criteria:\n{criteria}---\n", encoding="utf-8"
        )

    with pytest.raises(RubricError, match="has 300 criteria, of 200 at most"):
        load_rubric(outside / "r0.jinja")
