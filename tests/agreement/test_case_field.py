"""A text field of the case: one entry, one row, and then, all places know it."""

from __future__ import annotations

import json

import pytest

from tests.agreement.scratch import ROOT, ScratchPackage, with_draft

RUBRIC = """\
---
name: drafted
requires: [output, draft]
criteria:
  better:
    text: Is the answer better than the first version?
    kind: boolean
---
{% role user %}
{% for criterion in criteria %}{{ criterion.text }}{% endfor %}
{{ case.draft | fence("draft") }}
{{ case.output | fence("answer") }}
{% endrole %}
"""
ROWS = [
    {"id": f"c{n}", "input": "Hi", "output": f"Answer {n}.", "draft": f"Draft {n}."}
    for n in range(4)
]


@pytest.fixture(scope="module")
def scratch(tmp_path_factory):
    """The package with the text field `draft`, and a run of four cases that have it."""
    scratch = with_draft(ScratchPackage(tmp_path_factory.mktemp("draft")))
    scratch.write("drafted.jinja", RUBRIC)
    scratch.write("cases.jsonl", "".join(json.dumps(row) + "\n" for row in ROWS))
    suite = "cases: cases.jsonl\njudge: fake/judge\nmetrics:\n  drafted: {rubric: drafted.jinja}\n"
    scratch.write("suite.yaml", suite)
    scratch.judgekit("run", "suite.yaml", "--out", "run", "--record", "new_episodes")
    return scratch


def test_the_readers_know_it(scratch):
    scratch.write("rows.csv", "id,input,first_draft\na,Hi,One\n")
    out = scratch.python("""
        from judgekit import load_cases
        rows = [{"id": "a", "draft": "One"}, {"id": "b", "first_draft": "Two"}]
        print([case.draft for case in load_cases([*rows, {"id": "c", "draft": 3}])])
        print([case.draft for case in load_cases("rows.csv")])
        print([case.draft for case in load_cases([{"d": "x"}], fields={"draft": "d"})])
    """).out

    assert out.splitlines() == ["['One', 'Two', '3']", "['One']", "['x']"]


def test_the_schemas_know_it(scratch):
    row = json.loads(scratch.judgekit("schema", "cases").out)["properties"]
    rubric = scratch.judgekit("schema", "rubric").out

    assert row["draft"]["description"] == "The first version of the answer."
    assert row["first_draft"]["description"] == "Another name of `draft`."
    assert {"type": "number"} in row["draft"]["anyOf"]
    assert '"draft"' in rubric


@pytest.mark.thorough
def test_lint_knows_it(scratch):
    rows = [{"id": i, "output": i, "draft": t} for i, t in (("a", " "), ("b", "ask ann@b.org"))]
    scratch.write("wrong.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    cases = scratch.judgekit("cases", "lint", "wrong.jsonl", exits=None).out

    assert "draft" in next(line for line in cases.splitlines() if "empty-text" in line)
    assert "draft" in next(line for line in cases.splitlines() if "private-data" in line)

    shown = '{{ case.draft | fence("draft") }}\n'
    scratch.write("unshown.jinja", RUBRIC.replace(shown, "").replace("drafted", "unshown"))
    mentioned = RUBRIC.replace(", draft]", "]").replace("the first version", "the draft")
    scratch.write("mentioned.jinja", mentioned.replace("drafted", "mentioned"))
    scratch.write(
        "typo.jinja", RUBRIC.replace("case.draft", "case.darft").replace("drafted", "typo")
    )

    lint = scratch.judgekit("rubric", "lint", "unshown.jinja", exits=None).out
    assert "requires 'draft', which the template never shows" in lint
    lint = scratch.judgekit("rubric", "lint", "mentioned.jinja", exits=None).out
    assert "`requires` does not list 'draft'" in lint
    assert (
        "did you mean 'draft'" in scratch.judgekit("rubric", "lint", "typo.jinja", exits=None).out
    )


def test_render_shows_it(scratch):
    assert "(the first draft)" in scratch.judgekit("rubric", "render", "drafted.jinja").out
    with_cases = ("--cases", "cases.jsonl", "--case", "c2")
    assert "Draft 2." in scratch.judgekit("rubric", "render", "drafted.jinja", *with_cases).out


def test_a_plan_gives_each_case_its_own_text(scratch):
    out = scratch.python("""
        from judgekit import load_cases, load_rubric
        from judgekit.rubric.plan import Plan
        rubric = load_rubric("drafted.jinja")
        for case in load_cases("cases.jsonl"):
            _, (message,) = rubric.render(case, mode="default")
            print(message.content.count(case.draft), message.content.count("Draft"))
        plans = [plan for plans in rubric.template._plans.values() for plan in plans.values()]
        print(sum(isinstance(plan, Plan) for plan in plans))
    """).out

    assert out.splitlines() == ["1 1"] * 4 + ["1"]


def test_a_rubric_that_requires_it_refuses_a_case_without_it(scratch):
    args = ("score", "--rubric", "drafted.jinja", "--judge", "fake/judge", "--output", "x")

    assert "'draft'" in scratch.judgekit(*args, exits=3).out
    assert "no score" not in scratch.judgekit(*args, "--draft", "y").out
    assert "no score" not in scratch.judgekit(*args, "--draft", "-", stdin="y").out


def test_the_help_of_score_explains_its_flag(scratch):
    out = " ".join(scratch.judgekit("score", "--help").out.split())

    assert "--draft <text> The first draft. Text, @FILE or - for standard input." in out


def test_a_draft_of_a_rubric_may_require_it(scratch):
    args = ("new", "fresh", "--criterion", "Is it better?", "--requires", "draft")
    scratch.judgekit("rubric", *args)

    text = (scratch.work / "rubrics" / "fresh.jinja").read_text("utf-8")
    assert "requires: [draft, output]" in text
    assert 'draft: "(the first draft)"' in text


def test_tables_quotes_labels_and_displays_know_it(scratch):
    out = scratch.python("""
        from judgekit import Case, load_cases
        from judgekit.analysis.labels.plan import ABOUT_CASE
        from judgekit.authoring.cases.lint import lint_cases
        from judgekit.datasets.conversion import _table
        from judgekit.metrics.quote import find_quote
        from judgekit.report.report import Report
        from judgekit.report.table import result_table
        table = result_table(Report.read("run"), include=["draft"])
        print("draft" in table.names, "draft" in _table(load_cases("cases.jsonl")).names)
        case = Case(id="a", output="x", draft="The first words.")
        print(find_quote("first words", case), "draft" in ABOUT_CASE)
        print("The first words." in case._repr_html_(), "draft='The first words.'" in repr(case))
    """).out

    assert out.split() == ["True", "True", "draft", "True", "True", "True"]


def test_redaction_reaches_it(scratch):
    out = scratch.python("""
        from judgekit import Case
        from judgekit.privacy.redact import redact_case, redactor
        print(redact_case(Case(id="a", draft="ask ann@example.com"), redactor(["email"])).draft)
    """).out

    assert out.startswith("ask [EMAIL-")


def test_it_is_part_of_the_question_that_two_runs_must_share(scratch):
    rows = [{**row, "draft": "Another." if row["id"] == "c1" else row["draft"]} for row in ROWS]
    scratch.write("others.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    scratch.judgekit(
        "run", "suite.yaml", "--cases", "others.jsonl", "--out", "other", "--record", "all"
    )

    out = scratch.python("""
        from itertools import zip_longest
        from judgekit.analysis.comparison.pairs import Pairing
        from judgekit.report.report import Report
        runs = [Report.read(folder).results for folder in ("run", "other")]
        print([pair.base.case for pair in Pairing(*runs) if not pair.same_question])
    """).out
    assert out.strip() == "['c1']"


@pytest.mark.thorough
def test_a_case_without_it_keeps_its_bytes_its_id_and_its_digest(scratch, tmp_path):
    code = """
        import hashlib
        from judgekit import load_cases
        from judgekit.datasets.ids import derive_id
        from judgekit.runner.sequencer import case_text
        texts = [case_text(case).text for case in load_cases({cases!r})]
        print(hashlib.sha256(b"".join(texts)).hexdigest())
        print([derive_id(case) for case in load_cases({cases!r})])
    """
    example = ROOT / "examples" / "support_assistant"
    code = code.replace("{cases!r}", repr(str(example / "cases.jsonl")))
    old = ScratchPackage(tmp_path)
    assert scratch.python(code).out == old.python(code).out

    replay = ("run", example / "suite.yaml", "--limit", "3", "--out", "replayed")
    for package in (scratch, old):
        package.judgekit(*replay, exits=None)
    new, before = (one.work / "replayed" / "results.jsonl" for one in (scratch, old))
    assert new.read_bytes() == before.read_bytes()
    assert len(new.read_text("utf-8").splitlines()) > 3


@pytest.mark.thorough
def test_a_field_without_a_row_is_an_error_at_start(tmp_path):
    scratch = with_draft(ScratchPackage(tmp_path), row=False)

    err = scratch.judgekit("schema", "cases", exits=1).err
    assert "field 'draft' of Case has no row in CASE_FIELDS in judgekit/core/case_field.py" in err


@pytest.mark.thorough
def test_a_row_without_a_field_is_an_error_at_start(tmp_path):
    scratch = with_draft(ScratchPackage(tmp_path), field=False)

    err = scratch.judgekit("schema", "cases", exits=1).err
    assert "has a row 'draft', which Case does not have" in err
