from __future__ import annotations

from judgekit.rubric.folders import Folders
from judgekit.rubric.live import shown
from judgekit.rubric.load import builtin_folder
from judgekit.rubric.sandbox import RubricEnvironment
from judgekit.rubric.template_analysis import keys_read, unfenced, unread
from tests.each import each


def tree(text, name="a.jinja"):
    return RubricEnvironment(None).parse(text, name, name)


def lines(**files):
    trees = {f"{name}.jinja": tree(text, f"{name}.jinja") for name, text in files.items()}
    return [(spot.template, spot.line) for spot in unfenced(trees)]


@each(
    "text",
    [
        "{{ case.output }}",
        "{{ case['output'] }}",
        "{{ case.output | upper }}",
        "{{ case.output | default('none') }}",
        "{{ 'x' | default(case.output) }}",
        "{{ 'so: ' ~ case.output }}",
        "{{ [case.output] | join }}",
        "{{ case.context | join(', ') }}",
        "{{ case.context | map('upper') | join }}",
        "{{ case.history | map(attribute='content') | join }}",
        "{{ case.output if case.input else 'x' }}",
        "{{ case.input or 'x' }}",
        "{{ case.output[:10] }}",
        "{{ case.metadata.topic }}",
        "{{ case.metadata | json }}",
        "{{ examples[0].case.output }}",
        "{% set x = case.output %}{{ x }}",
        "{% set x %}{{ case.output }}{% endset %}{{ x }}",
        "{% with x = case.output %}{{ x }}{% endwith %}",
        "{% for x in case.context %}{{ x }}{% endfor %}",
        "{% for key, x in case.metadata.items() %}{{ x }}{% endfor %}",
        "{% for message in case.history %}{{ message.text }}{% endfor %}",
        "{% if case.input %}{{ case.output }}{% endif %}",
        "{% if false %}{% else %}{{ case.output }}{% endif %}",
        "{% filter upper %}{{ case.output }}{% endfilter %}",
        "{% role user %}{{ case.output }}{% endrole %}",
        "{% block a %}{{ case.output }}{% endblock %}",
        "{% macro m(x) %}{{ x }}{% endmacro %}{{ m(case.output) }}",
        "{% macro m(x) %}{{ x }}{% endmacro %}{{ m(x=case.output) }}",
        "{% macro n(x) %}{{ x }}{% endmacro %}{% macro m(x) %}{{ n(x) }}{% endmacro %}"
        "{{ m(case.output) }}",
        "{% macro m() %}{{ caller() }}{% endmacro %}{% call m() %}{{ case.output }}{% endcall %}",
    ],
)
def test_text_of_a_case_outside_a_fence_is_found(text):
    assert lines(a=text) == [("a.jinja", 1)]


@each(
    "text",
    [
        "{{ case.output | fence('a') }}",
        "{{ case.output | upper | fence('a') }}",
        "{{ case.output | fence('a') | indent }}",
        "{{ ('so: ' ~ case.output) | fence('a') }}",
        "{{ case.output | length }}",
        "{{ case.context | length + 1 }}",
        "{{ case.output == case.baseline }}",
        "{{ 'yes' if case.output else 'no' }}",
        "{{ case.output is defined }}",
        "{{ not case.output }}",
        "{{ mode }}{{ rubric.description }}{{ criteria[0].text }}{{ parameters.reader }}",
        "{{ examples[0].answers | json }}",
        "{% set x = case.output | fence('a') %}{{ x }}",
        "{% set x | fence('a') %}{{ case.output }}{% endset %}{{ x }}",
        "{% set x %}{{ case.output }}{% endset %}{{ x | fence('a') }}",
        "{% filter fence('a') %}{{ case.output }}{% endfilter %}",
        "{% for x in case.context %}{{ loop.index }}. {{ x | fence('a') }}{% endfor %}",
        "{% for x in criteria %}{{ x.id }}{% endfor %}{% for x in case.context %}{% endfor %}",
        "{% for message in case.history %}{{ message.role }}{% endfor %}",
        "{{ case.history | map(attribute='role') | join(', ') }}",
        "{{ case.context | map('fence', 'a') | join }}",
        "{% macro m(x) %}{{ x | fence('a') }}{% endmacro %}{{ m(case.output) }}",
        "{% macro m(x, y) %}{{ x }}{{ y | fence('a') }}{% endmacro %}{{ m('b', case.output) }}",
        "{# {{ case.output }} #}{% raw %}{{ case.output }}{% endraw %}",
    ],
)
def test_what_is_fenced_or_only_decides_is_left_alone(text):
    assert lines(a=text) == []


def test_a_macro_of_another_file_is_followed_by_its_own_name_and_by_another():
    macro = "{% macro m(x) %}\n{{ x }}{% endmacro %}"

    assert lines(b=macro, a="{% from 'b.jinja' import m %}{{ m(case.output) }}") == [("b.jinja", 2)]
    assert lines(b=macro, a="{% from 'b.jinja' import m as n %}{{ n(case.output) }}") == [
        ("b.jinja", 2)
    ]
    assert lines(b=macro, a="{% import 'b.jinja' as b %}{{ b.m(case.output) }}") == [("b.jinja", 2)]
    assert lines(b=macro, a="{% from 'b.jinja' import m %}{{ m(mode) }}") == []


def test_what_is_set_and_never_read_is_found():
    text = "{% set a = 1 %}\n{% set b = 2 %}{{ b }}\n{% macro c() %}{% endmacro %}"

    found = unread("a.jinja", {"a.jinja": tree(text)})

    assert [(spot.line, spot.words) for spot in found] == [(1, "variable 'a'"), (3, "macro 'c'")]


def test_a_block_that_is_replaced_shows_nothing():
    loader = Folders((builtin_folder(),), builtin=builtin_folder())
    trees = {"base.jinja": loader.template_file("base.jinja").tree}
    block = "{% block evidence %}{{ case.output }}{% endblock %}"
    more = "{% block evidence %}{{ super() }}{{ case.baseline }}{% endblock %}"
    chain = ["mine.jinja", "base.jinja"]

    alone = shown({**trees, "mine.jinja": tree(block, "mine.jinja")}, chain)
    added = shown({**trees, "mine.jinja": tree(more, "mine.jinja")}, chain)

    assert not {"reference", "baseline"} & alone
    assert {"reference", "baseline"} <= added


def test_keys_of_metadata_are_found_however_they_are_read():
    text = "{{ case.metadata.a }}{{ case.metadata['b'] }}{{ case.expected.c }}"

    assert keys_read({"a.jinja": tree(text)}) == {"metadata": {"a", "b"}, "expected": {"c"}}


@each(
    ("body", "is_shown"),
    [
        ("{{ case.output }}", True),
        ("{% if false %}{{ case.output }}{% endif %}", False),
        ("{% if true %}{% else %}{{ case.output }}{% endif %}", False),
        ("{% if false %}{% elif mode %}{{ case.output }}{% endif %}", True),
        ("{{ case.output if false else 'x' }}", False),
        ("{% set x = case.output %}", False),
        ("{% set x = case.output %}{{ x }}", True),
        ("{% set x = case.output %}{% set y = x %}{{ y }}", True),
        ("{% macro m() %}{{ case.output }}{% endmacro %}", False),
        ("{% macro m() %}{{ case.output }}{% endmacro %}{{ m() }}", True),
        (
            "{% macro n() %}{{ case.output }}{% endmacro %}{% macro m() %}{{ n() }}{% endmacro %}",
            False,
        ),
        ("{% with x = case.output %}{{ x }}{% endwith %}", True),
        ("{% with x = case.output %}{% endwith %}", False),
    ],
)
def test_only_parts_that_can_be_rendered_show_something(body, is_shown):
    tree = RubricEnvironment(None).parse(body, "mine.jinja")

    assert ("output" in shown({"mine.jinja": tree}, ["mine.jinja"])) is is_shown
