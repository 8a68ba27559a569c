"""A message is kept for later cases only if nothing of a case can have gone into it.

Each body is rendered for two cases by one rubric, and for the second case by a rubric that has
seen nothing else: both must say the same.
"""

from __future__ import annotations

import pytest

from judgekit.core.case import Case, Message
from judgekit.core.errors import RubricError
from judgekit.rubric.load import load_rubric

FRONT = "---\nname: hostile\ncriteria:\n  a: {text: One}\n  b: {text: Two}\n---\n"
FIRST = Case(
    id="1",
    input="yes",
    output="FIRST",
    system="secret",
    history=(Message(role="user", content="one"), Message(role="assistant", content="two")),
    metadata={"first": True},
)
SECOND = Case(
    id="2", input="no", output="SECOND", history=(Message(role="assistant", content="three"),)
)

BODIES = {
    "a variable set outside": (
        "{% set x = case.output %}{% role system %}{{ x }}{% endrole %}"
        "{% role user %}{{ case.output }}{% endrole %}"
    ),
    "a block set outside": (
        "{% set x %}{{ case.output }}{% endset %}{% role system %}{{ x }}{% endrole %}"
    ),
    "roles that depend on the case": (
        "{% if case.system %}{% role system %}A{% endrole %}{% endif %}"
        "{% role user %}B{% endrole %}{% role assistant %}C{% endrole %}"
    ),
    "roles in another order": (
        "{% if case.input == 'yes' %}{% role user %}1{% endrole %}{% role system %}2{% endrole %}"
        "{% else %}{% role system %}3{% endrole %}{% role user %}4{% endrole %}{% endif %}"
    ),
    "messages of the history": (
        "{% for m in case.history %}{% role user %}{{ m.content }}{% endrole %}{% endfor %}"
    ),
    "the number of messages": (
        "{% for m in case.history %}{% role user %}{{ loop.index }} of {{ loop.length }}"
        "{% endrole %}{% endfor %}"
    ),
    "the case by another name": (
        "{% set c = case %}{% role system %}{{ c.output }}{% endrole %}"
    ),
    "the case by subscript": "{% role system %}{{ case['output'] }}{% endrole %}",
    "the case in a list": (
        "{% role system %}{{ [case] | map(attribute='output') | first }}{% endrole %}"
    ),
    "the case given to a macro": (
        "{% macro m(c) %}{{ c.output }}{% endmacro %}{% role system %}{{ m(case) }}{% endrole %}"
    ),
    "a text given to a macro": (
        "{% macro m(text) %}{% role system %}{{ text }}{% endrole %}{% endmacro %}"
        "{{ m(case.output) }}"
    ),
    "the default of a macro": (
        "{% macro m(text=case.output) %}{{ text }}{% endmacro %}"
        "{% role system %}{{ m() }}{% endrole %}"
    ),
    "a macro with a role, called by the case": (
        "{% macro m() %}{% role system %}S{% endrole %}{% endmacro %}"
        "{% if case.metadata.get('first') %}{{ m() }}{% endif %}{% role user %}U{% endrole %}"
    ),
    "an import with context": (
        "{% import '_part.jinja' as part with context %}{% role system %}{{ part.x }}{% endrole %}"
    ),
    "an include": "{% role system %}{% include '_part.jinja' %}{% endrole %}",
    "with": "{% with x = case.output %}{% role system %}{{ x }}{% endrole %}{% endwith %}",
    "what an earlier message left of a list": (
        "{% set texts = criteria | map(attribute='text') %}"
        "{% role system %}{{ texts | first }}{% endrole %}"
        "{% role user %}{{ texts | join }}{{ case.output }}{% endrole %}"
    ),
    "a list taken apart by the case": (
        "{% set texts = criteria | map(attribute='text') %}"
        "{% role system %}{% if case.system %}{{ texts | first }}{% endif %}{% endrole %}"
        "{% role user %}{{ texts | join }}{% endrole %}"
    ),
    "a choice by the case": (
        "{% role system %}{{ 'A' if case.system else 'B' }}{% endrole %}"
    ),
    "whether there is a case": "{% role system %}{{ case is defined }}{% endrole %}",
    "a filter on the outside": (
        "{% filter upper %}{% role system %}{{ case.output }}{% endrole %}{% endfilter %}"
    ),
    "super": "{% block b %}{% role system %}{{ case.output }}{% endrole %}{% endblock %}",
    "nothing of the case": (
        "{% role system %}S{% endrole %}{% role user %}{{ case.output }}{% endrole %}"
    ),
}  # fmt: skip


def said(rubric, case):
    _, messages = rubric.render(case, mode="default")
    return [(message.role, message.content) for message in messages]


@pytest.mark.parametrize("name", BODIES)
@pytest.mark.parametrize("order", [(FIRST, SECOND), (SECOND, FIRST)], ids=["12", "21"])
def test_an_earlier_case_leaves_nothing(rubric_of, tmp_path, name, order):
    (tmp_path / "_part.jinja").write_text("{% set x = case.output %}{{ x }}", encoding="utf-8")
    path = rubric_of(BODIES[name], FRONT)
    earlier, later = order
    used = load_rubric(path)
    said(used, earlier)

    assert said(used, later) == said(load_rubric(path), later)
    assert said(used, earlier) == said(load_rubric(path), earlier)


def test_a_message_before_anything_of_the_case_is_rendered_once(rubric_of):
    rubric = load_rubric(rubric_of(BODIES["nothing of the case"], FRONT))
    said(rubric, FIRST)

    assert list(rubric.template._cached.values()) == [{0: "S"}]


def test_an_imported_file_holds_no_role_that_would_be_there_once(rubric_of, tmp_path):
    (tmp_path / "_part.jinja").write_text("{% role system %}S{% endrole %}", encoding="utf-8")
    rubric = load_rubric(
        rubric_of("{% import '_part.jinja' as part %}{% role user %}U{% endrole %}", FRONT)
    )

    for _ in range(2):
        with pytest.raises(RubricError, match="is inside an imported file; put it in a macro"):
            said(rubric, FIRST)
