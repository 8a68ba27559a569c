"""What a judge says is data: shown without its tricks, and never a better score than it is."""

from __future__ import annotations

import asyncio
import json
import re

import pytest

from judgekit.core.case import Case
from judgekit.core.score import Failure
from judgekit.judges.fake import FakeJudge
from judgekit.metrics.rubric import RubricMetric
from judgekit.report.display import summary_text
from judgekit.report.text import row_text
from judgekit.runner.evaluation import evaluate

CASE = Case(id="case", input="in", output="out")
TRICK = "\x1b[2J\x1b]0;owned\x07\x9b31m<script>alert(1)</script>::error::\x00\u2028|\r\nline"


def answers(form, reason="Why.", value=None):
    return {
        question.id: {
            "reason": reason,
            "value": question.labels[0] if value is None else value,
            **({"quotes": [reason]} if question.quotes else {}),
        }
        for question in form.questions
    }


def judged(script, name="quality", **options):
    metric = RubricMetric(name, judge=FakeJudge(script))
    return asyncio.run(evaluate([CASE], [metric], **options))


def only_row(report):
    (scored,) = report.results
    return scored.rows[0]


@pytest.mark.parametrize("name", ["quality", "safety"])
@pytest.mark.parametrize("raw", [False, True])
def test_control_characters_of_a_reason_reach_no_terminal_and_no_page(tmp_path, name, raw):
    def script(request):
        text = json.dumps(answers(request.form, TRICK), ensure_ascii=False)
        return text.replace("\\u001b", "\x1b") if raw else text

    report = judged(script, name, out=tmp_path / "out")

    row = only_row(report)
    assert row.result.value == 1.0
    page = report.to_html().read_text("utf-8")
    for text in (summary_text(report), row_text(row), page):
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028]", text)
    assert "<script>alert(1)" not in page
    results = (tmp_path / "out" / "results.jsonl").read_text("utf-8")
    assert "\x1b" not in results
    assert len(results.splitlines()) == 3


VALUES = {
    "a number for a word": 1,
    "a word that is none": "perfect",
    "true": True,
    "null": None,
    "a list": ["excellent"],
    "a word in capitals": "EXCELLENT",
}


@pytest.mark.parametrize("name", VALUES)
def test_a_value_that_is_no_answer_is_a_failure(name):
    def script(request):
        filled = answers(request.form)
        filled["helpfulness"]["value"] = VALUES[name]
        return filled

    result = only_row(judged(script)).result

    assert isinstance(result, Failure)
    assert result.kind == "invalid_reply"


NUMBERS = {
    "above": 1.0001,
    "below": -0.1,
    "text": "1",
    "true": True,
    "huge": 10**400,
    "a float beyond": "1e999",
    "not a number": float("nan"),
}


@pytest.mark.parametrize("name", NUMBERS)
def test_a_number_that_is_no_score_is_a_failure(rubric_of, name):
    path = rubric_of("{% role user %}x{% endrole %}")

    def script(request):
        text = json.dumps({"a": {"reason": "r", "why": "w", "value": NUMBERS[name]}})
        return text.replace('"1e999"', "1e999")

    result = only_row(judged(script, path)).result

    assert isinstance(result, Failure)
    assert result.kind == "invalid_reply"
    assert len(result.message) < 1000


@pytest.mark.parametrize(
    "extra",
    [
        {"value": 1.0},
        {"__class__": "x"},
        {"score": 1},
        {"overall": {"reason": "r", "value": 1}},
    ],
)
def test_what_was_not_asked_for_is_a_failure(extra):
    result = only_row(judged(lambda request: {**answers(request.form), **extra})).result

    assert isinstance(result, Failure)


def test_a_reply_of_nearly_two_megabytes_is_kept_short():
    row = only_row(judged(lambda request: answers(request.form, "why " * 80_000)))

    assert max(len(part.reason) for part in row.result.parts) <= 20_001
    assert len(row_text(row)) < 200_000


def test_a_reply_that_is_too_long_is_a_failure():
    result = only_row(judged(lambda request: answers(request.form, "x" * 1_000_000))).result

    assert isinstance(result, Failure)
    assert "too many to be a verdict" in result.message


def test_a_quote_that_is_not_in_the_case_says_so():
    row = only_row(judged(lambda request: answers(request.form, "not there"), "safety"))

    assert {quote.field for part in row.result.parts for quote in part.quotes} == {None}
    assert "NOT FOUND in the case" in row_text(row)
