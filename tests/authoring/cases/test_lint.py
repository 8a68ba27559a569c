"""`judgekit cases lint`: one test for each rule, and how findings are shown."""

from __future__ import annotations

import json

import pytest

from judgekit.authoring.cases import lint
from judgekit.authoring.cases.lint import case_rules, lint_cases
from tests.cli.conftest import judgekit

__all__ = ["judgekit"]


def turn(role, **more):
    return {"role": role, "content": more.pop("content", f"a {role} text"), **more}


CALL = turn("assistant", content="", tool_calls=[{"name": "f", "arguments": {}}])
CHATTED = [turn("system"), turn("user"), turn("assistant"), turn("user"), turn("assistant")]
LONG = "Please tell me when the parcel number twelve will arrive at my new address in the town"
# Rule, rows, and the line and field of each finding of the rule.
FINDINGS = [
    ("unreadable", [{"id": "a", "input": "x"}, "no json", {"inptu": 1}, {"id": "b", "input": "y"}],
     [(2, None), (3, "inptu")]),
    ("repeated-row", [{"input": "x", "output": "y"}, {"input": "x", "output": "y"}], [(2, "id")]),
    ("repeated-id", [{"id": "a", "input": "x"}, {"id": "a", "input": "y"}], [(2, "id")]),
    ("missing-id", [{"id": "a", "input": "x"}, {"input": "y"}, {"input": "z"}], [(2, "id")]),
    ("no-text", [{"id": "a"}], [(1, None)]),
    ("unread-content", [{"id": "a", "messages": [turn("user", content=[{"type": "image_url"}])]}],
     [(1, "input")]),
    ("row-format", [{"id": "a", "contents": [{"role": "model", "parts": [{"text": "x"}]}]}],
     [(1, None)]),
    ("converted", [{"id": "a", "input": "x", "output": {"b": 1}}], [(1, "output")]),
    ("thoughts", [{"id": "a", "input": "x", "output": "<think>y</think>z"}],
     [(1, "metadata.thoughts")]),
    ("field-names", [{"id": "a", "question": "x", "output": "z"}], [(1, "input")]),
    ("empty-text", [{"id": "a", "input": " ", "output": "x", "context": ["y", ""]}],
     [(1, "context[1]"), (1, "input")]),
    ("empty-text", [{"id": "a", "input": "x", "history": [turn("user", content="")]}],
     [(1, "history[0].content")]),
    ("near-duplicate",
     [{"id": "a", "input": LONG}, {"id": "b", "input": "x"}, {"id": "c", "input": LONG + "!"}],
     [(3, "input")]),
    ("role-order", [{"id": "a", "messages": [turn("user"), turn("system"), turn("assistant")]}],
     [(1, "messages[1]")]),
    ("role-order", [{"id": "a", "messages": [turn("user"), turn("tool"), turn("assistant")]}],
     [(1, "messages[1]")]),
    ("missing-turn", [{"id": "a", "messages": [turn("user"), turn("user")]}], [(1, "messages[1]")]),
    ("missing-turn", [{"id": "a", "input": "x", "history": [turn("user")]}], [(1, "history[1]")]),
    ("missing-turn", [{"id": "a", "messages": [turn("user"), CALL, turn("user")]}],
     [(1, "messages[2]")]),
    ("reference-leak",
     [{"id": "a", "input": "It opens at nine, you know. When?", "reference": "It opens at nine."}],
     [(1, "input")]),
    ("private-data", [{"id": "a", "input": "x", "metadata": {"ssn": "219456780"}}],
     [(1, "metadata.ssn")]),
    ("label-balance",
     [{"id": str(n), "input": str(n) * 9, "labels": {"q": int(n == 7)}} for n in range(40)],
     [(1, "labels.q")]),
    ("label-missing", [{"id": "a", "input": "x"}, {"id": "b", "input": "y", "labels": {"q": 1}}],
     [(2, "labels.q")]),
    ("wrong-criteria", [{"id": "a", "input": "x", "expected": {"criteria": [{"criterion": "y"}]}}],
     [(1, "expected.criteria")]),
    ("criteria-fields",
     [{"id": str(n), "input": str(n) * 9, "expected": {"criteria": [
         {"criterion": "y", "points": 1, "title": "z"}]}} for n in range(2)],
     [(1, "expected.criteria")]),
]  # fmt: skip
CLEAN = [
    {"id": "a", "messages": CHATTED},
    {"id": "b", "messages": [turn("user"), CALL, turn("tool"), turn("tool"), turn("assistant")]},
    {"id": "c", "input": "Is it Paris?", "reference": "Paris", "context": ["Paris is big."]},
    {"id": "d", "input": "Pick: red apples, green apples", "reference": "red apples, green",
     "choices": ["red apples, green", "none"]},
    {"id": "e", "input": "Write to help@example.com", "output": "x"},
    {"id": "f", "input": LONG + " one", "output": "On Monday it is there, certainly."},
    {"id": "g", "input": LONG + " one", "output": "We cannot say, because of the strike."},
    {"id": "h", "input": LONG, "context": ["one"]},
    {"id": "i", "input": LONG, "context": ["two"]},
    {"id": "j", "input": "x", "history": [turn("user"), turn("assistant"), CALL, turn("tool")]},
]  # fmt: skip


def linted(folder, rows, **options):
    path = folder / "c.jsonl"
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return lint_cases(str(path), **options)


@pytest.mark.parametrize(("rule", "rows", "places"), FINDINGS)
def test_a_rule_finds_its_mistake(tmp_path, rule, rows, places):
    findings = [one for one in linted(tmp_path, rows).findings if one.rule == rule]

    assert [(one.line, one.field) for one in findings] == places
    assert {one.severity for one in findings} == {case_rules()[rule].severity}


def test_every_rule_has_a_mistake_here():
    assert {rule for rule, *_ in FINDINGS} == set(case_rules())


@pytest.mark.parametrize("row", CLEAN, ids=lambda row: row["id"])
def test_good_cases_have_no_findings(tmp_path, row):
    others = [other for other in CLEAN if other is not row]

    findings = linted(tmp_path, [*others, row]).findings

    assert [(one.case, one.rule, one.message) for one in findings] == []


def test_a_lost_turn_of_a_session_is_found(tmp_path):
    rows = [
        {"session_id": "s", "turn_index": n, "role": role, "text": "hello there"}
        for n, role in ((0, "user"), (1, "assistant"), (4, "user"))
    ]
    rows.append({**rows[0], "session_id": "t", "role": "boss"})
    rows.append({**rows[0], "turn_index": 9})

    findings = linted(tmp_path, rows, shape="turns").findings

    assert [(one.line, one.rule, one.field) for one in findings] == [
        (3, "missing-turn", "turn_index"),
        (4, "unreadable", "role"),
        (5, "repeated-id", "id"),
    ]


@pytest.mark.parametrize("name", ["c.json", "c.csv", "c.parquet"])
def test_other_formats_are_read_to_the_end(tmp_path, name):
    rows = [{"id": "a", "input": "x y z"}, {"id": "a", "input": "other"}]
    path = tmp_path / name
    if name == "c.parquet":
        arrow = pytest.importorskip("pyarrow")
        from pyarrow import parquet

        parquet.write_table(arrow.Table.from_pylist(rows), path)
    elif name == "c.csv":
        path.write_text("id,input\na,x y z\none,two,three\na,other\n", "utf-8")
    else:
        path.write_text(json.dumps(rows), "utf-8")

    rules = [one.rule for one in lint_cases(str(path)).findings]

    assert rules == (["unreadable"] if name == "c.csv" else []) + ["repeated-id"]


def test_findings_hold_no_private_data(judgekit, tmp_path):
    rows = [{"id": "ann.lee@firma.io", "input": "Card 4539 1488 0343 6467"}] * 2
    rows.append({"id": "b", "bo@firma.io": 1})
    linted(tmp_path, rows)

    for format in ("text", "json"):
        done = judgekit("cases", "lint", tmp_path / "c.jsonl", "--format", format)
        assert done.code == 1
        assert "firma" not in done.out
        assert "6467" not in done.out


def test_many_findings_of_a_rule_are_counted(tmp_path, monkeypatch):
    monkeypatch.setattr(lint, "MOST", 3)

    findings = linted(tmp_path, [{"id": str(n)} for n in range(9)]).findings

    assert len(findings) == 4
    assert [one.message for one in findings].count("and 6 more of this rule") == 1


def test_the_exit_code_is_that_of_rubric_lint(judgekit, tmp_path):
    path = tmp_path / "c.jsonl"
    linted(tmp_path, [{"id": "a", "input": "x"}])
    assert judgekit("cases", "lint", path) == (0, "no problems in 1 file\n", "")
    linted(tmp_path, [{"id": "a"}])
    assert judgekit("cases", "lint", path).code == 0
    assert judgekit("cases", "lint", path, "--strict").code == 1
    assert judgekit("cases", "lint", tmp_path / "none.jsonl").code == 2


def test_json_names_case_and_field_and_is_the_same_twice(judgekit, tmp_path):
    linted(tmp_path, [{"id": "a", "input": ""}])

    first = judgekit("cases", "lint", tmp_path / "c.jsonl", "--format", "json")

    (finding,) = json.loads(first.out)["findings"]
    assert (finding["line"], finding["case"], finding["field"]) == (1, "a", "input")
    assert first == judgekit("cases", "lint", tmp_path / "c.jsonl", "--format", "json")


def test_rules_are_listed_and_explained(judgekit):
    listed = judgekit("cases", "lint", "--rules").out

    for rule in case_rules():
        explained = judgekit("cases", "lint", "--explain", rule).out
        assert explained in listed
        assert explained.startswith(f"{rule} (")


def test_cases_come_from_standard_input_too(judgekit):
    done = judgekit("cases", "lint", "-", stdin='{"id": "a"}\n')

    assert done.out.startswith("-:1: warning no-text: case 'a'")
