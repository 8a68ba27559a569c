from __future__ import annotations

import pytest

from judgekit.core.case import Case
from judgekit.core.display.text import cells
from judgekit.core.judgment import Quote
from judgekit.core.score import Failure, Fallback, Part, Row, Score
from judgekit.report.display import summary_text
from judgekit.report.export.markdown import markdown_lines
from judgekit.report.text import row_text, savings_line
from judgekit.runner.evaluation import evaluate_sync

MANIFEST = {
    "suite": {"name": "Mine"},
    "judge": {"model": "fake/judge"},
    "notice": "Made up by hand. " * 9,
}


@pytest.fixture
def report_for(runs):
    return runs.report_of


def rows(*results):
    return [(Case(id=f"c{n}"), {"m": result}) for n, result in enumerate(results)]


def scored(*values):
    return rows(*(Score(value=value, reason=f"Reason of {value}.") for value in values))


def test_a_summary_says_all_figures(report_for):
    report = report_for(
        scored(0.25, 0.75, 0.5),
        manifest=MANIFEST,
        thresholds={"m": 0.5},
        gates={"m": {"mean": 0.5, "pass_rate": 0.9}},
        run={"origins": {"tape": 3}, "spent": 0.0, "avoided": 0.75, "unused": 2},
    )

    lines = summary_text(report).splitlines()

    assert lines[0] == "Mine: 3 cases, judge fake/judge"
    assert any(line.split()[:2] == ["m", "0.50"] and "67%" in line for line in lines)
    assert any(line.startswith("pass  m: mean 0.500 [") for line in lines)
    assert any(line.startswith("MISS  m: pass rate 0.667 [") for line in lines)
    assert ["c0", "0.25", "Reason", "of", "0.25."] in [line.split() for line in lines]
    # That few scores say little is about judges; a computed figure is what it is.
    assert not any("say little" in line for line in lines)
    assert any("3 from the tape" in line and "$0.75" in line for line in lines)


@pytest.mark.parametrize(
    ("run", "line"),
    [
        ({}, None),
        (
            {"cache_tokens": {"read": 36072, "written": 9018}, "saved": 0.0302},
            "prompt cache: 36,072 tokens read, 9,018 written; $0.0302 saved by cache and tier",
        ),
        (
            {"tiers": {"batch": 1, "flex": 8}, "saved": 0.5},
            "tier batch: 1 reply; tier flex: 8 replies; $0.5000 saved by cache and tier",
        ),
        (
            {"cache_tokens": {"read": 0, "written": 9}, "saved": -0.25},
            "prompt cache: 0 tokens read, 9 written; $0.2500 more, for cache writes",
        ),
        ({"cache_tokens": {"read": "many", "written": -1}, "tiers": ["x"], "saved": "all"}, None),
    ],
)
def test_savings_are_in_the_summary_and_in_markdown(report_for, run, line):
    report = report_for(scored(0.25, 0.75), manifest=MANIFEST, run={"origins": {"live": 2}, **run})

    assert savings_line(report.run) == line
    found = [text for text in summary_text(report).splitlines() if text == line]
    assert found == ([] if line is None else [line])
    words = ("prompt cache", "tier batch")
    written = [text for text in markdown_lines(report, ()) if any(w in text for w in words)]
    assert len(written) == (line is not None)


def test_what_went_wrong_stands_in_the_summary(report_for):
    report = report_for(
        rows(
            Score(value=0.5, fallback=Fallback(substitute="s", cause="c")),
            Failure(kind="refused", message="No."),
            Score(status="abstained"),
        ),
        incomplete=("1 row failed",),
    )

    text = summary_text(report)

    assert "1 fallback, 1 abstained, 1 failed" in text
    assert "mean with fallbacks 0.50" in text
    assert "m: first failure: c1: No." in text
    assert text.endswith("incomplete: 1 row failed\n")


@pytest.mark.parametrize("width", [60, 80, 100])
def test_no_line_is_wider_than_the_terminal(report_for, width):
    report = report_for(
        rows(*(Score(value=0.5, reason="Because it is so. " * 30) for _ in range(5))),
        manifest=MANIFEST,
        gates={"m": {"mean": 0.5, "min": 0.5}},
    )

    lines = summary_text(report, width=width).splitlines()
    assert [line for line in lines if len(line) > width] == []


def test_colours_are_only_used_where_wanted(report_for):
    report = report_for(scored(0.5), gates={"m": {"mean": 0.4, "min": 0.9}})

    assert "\x1b" not in summary_text(report)
    assert "\x1b[32mpass  m: mean" in summary_text(report, colour=True)
    assert "\x1b[31mMISS  m: lowest" in summary_text(report, colour=True)


def test_nothing_of_a_case_or_a_reply_can_move_the_cursor(report_for):
    evil = "\x1b[2J\x07evil"
    report = report_for(
        [
            (Case(id=evil), {"m": Score(value=0.1, reason=evil)}),
            (Case(id=f"{evil}2"), {"m": Failure(kind="refused", message=evil)}),
        ],
        manifest={"suite": {"name": evil}, "notice": evil, "judge": {"model": evil}},
        run={"origins": {"tape": 1}},
    )
    row = Row(
        case="c",
        metric="m",
        result=Score(
            value=0.5,
            reason=evil,
            method=evil,
            fallback=Fallback(substitute="s", cause=evil),
            parts=(
                Part(
                    id="a",
                    value=0.5,
                    reason=evil,
                    quotes=(Quote(text=evil),),
                    items=({"item": evil, "reason": evil, "met": True},),
                ),
            ),
        ),
    )

    assert "\x1b" not in summary_text(report)
    assert "\x1b" not in row_text(row)
    assert "\x1b" not in row_text(
        Row(case="c", metric="m", result=Failure(kind="empty", message=evil))
    )


def test_the_scale_is_that_of_the_metric(report_for):
    report = report_for(rows(Score(value=0.85, scale=10.0), Score(value=0.75, scale=10.0)))

    assert " 8.00 " in summary_text(report)


def test_lower_is_better_names_the_highest(report_for):
    report = report_for(scored(0.1, 0.9), lower_is_better=["m"], thresholds={"m": 0.5})

    lines = summary_text(report, worst=1).splitlines()
    assert lines[lines.index("highest m") + 2].split()[:2] == ["c1", "0.90"]


def test_a_row_is_explained_part_by_part():
    row = Row(
        case="c",
        metric="m",
        result=Score(
            value=0.5,
            scale=10,
            source="judge",
            method="fake by mine@1",
            reason="Half of it.",
            parts=(
                Part(id="a", value=0.5, weight=1.0, reason="so", quotes=(Quote(text="q"),)),
                Part(
                    id="b",
                    status="abstained",
                    items=(
                        {"item": "one", "reason": "r", "met": True},
                        {"item": "two", "reason": "s", "met": False},
                    ),
                ),
            ),
        ),
    )

    assert row_text(row).splitlines() == [
        "m: 5 of 10",
        "  judge, fake by mine@1",
        "  Half of it.",
        "  a: 0.50 (weight 1.00) so",
        '      "q" (NOT FOUND in the case)',
        "  b: abstained (weight 0.00)",
        "      met      one: r",
        "      not met  two: s",
    ]


@pytest.mark.parametrize(("threshold", "word"), [(0.5, ", passes"), (0.6, ", does not pass")])
def test_a_row_says_whether_it_passes(threshold, word):
    row = Row(case="c", metric="m", result=Score(value=0.5))

    assert row_text(row, threshold=threshold).startswith(f"m: 0.5{word}\n")


def test_a_failure_is_one_sentence():
    row = Row(case="c", metric="m", result=Failure(kind="refused", message="It declined."))

    assert row_text(row) == "m: no score (refused): It declined.\n"


class Odd:
    """A metric of any name that fails, abstains and scores in turn."""

    range = (0.0, 1.0)
    higher_is_better = True

    def __init__(self, name):
        self.name = name

    async def score(self, case):
        turn = int(case.metadata["turn"])
        if turn == 0:
            raise ZeroDivisionError("no " * 60)
        if turn == 1:
            return Score(status="abstained", reason="日本語" * 30)
        if turn == 2:
            return Score(status="not_applicable", reason="no")
        return Score(value=turn / 10, reason="👩‍🚒 sagt: " + "überaus lange Wörter " * 9)


@pytest.mark.parametrize("width", [60, 80, 100])
def test_the_summary_fits_whatever_the_names(width):
    cases = [
        Case(id=f"{'日本語の場合' * 9}{n}" if n % 2 else f"case-{'x' * 90}{n}", output="a",
             metadata={"turn": n % 7})
        for n in range(21)
    ]  # fmt: skip
    names = ["a_metric_with_a_name_that_no_column_holds", "日本語の指標", "👍", "m"]
    report = evaluate_sync(
        cases,
        [Odd(name) for name in names],
        thresholds=dict.fromkeys(names, 0.5),
        gates={name: {"mean": 0.9, "pass_rate": 0.5} for name in names},
        manifest={"suite": {"name": "A suite of a long name " * 6}, "notice": "お知らせ " * 40},
    )

    lines = summary_text(report, width=width).splitlines()

    assert [line for line in lines if cells(line) > width] == []
    heads = [line for line in lines if " computed," in line]
    starts = {cells(line[: line.index("[0.")]) for line in heads}
    assert len(heads) == len(names)
    assert len(starts) == 1  # in a column, wide signs or not


@pytest.mark.parametrize("width", [60, 80, 120])
def test_eight_metrics_fit_on_one_screen(report_for, width):
    names = [f"metric_number_{n}" for n in range(8)]
    cases = [
        (Case(id=f"{n:012x}"), {m: Score(value=n / 40, reason="Why. " * 40) for m in names})
        for n in range(40)
    ]
    gates = {name: {"mean": 0.4} for name in names[:4]}
    report = report_for(cases, thresholds=dict.fromkeys(names[:6], 0.5), gates=gates)
    report.places |= {f"{n:012x}": f"cases.csv:{n + 2}" for n in range(40)}

    lines = summary_text(report, width=width).splitlines()

    assert 20 < len(lines) < 40
    assert max(map(len, lines)) <= width
    # One row for each metric with a threshold or a gate, with file and line in full.
    assert sum(line.startswith("metric_number_") and " cases.csv:2 " in line for line in lines) == 6
    assert "\x1b" not in "".join(lines)
