"""Lint from a run's verdicts: what is said, of how many, and when nothing is."""

from __future__ import annotations

import json

import pytest

from judgekit.authoring.lint.lint import lint_rubrics
from judgekit.core.case import Case
from judgekit.core.judgment import Quote
from judgekit.core.score import Failure, Fallback, Part, Row, Score
from judgekit.report.folder import REPORT, ResultsWriter
from judgekit.rubric.load import load_rubric
from tests.cli.conftest import judgekit

__all__ = ["judgekit"]

RUBRIC = """\
---
name: answers
extends: base
description: Judges answers.
criteria:
  price: {weight: 0.25, kind: boolean, text: "Is the price named?", quotes: true}
  reach: {weight: 0.25, text: "How far does it get? 0 means nowhere, 1 means all the way."}
  place:
    weight: 0.25
    nullable: true
    text: Where does it end?
    levels: {there: 1.0, near: 0.5, nowhere: 0.0}
  parts:
    weight: 0.25
    kind: checklist
    text: Each part of the request. Met if the answer has it.
tests: [{case: {output: a}, expect: {price: true}}]
---
"""
LINES = {"price": 6, "reach": 7, "place": 8, "parts": 13, "name": 2}


@pytest.fixture
def run(tmp_path):
    """Write a run of verdicts, given as parts by criterion; return rubric and run folder."""
    path = tmp_path / "answers.jinja"
    path.write_text(RUBRIC, "utf-8")
    digest = load_rubric(path).digest[:16]

    def write(verdicts, *, failures=0, digest=digest, extra=()):
        folder = tmp_path / "run"
        writer = ResultsWriter(folder, manifest={})
        for number, parts in enumerate(verdicts):
            score = Score(
                value=0.5,
                source="judge",
                parts=tuple(parts),
                meta={"rubric": "answers", "digest": digest},
            )
            put(writer, f"c{number}", score)
        for number in range(failures):
            put(writer, f"f{number}", Failure(kind="invalid_reply", message="no JSON"))
        for number, result in enumerate(extra):
            put(writer, f"e{number}", result)
        writer.close()
        (folder / REPORT).write_text("{}", "utf-8")
        return path, folder

    return write


def put(writer, id, result):
    case = Case(id=id, output="x").model_dump_json().encode()
    writer.write(case, [Row(case=id, metric="answers", result=result).to_bytes()])


def said(path, folder, **options):
    return [
        (f.line, f.rule, f.message)
        for f in lint_rubrics([path], results=folder, **options).findings
        if f.silenced is None
    ]


def price(value, reason="It stands there.", **more):
    return Part(id="price", value=float(value), answer=bool(value), reason=reason, **more)


def reach(value, reason="So far."):
    return Part(id="reach", value=value, answer=value, reason=reason)


def test_varied_verdicts_are_clean(run):
    place = run(
        [[price(n % 2), reach((n % 5) / 4)] for n in range(40)],
    )

    assert said(*place) == []


@pytest.mark.parametrize(
    ("values", "rule", "message"),
    [
        ([1.0] * 19 + [0.2], "at-ceiling", "'reach' has the value 1 in 19 of 20 (95%)"),
        ([0.0] * 39 + [0.2], "at-floor", "'reach' has the value 0 in 39 of 40 (98%)"),
        ([0.7] * 20, "no-variance", "'reach' has the value 0.7 in 20 of 20 (100%)"),
        ([1.0] * 20, "no-variance", "'reach' has the value 1 in 20 of 20 (100%)"),
    ],
)
def test_a_criterion_that_tells_nothing_is_named(run, values, rule, message):
    assert said(*run([[reach(v)] for v in values])) == [(LINES["reach"], rule, message)]


@pytest.mark.parametrize("values", [[1.0] * 18 + [0.2] * 2, [1.0] * 19, [0.4, 0.6] * 10])
def test_less_than_that_is_not(run, values):
    assert [rule for _, rule, _ in said(*run([[reach(v)] for v in values]))] in (
        [],
        ["few-results"],
    )


def test_criteria_that_always_agree_are_named(run):
    verdicts = [[price(n % 2), reach(float(n % 2))] for n in range(30)]

    assert said(*run(verdicts)) == [
        (LINES["reach"], "redundant", "'reach' equals 'price' in 30 of 30 (100%)")
    ]


def test_a_criterion_without_a_relation_to_the_others_is_named(run):
    verdicts = [
        [
            price(n % 2),
            reach((n % 2 * 3 + n // 2 % 2) / 4),
            Part(id="place", value=n // 4 % 3 / 2),
        ]
        for n in range(240)
    ]

    ((line, rule, message),) = said(*run(verdicts))

    assert (line, rule) == (LINES["place"], "unrelated")
    assert message.startswith("'place' is noise: no relation to the other criteria")


def test_a_criterion_that_cancels_the_others_is_named(run):
    verdicts = [[price(n % 3 > 0), reach((1 - (n % 3 > 0) + n % 2) / 2)] for n in range(60)]

    assert {(line, rule) for line, rule, _ in said(*run(verdicts))} == {
        (LINES["price"], "against-rest"),
        (LINES["reach"], "against-rest"),
    }


def test_agreement_of_what_hardly_varies_means_nothing(run):
    verdicts = [[price(n != 0), reach(float(n != 0))] for n in range(40)]

    assert {rule for _, rule, _ in said(*run(verdicts))} == {"at-ceiling"}


def test_abstention_and_absence_are_counted(run):
    verdicts = [
        [
            Part(id="place", status="abstained") if n < 6 else Part(id="place", value=(n % 3) / 2),
            Part(id="parts", status="not_applicable") if n < 18 else Part(id="parts", value=1.0),
        ]
        for n in range(20)
    ]

    assert said(*run(verdicts)) == [
        (LINES["place"], "abstaining", "the judge abstained from 'place' in 6 of 20 (30%)"),
        (LINES["parts"], "inapplicable", "'parts' did not apply in 18 of 20 (90%)"),
    ]


def test_verdicts_against_their_reasons_are_named(run):
    verdicts = [
        [price(1, "No, the price is left out.") if n < 3 else price(n % 2)] for n in range(20)
    ]

    ((line, rule, message),) = said(*run(verdicts))
    assert (line, rule) == (LINES["price"], "contradicted")
    assert message.startswith(
        "the verdict on 'price' contradicts its reason in 3 of 20 (15%): "
        "c0 (the value is true, but the reason says 'No,')"
    )


def test_two_contradictions_are_slips(run):
    verdicts = [
        [price(1, "No, the price is left out.") if n < 2 else price(n % 2)] for n in range(20)
    ]

    assert said(*run(verdicts)) == []


def test_a_checklist_item_contradicts_its_reason(run):
    wrong = ({"item": "a", "met": False, "reason": "Yes, it is there."},)
    verdicts = [
        [Part(id="parts", value=(n % 3) / 2, items=wrong if n < 10 else ())] for n in range(20)
    ]

    assert [rule for _, rule, _ in said(*run(verdicts))] == ["contradicted"]


def test_quotes_that_stand_nowhere_are_named(run):
    verdicts = [
        [price(n % 2, quotes=(Quote(text="10 EUR", field=None if n < 2 else "output"),))]
        for n in range(20)
    ]

    assert said(*run(verdicts)) == [
        (
            LINES["price"],
            "unfound-quotes",
            "2 of 20 (10%) quotes of 'price' are not in the text: c0, c1",
        )
    ]


def test_a_verdict_against_the_checklist_beside_it_is_named(run):
    verdicts = [
        [reach(1.0 if n % 2 else 0.5), Part(id="parts", value=0.0 if n < 8 else 1.0)]
        for n in range(20)
    ]

    assert said(*run(verdicts)) == [
        (
            LINES["reach"],
            "against-checklist",
            "'reach' contradicts the checklist 'parts' in 4 of 20 (20%)",
        )
    ]


def test_replies_that_were_not_of_the_form_are_counted(run):
    verdicts = [[reach((n % 5) / 4)] for n in range(20)]

    assert said(*run(verdicts, failures=3)) == [
        (LINES["name"], "unreadable-replies", "replies did not match the schema in 3 of 23 (13%)")
    ]


def test_of_a_few_verdicts_nothing_is_said(run):
    place = run([[reach(1.0)] for _ in range(19)])

    assert said(*place) == [
        (
            LINES["name"],
            "few-results",
            "19 verdicts of this rubric in the run; rules on results need 20",
        )
    ]
    assert [rule for _, rule, _ in said(*place, minimum=19)] == ["no-variance"]


def test_a_criterion_with_few_verdicts_is_left_alone(run):
    verdicts = [[price(n % 2), *([reach(1.0)] if n < 19 else [])] for n in range(40)]

    assert said(*run(verdicts)) == []


def test_verdicts_of_another_version_are_said_to_be(run):
    verdicts = [[reach((n % 5) / 4)] for n in range(20)]

    assert said(*run(verdicts, digest="0" * 16)) == [
        (
            LINES["name"],
            "older-results",
            "20 of 20 (100%) verdicts are of another version of the rubric",
        )
    ]


def test_fallbacks_and_other_metrics_do_not_count(run):
    fallback = Score(
        value=1.0,
        source="judge",
        parts=(reach(1.0),),
        meta={"rubric": "answers"},
        fallback=Fallback(substitute="rules", cause="outage"),
    )
    computed = Score(value=1.0, parts=(reach(1.0),), meta={"rubric": "answers"})
    verdicts = [[reach((n % 5) / 4)] for n in range(20)]

    assert said(*run(verdicts, extra=[fallback, computed] * 500)) == []


def test_parts_of_criteria_that_are_gone_do_not_count(run):
    verdicts = [[reach((n % 5) / 4), Part(id="gone", value=1.0)] for n in range(20)]

    assert said(*run(verdicts)) == []


def test_a_silence_of_a_results_rule_is_unused_only_where_results_are_looked_at(run):
    path, folder = run([[reach((n % 5) / 4)] for n in range(20)])
    silent = RUBRIC.replace("criteria:", "lint: {at-ceiling: it is a gate}\ncriteria:")
    path.write_text(silent, "utf-8")

    assert lint_rubrics([path]).open == ()
    assert [r for _, r, _ in said(path, folder)] == ["older-results", "silence-unused"]


def test_a_criterion_silences_what_its_verdicts_say(run):
    path, folder = run([[reach(1.0)] for _ in range(20)])
    path.write_text(
        RUBRIC.replace('all the way."}', 'all the way.", lint: {no-variance: it is a gate}}'),
        "utf-8",
    )

    found = [f for f in lint_rubrics([path], results=folder).findings if f.rule == "no-variance"]
    assert [f.silenced for f in found] == ["it is a gate"]


def test_the_command_finds_the_rubrics_of_a_run(judgekit, run, monkeypatch):
    path, folder = run([[reach(1.0)] for _ in range(20)])
    monkeypatch.chdir(path.parent)

    done = judgekit("rubric", "lint", "--results", folder)

    assert done.code == 0
    assert "answers.jinja:7: warning no-variance: 'reach' has the value 1 in 20 of" in done.out


def test_a_run_whose_rubrics_are_not_here_is_one_line(judgekit, run, monkeypatch, tmp_path):
    path, folder = run([[reach(1.0)] for _ in range(20)])
    (tmp_path / "elsewhere").mkdir()
    path.rename(tmp_path / "elsewhere" / "answers.jinja")
    monkeypatch.chdir(tmp_path)

    done = judgekit("rubric", "lint", "--results", folder)

    assert (done.code, done.out) == (2, "")
    assert done.err == f"judgekit: {folder}: no rubric of this run is found from here; name them\n"


def test_a_run_folder_that_was_tampered_with_is_one_line(judgekit, run):
    path, folder = run([[reach(1.0)] for _ in range(20)])
    results = folder / "results.jsonl"
    lines = results.read_text("utf-8").splitlines(keepends=True)
    row = json.loads(lines[2])
    row["result"]["parts"] = "many"
    results.write_text("".join([*lines[:2], json.dumps(row) + "\n", *lines[3:]]), "utf-8")

    done = judgekit("rubric", "lint", path, "--results", folder)

    assert (done.code, done.out) == (2, "")
    assert done.err == f"judgekit: {results}:3: not a result judgekit wrote\n"


def test_a_rubric_without_a_verdict_in_the_run_is_named(run, tmp_path):
    _, folder = run([[price(1)]] * 30)
    other = tmp_path / "others.jinja"
    other.write_text(RUBRIC.replace("name: answers", "name: others"), "utf-8")

    assert [rule for _, rule, _ in said(other, folder)] == ["few-results"]
