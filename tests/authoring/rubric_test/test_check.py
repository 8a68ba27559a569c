"""What counts as what the author expects, and what is said when it is not."""

from __future__ import annotations

import asyncio
import json

import pytest

from judgekit.authoring.rubric_test.check import check_ordering, check_test
from judgekit.core.score import Failure
from judgekit.judges.fake import FakeJudge
from judgekit.metrics.rubric import RubricMetric
from judgekit.rubric.load import load_rubric
from tests.authoring.rubric_test.conftest import KIND, WARM, answers

OUT = "Good day, sir. Good bye."


def outcome(tmp_path, expect, said, *, case="{output: '" + OUT + "', input: 'Sir?'}"):
    path = tmp_path / "kind.jinja"
    test = f"  - name: it\n    case: {case}\n    expect: {expect}"
    path.write_text(KIND.replace("TESTS", test), "utf-8")
    rubric = load_rubric(path)
    metric = RubricMetric(rubric, judge=FakeJudge(lambda _: json.dumps(said)))
    score = asyncio.run(metric.score(rubric.tests[0].case))
    return check_test(rubric.tests[0], score)


@pytest.mark.parametrize(
    "expect",
    [
        "{kind: cool}",
        "{kind: {answer: cool, min: 0.5, max: 0.5}}",
        "{kind: {quotes: Good day}}",
        "{kind: {quotes: [Good  day, bye]}}",
        "{kind: {quotes: {from: output}}}",
        "{kind: {quotes: {contain: day, from: output}}}",
        "{short: false}",
        "{short: {max: 0}}",
        "{points: {min: 0.5, max: 0.5}}",
        "{value: {min: 0.33, max: 0.34}}",
        "{value: {status: scored}}",
    ],
)
def test_what_is_as_expected_passes(tmp_path, expect):
    said = answers("cool", quotes=["Good day,", "Good bye."], short=False,
                   points=[("a", True), ("b", False)])  # fmt: skip

    found = outcome(tmp_path, expect, said)

    assert (found.verdict, found.shortfalls) == ("passed", ())


@pytest.mark.parametrize(
    ("expect", "missing", "said"),
    [
        ("{kind: rude}", "rude", "cool, worth 0.5"),
        ("{kind: {min: 0.6}}", "at least 0.6", "cool, worth 0.5"),
        ("{kind: {max: 0.4}}", "at most 0.4", "cool, worth 0.5"),
        ("{kind: {answer: cool, max: 0.4}}", "at most 0.4", "cool, worth 0.5"),
        ("{kind: {quotes: night}}", "a quote that contains 'night'",
         "cool, worth 0.5, quoting 'Good day,', 'Sir'"),
        ("{kind: {quotes: Made}}", "a quote that contains 'Made'",
         "cool, worth 0.5, quoting 'Good day,', 'Sir'"),
        ("{kind: {quotes: {contain: Good, from: output}}}", "quotes from output",
         "cool, worth 0.5, quoting 'Good day,', 'Sir'"),
        ("{short: true}", "true", "abstained"),
        ("{short: {min: 0}}", "at least 0", "abstained"),
        ("{points: {status: not_applicable}}", "not applicable", "1 of 2 met, worth 0.5"),
        ("{value: {status: abstained}}", "abstained", "0.5"),
        ("{value: {status: invalid_case}}", "invalid case", "0.5"),
    ],
)  # fmt: skip
def test_what_is_not_as_expected_is_said_with_what_the_judge_said(tmp_path, expect, missing, said):
    reply = answers("cool", quotes=["Good day,", "Made up", "Sir"], short=None,
                    points=[("a", True), ("b", False)])  # fmt: skip

    found = outcome(tmp_path, expect, reply)

    assert found.verdict == "failed"
    (shortfall,) = found.shortfalls
    assert (shortfall.expected, shortfall.said) == (missing, said)
    assert shortfall.reason


def test_every_shortfall_is_named_with_its_reason(tmp_path):
    said = answers("rude", reason="It waves him away.", points=[("a", False)])

    found = outcome(tmp_path, "{kind: warm, points: {min: 1}, short: false}", said)

    assert {s.criterion: s.reason for s in found.shortfalls} == {
        "kind": "It waves him away.", "points": "a: a it is", "short": "Counted.",
    }  # fmt: skip


def test_statuses_can_be_expected(tmp_path):
    said = answers(short=None)

    found = outcome(
        tmp_path, "{short: {status: abstained}, points: {status: not_applicable}}", said
    )

    assert found.verdict == "passed"


def test_a_bound_holds_up_to_the_last_digits_of_a_sum(tmp_path):
    # 1/3 + 1/3 + 1/3 * 0.3 is not exactly 0.7666...
    said = answers("cool", points=[(str(n), n < 3) for n in range(10)])

    assert outcome(tmp_path, "{value: {min: 0.6, max: 0.6}}", said).verdict == "passed"
    assert outcome(tmp_path, "{value: {min: 0.600001}}", said).verdict == "failed"


def test_a_criterion_that_is_not_asked_of_the_case_is_no_pass(tmp_path):
    path = tmp_path / "two.jinja"
    path.write_text(
        "---\nname: two\nextends: base\ndescription: Two.\nmodes: {a: {a: 1}, b: {b: 1}}\n"
        "default_mode: a\ncriteria:\n  a.x: {text: X.}\n  b.x: {text: X.}\n"
        "tests:\n  - case: {output: x}\n    expect: {b.x: {min: 0}}\n---\n",
        "utf-8",
    )
    rubric = load_rubric(path)
    metric = RubricMetric(rubric, judge=FakeJudge())

    found = check_test(rubric.tests[0], asyncio.run(metric.score(rubric.tests[0].case)))

    assert found.verdict == "failed"
    assert found.shortfalls[0].said == "nothing: this case or mode does not ask for it"


@pytest.mark.parametrize(
    ("kind", "verdict"),
    [
        ("cassette_miss", "missed"),
        ("unavailable", "unjudged"),
        ("not_run", "unjudged"),
        ("refused", "failed"),
        ("empty", "failed"),
        ("truncated", "failed"),
        ("invalid_reply", "failed"),
        ("metric_error", "failed"),
        ("invalid_case", "failed"),
    ],
)
def test_a_failure_is_never_a_pass(tmp_path, kind, verdict):
    path = tmp_path / "kind.jinja"
    other = WARM.replace("warm\n", "other\n", 1)
    path.write_text(
        KIND.replace("TESTS", f"{WARM}\n{other}\norderings:\n  - {{better: warm, worse: other}}"),
        "utf-8",
    )
    rubric = load_rubric(path)
    failure = Failure(kind=kind, message="so it is", key="0" * 64)

    found = check_test(rubric.tests[0], failure)
    ranked = check_ordering(rubric.orderings[0], {"warm": failure, "other": failure})

    assert (found.verdict, found.key) == (verdict, "0" * 64)
    assert "so it is" in found.message
    assert (ranked.verdict, ranked.message) == (verdict, "warm: so it is")


@pytest.mark.parametrize(
    ("ordering", "better", "worse", "verdict"),
    [
        ("{better: b, worse: w}", "warm", "cool", "passed"),
        ("{better: b, worse: w}", "cool", "cool", "failed"),
        ("{better: b, worse: w}", "rude", "cool", "failed"),
        ("{better: b, worse: w, criterion: kind, by: 0.5}", "cool", "rude", "passed"),
        ("{better: b, worse: w, criterion: kind, by: 0.51}", "cool", "rude", "failed"),
        ("{better: b, worse: w, criterion: short}", "warm", "rude", "failed"),
        ("{better: b, worse: w, criterion: points}", "warm", "rude", "failed"),
    ],
)
def test_an_ordering_wants_one_case_above_the_other(tmp_path, ordering, better, worse, verdict):
    path = tmp_path / "kind.jinja"
    tests = "".join(
        f"  - name: {name}\n    case: {{output: {name}}}\n    expect: {{value: {{min: 0}}}}\n"
        for name in "bw"
    )
    path.write_text(KIND.replace("TESTS", f"{tests}orderings:\n  - {ordering}"), "utf-8")
    rubric = load_rubric(path)
    results = {
        name: asyncio.run(
            RubricMetric(
                rubric, judge=FakeJudge(lambda _, word=word: json.dumps(answers(word)))
            ).score(test.case)
        )
        for name, word, test in zip("bw", (better, worse), rubric.tests, strict=True)
    }

    found = check_ordering(rubric.orderings[0], results)

    assert found.verdict == verdict
    assert bool(found.shortfalls or found.message) == (verdict == "failed")
