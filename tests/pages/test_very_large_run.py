"""The page of a very large run; small bounds stand for the large ones."""

from __future__ import annotations

import random
from pathlib import Path
from types import SimpleNamespace

import pytest

from judgekit import create_metric
from judgekit.core.case import Case
from judgekit.core.score import Failure, Score
from judgekit.pages.run.kept import BOUNDS, Choice, KeptCase
from judgekit.pages.run.page import render_page
from judgekit.pages.run.tallies import Rank
from judgekit.report.report import Report
from judgekit.runner.evaluation import evaluate_sync
from tests.pages.test_html import Page, data_of

FEW = BOUNDS._replace(cases=20)


def large(runs: SimpleNamespace, failing: int, *, cases: int = 100) -> Report:
    rows = runs.simple_rows(cases)
    for n in range(failing):
        rows[n * 7 % cases][1]["helpful"] = Failure(kind="refused", message="no")
    return runs.report_of(rows)


@pytest.mark.parametrize(
    ("failing", "line"),
    [
        (0, "the 10 worst and a sample of 10 others."),
        (4, "all 4 that fail, the 6 next worst and a sample of 10 others."),
        (15, "all 15 that fail and a sample of 5 others."),
        (90, "the worst 20 of 90 that fail."),
    ],
)
def test_failing_cases_are_kept_then_the_worst_then_a_sample(
    runs: SimpleNamespace, failing: int, line: str
) -> None:
    report = large(runs, failing)

    html = render_page(report, bounds=FEW)

    text, data = Page(html).text, data_of(html)
    assert f"Of 100 cases, this page keeps 20: {line}" in text
    assert len(data["cases"]) == 20
    assert data["of"] == 100
    kept = [case["id"] for case in data["cases"]]
    assert kept == sorted(kept, key=lambda id: int(id.removeprefix("case-")))  # as in the run
    failed = {s.case.id for s in report.results if isinstance(s.rows[0].result, Failure)}
    assert len(failed.intersection(kept)) == min(failing, 20)
    ranked = [
        case["rows"]["helpful"]["type"] for case in map(data["cases"].__getitem__, data["order"])
    ]
    assert ranked == sorted(ranked)  # failures first


def test_figures_are_of_all_cases(runs: SimpleNamespace) -> None:
    report = large(runs, 30)

    whole, kept = (Page(render_page(report, bounds=b)).text for b in (BOUNDS, FEW))

    for figure in ("30 of 100 cases fail", "30 cases: refused"):
        assert figure in whole
        assert figure in kept
    for html in (render_page(report), render_page(report, bounds=FEW)):
        assert html.count('class="slice-table"') == 1
    cells = [html[html.index('class="slice-table"'):].partition("</table>")[0]
             for html in (render_page(report), render_page(report, bounds=FEW))]  # fmt: skip
    assert cells[0] == cells[1]


def test_a_run_within_the_bounds_is_kept_whole(runs: SimpleNamespace) -> None:
    html = render_page(large(runs, 3, cases=20), bounds=FEW)

    assert "this page keeps" not in Page(html).text
    assert "of" not in data_of(html)


def test_a_folder_gives_the_same_page_each_time(tmp_path: Path) -> None:
    cases = [Case(id=f"c{n}", output="wörd " * (n * 7 % 11 + 1)) for n in range(40)]
    evaluate_sync(cases, [create_metric("length", unit="words", maximum=8)], out=tmp_path)
    report = Report.read(tmp_path)

    first, again = (render_page(report, bounds=FEW) for _ in range(2))

    assert first == again
    data = data_of(first)
    assert len(data["cases"]) == 20
    by_id = {case.id: case.output for case in cases}
    assert all(case["output"] == by_id[case["id"]] for case in data["cases"])


def test_prompts_and_forms_of_kept_cases(tmp_path: Path, runs: SimpleNamespace) -> None:
    keys = runs.write_tape(tmp_path, {f"text {i}": "{}" for i in range(40)})
    rows = [
        (Case(id=f"c{i}"), {"helpful": runs.judged(i / 40, keys[f"text {i}"])}) for i in range(40)
    ]
    report = runs.report_of(rows, folder=tmp_path)

    html = render_page(report, bounds=FEW)

    data = data_of(html)
    assert all(case["asked"] for case in data["cases"])
    assert data["forms"] == data_of(render_page(report))["forms"]
    assert "raw replies of the 20 worst" in Page(html).text


def noise(size: int, seed: int) -> str:
    # Random letters: text that hardly shrinks when it is compressed.
    letters = "".join(map(chr, range(0x4E00, 0x9000)))
    return "".join(random.Random(seed).choices(letters, k=size))


def test_a_page_is_bounded_by_bytes_and_cuts_texts(runs: SimpleNamespace) -> None:
    bounds = BOUNDS._replace(cases=150, page=2_800_000)
    rows = [
        (
            Case(id=f"c{n}", output=noise(30_000 if n == 7 else 1_500, n), system=noise(900, -n)),
            {"helpful": Score(value=n / 200, reason=noise(500, n + 1000))},
        )
        for n in range(200)
    ]

    html = render_page(runs.report_of(rows), bounds=bounds)

    data = data_of(html)
    assert len(html.encode()) < bounds.page
    worst, cut = data["cases"][0], next(c for c in data["cases"] if c["id"] == "c7")
    assert len(worst["output"]) == 1_500
    assert cut["output"].endswith("… (10,000 more characters)")
    last = data["cases"][data["order"][-1]]
    assert last["output"].endswith("… (1,100 more characters)")
    assert len(last["rows"]["helpful"]["reason"]) < 500
    assert len(data["texts"][last["system"]]) < 500
    assert last["digest"] not in {c["digest"] for c in data["cases"] if c is not last}
    assert "of them are cut." in Page(html).text


def test_a_case_that_is_too_large_does_not_end_the_page(runs: SimpleNamespace) -> None:
    rows = runs.simple_rows(30)
    many = [f"context {n} " * 30 for n in range(20_000)]
    rows[0] = (Case(id="huge", context=many), {"helpful": runs.judged(0.0)})
    rows[1] = (Case(id="long", output="word " * 1_000_000), {"helpful": runs.judged(0.0)})

    data = data_of(html := render_page(runs.report_of(rows), bounds=FEW))

    kept = [case["id"] for case in data["cases"]]
    assert "huge" not in kept
    assert "long" in kept
    assert len(html) < 1_000_000


def test_the_choice_is_bounded_in_memory() -> None:
    choice = Choice(10)
    for n in range(1000):
        choice.add(KeptCase(n, n, Rank(-(n % 3 == 0), 0, n / 1000)), f"{n}")

    kept = list(choice.finish())

    assert [case.number for case in kept] == list(range(0, 30, 3))
    assert choice.failing == 334
