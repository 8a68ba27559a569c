from __future__ import annotations

from judgekit.rubric.display import rubric_text
from judgekit.rubric.library import rubric_names
from judgekit.rubric.load import load_rubric
from tests.each import each


def test_a_rubric_is_shown_with_all_that_decides_its_value(rubric):
    text = rubric_text(
        rubric(
            "name: mine\nversion: 3\ndescription: About it.\ncombine: min\ncriteria:\n"
            "  a: {text: A., nullable: true, quotes: true, "
            "levels: {good: 1, bad: {value: 0.5, text: so so}}}\n"
            "  b: {text: B., items: [one], reverse: true}\n"
            "  c: {text: C., options: {x: 1, y: null}}"
        )
    )

    head, *lines = text.splitlines()
    assert head.startswith("mine, version 3, digest ")
    for line in (
        "About it.",
        "needs: output",
        "combined by: min",
        "a (score, weight 0.333333, may abstain, quotes)",
        "  good = 1",
        "  bad = 0.5: so so",
        "b (checklist, weight 0.333333, reversed)",
        "  - one",
        "  y = left out",
    ):
        assert line in lines


def test_modes_are_shown_with_the_default():
    lines = rubric_text(load_rubric("prompt_alignment")).splitlines()

    assert "mode both (default): user 0.7, system 0.3" in lines
    assert "mode user: user 1" in lines


@each("name", [n for n in rubric_names() if n != "base"])
def test_every_built_in_rubric_says_what_it_is_for(name):
    assert len(load_rubric(name).description) > 20
