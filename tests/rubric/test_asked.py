"""Which fields of a case a rubric shows the judge is found out by rendering it."""

from __future__ import annotations

import pytest

from judgekit.core.case_field import JUDGED
from judgekit.rubric.asked import shown_and_not, shown_fields
from judgekit.rubric.load import load_rubric

RUBRIC = """---
name: mine
version: 1
description: Judge the answer.
requires: [output]
parameters:
  who: {kind: text, description: Who asks.}
criteria:
  good: {text: "Is it good?%s", kind: boolean}
---
%s
{%% role user %%}
For {{ parameters.who }}:
%s
{%% for criterion in criteria %%}{{ criterion.text }}{%% endfor %%}
{%% endrole %%}
"""


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        ("{{ case.output }}", "output"),
        ("{{ case.output | wordcount }}", ""),
        ("{% if case.input %}There is an input.{% endif %}", ""),
        ("{{ case.output[:6] }}", "output"),
        ("{{ case['in' ~ 'put'] }}", "input"),
        ("{% set x = case.context %}{% for p in x %}{{ p | fence('p') }}{% endfor %}", "context"),
        ("{% for p in case.reference or case.context %}{{ p }}{% endfor %}", "reference context"),
        ("{% if not case.history %}{{ case.system }}{% endif %}", "system"),
        ("{% if case.input and not case.choices %}{{ case.baseline }}{% endif %}", "baseline"),
        ("{% for m in case.history %}{{ m.role }}{% endfor %}", ""),
        ("{% for m in case.history %}{{ m.text }}{% endfor %}", "history"),
        ("{{ case.input | fence('q') }}", "input steps"),
        ("{{ case.metadata.topic }} {{ case.metadata['tone'] }}", "metadata.tone metadata.topic"),
        ("{{ case.expected | json }}", "expected"),
    ],
)
def test_a_rubric_shows_what_other_letters_change(tmp_path, body, shown):
    path = tmp_path / "mine.jinja"
    path.write_text(RUBRIC % ("", "", body), "utf-8")

    seen, never = shown_and_not(load_rubric(path))

    assert sorted(seen) == sorted(shown.split())
    assert {name.partition(".")[0] for name in seen} | {*never} == {*JUDGED}


def test_the_text_of_a_criterion_shows_fields(tmp_path):
    path = tmp_path / "mine.jinja"
    path.write_text(RUBRIC % (" {{ case.metadata.goal }}", "", "{{ case.output }}"), "utf-8")

    assert shown_and_not(load_rubric(path))[0] == ["output", "metadata.goal"]


def test_a_macro_that_is_never_called_shows_nothing(tmp_path):
    path = tmp_path / "mine.jinja"
    macro = "{% macro unused() %}{{ case.system }}{% endmacro %}"
    path.write_text(RUBRIC % ("", macro, "{{ case.output }}"), "utf-8")

    assert shown_fields(load_rubric(path)) == {"output"}


def test_a_template_that_fails_says_nothing(tmp_path):
    path = tmp_path / "mine.jinja"
    path.write_text(RUBRIC % ("", "", "{{ case.metadata.a.b.c }}"), "utf-8")

    assert shown_fields(load_rubric(path)) is None


def test_modes_may_show_different_fields():
    rubric = load_rubric("prompt_alignment")

    assert "system" not in shown_fields(rubric, mode="user")
    assert "system" in shown_fields(rubric, mode="both")
