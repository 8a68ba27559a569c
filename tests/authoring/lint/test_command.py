"""`judgekit rubric lint` as people type it."""

from __future__ import annotations

import json

import pytest

from judgekit.authoring.lint.lint import lint_rules
from tests.cli.conftest import judgekit

__all__ = ["judgekit"]

VAGUE = """\
---
name: vague
extends: base
description: Judges answers.
criteria:
  value: {kind: boolean, text: "Is the answer good?"}
tests: [{case: {output: a}, expect: {value: true}}]
---
"""
OPEN = VAGUE.replace("vague", "open").replace("Is the answer good?", "Is the price named?") + (
    "{% block closing %}{{ case.output }}{% endblock %}\n"
)


@pytest.fixture
def rubrics(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "rubrics"
    folder.mkdir()
    (folder / "vague.jinja").write_text(VAGUE, "utf-8")
    return folder


def test_a_finding_is_a_line_with_why_and_how_to_mend_below(judgekit, rubrics):
    done = judgekit("rubric", "lint")

    rule = lint_rules()["vague-criterion"]
    assert done == (
        0,
        "rubrics/vague.jinja:6: warning vague-criterion: "
        "'value' does not say what 'good' means\n"
        f"    why: {rule.why}\n    fix: {rule.fix}\n1 warning in 1 file\n",
        "",
    )


def test_a_warning_fails_a_strict_run_only(judgekit, rubrics):
    assert judgekit("rubric", "lint", "rubrics").code == 0
    assert judgekit("rubric", "lint", "rubrics", "--strict").code == 1


def test_an_error_fails_every_run(judgekit, rubrics):
    (rubrics / "open.jinja").write_text(OPEN, "utf-8")

    done = judgekit("rubric", "lint", "open", "rubrics/vague.jinja")

    assert done.code == 1
    assert done.out.splitlines()[-1] == "1 error, 1 warning in 2 files"
    assert "rubrics/open.jinja:9: error unfenced-text: " in done.out


def test_a_rubric_that_does_not_load_is_a_finding(judgekit, rubrics):
    (rubrics / "broken.jinja").write_text("---\nname: broken\nextends: bse\n---\n", "utf-8")

    done = judgekit("rubric", "lint", "rubrics/broken.jinja")

    assert done.code == 1
    assert done.out.startswith("rubrics/broken.jinja:3: error extends: extends 'bse', which was")


def test_a_built_in_rubric_is_looked_at_by_name(judgekit, rubrics):
    done = judgekit("rubric", "lint", "quality", "safety", "prompt_alignment")

    assert done.code == 0
    assert "error" not in done.out
    assert "warning" not in done.out


def test_json_holds_what_the_lines_say(judgekit, rubrics):
    done = judgekit("rubric", "lint", "--format", "json")

    said = json.loads(done.out)
    (finding,) = said["findings"]
    assert (said["judgekit"], said["version"]) == ("lint", 1)
    assert said["counts"] == {"error": 0, "warning": 1, "note": 0}
    assert finding["file"] == "rubrics/vague.jinja"
    assert (finding["line"], finding["rule"], finding["criterion"]) == (
        6,
        "vague-criterion",
        "value",
    )
    assert finding["silenced"] is None


def test_sarif_is_written_for_the_same_findings(judgekit, rubrics):
    said = json.loads(judgekit("rubric", "lint", "--format", "sarif").out)

    assert [r["ruleId"] for r in said["runs"][0]["results"]] == ["vague-criterion"]


def test_a_silence_with_a_reason_is_counted(judgekit, rubrics):
    silent = VAGUE.replace("criteria:", "lint: {vague-criterion: known here}\ncriteria:")
    (rubrics / "vague.jinja").write_text(silent, "utf-8")

    assert judgekit("rubric", "lint", "--strict") == (
        0,
        "no problems in 1 file (1 silenced)\n",
        "",
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nope"], "judgekit: no rubric named 'nope'"),
        (
            ["rubics"],
            "judgekit: rubics: no rubric and no folder of this name; did you mean 'rubrics'?",
        ),
        (["nope.jinja"], "judgekit: nope.jinja: no such rubric file"),
        (["empty"], "judgekit: empty: this folder has no rubric (NAME.jinja)"),
        (["--explain", "vague"], "judgekit: no rule 'vague'; did you mean"),
        (["rubrics", "--results", "empty"], "judgekit: empty: not a run folder"),
    ],
)
def test_what_is_not_there_is_one_line(judgekit, rubrics, tmp_path, arguments, words):
    (tmp_path / "empty").mkdir()

    done = judgekit("rubric", "lint", *arguments)

    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(words)
    assert len(done.err.splitlines()) == 1


def test_without_a_folder_of_rubrics_one_must_be_named(judgekit, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    done = judgekit("rubric", "lint")

    assert (done.code, done.out) == (2, "")
    assert "name a rubric, a file or a folder" in done.err


def test_a_project_folder_stands_for_its_rubrics(judgekit, rubrics):
    assert judgekit("rubric", "lint", ".").out == judgekit("rubric", "lint").out


def test_a_partial_template_is_looked_at_as_one(judgekit, rubrics):
    (rubrics / "_shown.jinja").write_text("They said: {{ case.output }}\n", "utf-8")

    done = judgekit("rubric", "lint", "rubrics/_shown.jinja")

    assert done.code == 1
    assert done.out.startswith("rubrics/_shown.jinja:1: error unfenced-text: ")


def test_a_partial_template_silences_by_a_comment(judgekit, rubrics):
    shown = rubrics / "_shown.jinja"
    macro = "{% macro shown(text) %}{{ text }}{% endmacro %}\n"
    shown.write_text("{# lint unfenced-text: fenced where it is used #}\n" + macro, "utf-8")
    (rubrics / "vague.jinja").write_text(
        OPEN.replace("open", "vague").replace(
            "{% block closing %}{{ case.output }}",
            '{% block closing %}{% from "_shown.jinja" import shown %}{{ shown(case.output) }}',
        ),
        "utf-8",
    )

    silent = judgekit("rubric", "lint", "vague", "rubrics/_shown.jinja")
    shown.write_text("{# lint unfenced-text: #}\n" + macro, "utf-8")
    unexplained = judgekit("rubric", "lint", "vague")

    assert (silent.code, silent.out) == (0, "no problems in 2 files (1 silenced)\n")
    assert unexplained.code == 1
    assert [line for line in unexplained.out.splitlines() if not line.startswith(" ")] == [
        "rubrics/_shown.jinja:1: warning silence-without-reason: "
        "silences 'unfenced-text' without a reason",
        "rubrics/_shown.jinja:2: error unfenced-text: "
        "prints text of the case outside a fence: text",
        "1 error, 1 warning in 1 file",
    ]


def test_rules_are_listed_and_explained(judgekit, rubrics):
    listed = judgekit("rubric", "lint", "--rules")
    one = judgekit("rubric", "lint", "--explain", "unfenced-text")

    assert [listed.code, one.code] == [0, 0]
    assert all(f"{id} (" in listed.out for id in lint_rules())
    assert one.out in listed.out
    assert one.out.startswith("unfenced-text (error)\n    why: ")
