"""A lint rule is an entry and a check: every output and the schema of silences follow."""

from __future__ import annotations

import json

import pytest

from tests.agreement.places import run_test
from tests.agreement.scratch import ScratchPackage

ENTRY = """
  asks-nothing:
    severity: note
    why: A text without a question mark may be read as a statement.
    fix: End the text with a question mark.
"""
CHECK = """

@check_each("asks-nothing")
def _asks_nothing(own: OwnCriterion) -> Iterator[Problem]:
    if not own.file.text.endswith("?"):
        yield own.problem(" asks nothing", "text")
"""
RUBRIC = """\
---
name: tone
extends: base
description: Judge the tone.
criteria:
  polite: {text: The answer is polite.}
---
"""


def with_entry(scratch):
    scratch.replace("authoring/lint/rules.yaml", "\nWording:\n", f"\nWording:{ENTRY}")


def with_check(scratch):
    scratch.add("authoring/lint/whole.py", CHECK)


@pytest.fixture
def scratch(tmp_path):
    scratch = ScratchPackage(tmp_path)
    with_entry(scratch)
    with_check(scratch)
    scratch.write("tone.jinja", RUBRIC)
    return scratch


def lint(scratch, form):
    return json.loads(scratch.judgekit("rubric", "lint", "tone.jinja", "--format", form).out)


@pytest.mark.thorough
def test_a_rule_is_in_every_output(scratch):
    found = [one for one in lint(scratch, "json")["findings"] if one["rule"] == "asks-nothing"]
    assert [(one["line"], one["severity"]) for one in found] == [(6, "note")]
    (run,) = lint(scratch, "sarif")["runs"]
    assert "asks-nothing" in {result["ruleId"] for result in run["results"]}
    assert "asks-nothing" in {rule["id"] for rule in run["tool"]["driver"]["rules"]}
    assert "asks nothing" in scratch.judgekit("rubric", "lint", "tone.jinja").out
    for args in (["--rules"], ["--explain", "asks-nothing"]):
        out = scratch.judgekit("rubric", "lint", *args).out
        assert "asks-nothing (note)" in out
        assert "question mark" in out


@pytest.mark.thorough
def test_a_rule_may_be_silenced_and_editors_know_it(scratch):
    schema = json.loads(scratch.judgekit("schema", "rubric").out)
    for silences in (schema, schema["$defs"]["CriterionFile"]):
        assert "asks-nothing" in silences["properties"]["lint"]["propertyNames"]["enum"]

    scratch.write("tone.jinja", RUBRIC.replace("---\nname", "---\nlint: {asks-nothing: why}\nname"))
    found = [one for one in lint(scratch, "json")["findings"] if one["rule"] == "asks-nothing"]
    assert [one["silenced"] for one in found] == ["why"]
    assert "silence-unknown" not in scratch.judgekit("rubric", "lint", "tone.jinja").out


@pytest.mark.thorough
@pytest.mark.parametrize("half", [with_entry, with_check])
def test_half_a_rule_stops_lint(half, tmp_path):
    scratch = ScratchPackage(tmp_path)
    half(scratch)
    scratch.write("tone.jinja", RUBRIC)

    done = scratch.judgekit("rubric", "lint", "tone.jinja", exits=None)
    assert done.code != 0
    assert "'asks-nothing' needs an entry in rules.yaml and a check" in done.err


@pytest.mark.thorough
@pytest.mark.parametrize(
    "test",
    [
        "authoring.lint.test_reference:test_the_page_has_the_rules_as_they_are",
        "authoring.lint.test_corpus:test_every_static_rule_is_shown_by_a_bad_rubric",
    ],
)
def test_a_rule_without_its_page_or_an_example_fails_a_test(test, scratch):
    assert "AssertionError" in run_test(scratch, test).err
