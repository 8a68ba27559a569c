"""The overview of a run: a row per metric, and why cases have no score."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import pytest

from judgekit.core.case import Case
from judgekit.core.score import Failure, Row, Score
from judgekit.pages.run.page import render_page
from judgekit.pages.run.unscored import MOST, Reasons, lacked
from judgekit.report.folder import Scored
from tests.pages.test_html import Page, data_of

NEEDS = Failure(kind="invalid_case", message="needs a reference (field 'reference')")
MISS = Failure(kind="cassette_miss", message="not recorded")


@pytest.mark.parametrize(
    ("message", "name"),
    [
        ("needs a reference (field 'reference')", "reference"),
        ("needs an input or a system prompt (field 'input')", "input or a system prompt"),
        ("needs expected.criteria: a list of texts", "expected.criteria"),
        ("needs tests", "tests"),
        ("needs a " + "x" * 10_000, "x" * 48),
        ("needs ", None),
        ("too long for the judge's context window", None),
    ],
)  # fmt: skip
def test_a_field_that_a_case_lacks_is_named(message: str, name: str | None) -> None:
    assert lacked(Failure(kind="invalid_case", message=message)) == name
    assert lacked(Failure(kind="metric_error", message=message)) is None
    assert lacked(Score(value=1.0, reason=message)) is None


def test_reasons_count_cases_and_each_is_a_filter(runs: SimpleNamespace) -> None:
    rows: list[Any] = [
        (Case(id=f"c{n}", output="" if n < 2 else "x"),
         {"f1": NEEDS if n < 4 else Score(value=1.0), "rouge": NEEDS if n < 4 else Score(value=0.5),
          "helpful": MISS if n < 2 else runs.judged(0.5)})
        for n in range(6)
    ]  # fmt: skip
    html = render_page(runs.report_of(rows, thresholds={"helpful": 0.4}))

    text = Page(html).text
    assert "4 cases: no reference f1, rouge 2 cases: not recorded, empty answer helpful" in text
    assert "status=why%3Ano+reference" in html
    # A metric that does not apply fails no case, and does not decide which cases are the worst.
    assert "2 of 6 cases fail" in text
    assert re.search(r"f1 ↑ 1.000 [^↑]*– 4 n/a", text)
    data = data_of(html)
    assert data["order"][:2] == [0, 1]
    assert data["reasons"] == [
        {"text": "no reference", "lacks": True},
        {"text": "not recorded, empty answer", "lacks": False},
    ]
    assert [case.get("why") for case in data["cases"]][1:3] == [
        {"f1": 0, "rouge": 0, "helpful": 1},
        {"f1": 0, "rouge": 0},
    ]


def test_rows_that_a_stopped_run_lacks_have_a_reason(runs: SimpleNamespace) -> None:
    rows = [(Case(id="a"), {"m": Score(value=1.0)}), (Case(id="b"), {})]

    assert "1 case: the run ended before m" in Page(render_page(runs.report_of(rows))).text


def test_no_more_reasons_are_told_apart_than_a_person_reads() -> None:
    reasons = Reasons(["m"])
    for n in range(3 * MOST):
        failure = Failure(kind="invalid_case", message=f"needs field {n}")
        reasons.add(Scored(Case(id=str(n)), (Row(case=str(n), metric="m", result=failure),)))

    *named, other = reasons.finish()
    assert len(named) == MOST
    assert (other.text, other.cases, other.lacks) == ("another reason", 2 * MOST, False)
    assert reasons.lacking("m") == MOST


def test_metrics_without_a_judge_stand_together_and_say_which_way_is_good(
    runs: SimpleNamespace,
) -> None:
    rows = [
        (Case(id=f"c{n}"),
         {"brief": Score(value=n / 9), "helpful": runs.judged(n / 9), "bias": Score(value=0.5)})
        for n in range(10)
    ]  # fmt: skip
    text = Page(render_page(runs.report_of(rows, lower_is_better=["bias"]))).text

    assert re.search(r"Judged helpful ↑ .* Computed brief ↑ .* bias ↓ .* Cases", text)
    assert "computed · lower is better" in text
