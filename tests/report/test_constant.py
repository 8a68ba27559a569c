"""Judges whose answers hardly depend on the case."""

from __future__ import annotations

import html
import json
import random

import pytest

import judgekit
from judgekit.core.distribution import Distribution
from judgekit.core.errors import ConfigError
from judgekit.core.score import Part, Score
from judgekit.report.constant import FEWEST_CASES, AnswerTally, nearly_all
from judgekit.report.gate import check, gates_of
from judgekit.report.summary import Tally
from judgekit.suite.run import run_suite_sync
from judgekit.suite.suite import build_suite
from tests.each import each
from tests.labelled import write_lines


def part(answer, *, p=None, source="decisions", **more):
    shown = None if p is None else Distribution.of({True: p, False: 1 - p}, source=source)
    value = float(answer) if not isinstance(answer, str) else 1.0
    return Part(id="ok", value=value, answer=answer, distribution=shown, **more)


def found(parts):
    tally = AnswerTally()
    for one in parts:
        tally.add(one)
    return tally.finish()


@each(
    "parts, kind, count",
    [
        ([part(True)] * 34, "answer", 34),
        ([part(True)] * 33 + [part(False)], "answer", 33),
        ([part("good")] * 45, "answer", 45),
        ([part(n % 2 == 0, p=0.451 + n % 10 / 100) for n in range(34)], "chance", 34),
        ([part(0.31)] * 34, "answer", 34),
    ],
)
def test_constant_judges_are_named(parts, kind, count):
    one = found(parts)

    assert (one.kind, one.count, one.cases) == (kind, count, len(parts))
    assert "labels plan" in one.sentence


@each(
    "parts",
    [
        [],
        [part(True)] * (FEWEST_CASES - 1),
        [part(True)] * 32 + [part(False)] * 2,
        [part(n % 3 == 0, p=0.9 if n % 3 == 0 else 0.1) for n in range(34)],
        # Shares of samples are no probabilities that a judge gave.
        [part(n % 2 == 0, p=0.5, source="samples") for n in range(34)],
        # The verdict on one claim of several is no answer about the case.
        [part("supported", items=("a claim",))] * 34,
        [Part(id="ok", status="abstained")] * 34,
        [part(n / 5000) for n in range(5000)],
    ],
)
def test_others_are_not(parts):
    assert found(parts) is None


def test_a_judge_that_is_right_in_nine_of_ten_is_hardly_ever_named():
    draw = random.Random(2)
    named = 0
    for n in range(2_000):
        prevalence = 0.2 + 0.6 * (n % 7) / 6
        truth = [draw.random() < prevalence for _ in range(34)]
        named += found([part(t if draw.random() < 0.9 else not t) for t in truth]) is not None
    assert named <= 0.02 * 2_000


def test_the_fewest_cases():
    assert nearly_all(FEWEST_CASES, FEWEST_CASES)
    assert not nearly_all(FEWEST_CASES - 1, FEWEST_CASES - 1)
    assert nearly_all(96_000, 100_000)
    assert not nearly_all(94_000, 100_000)


def tallied(values, **more):
    tally = Tally("m", range=(0, 1), higher_is_better=True, threshold=None)
    for n, value in enumerate(values):
        own = Part(id="ok", value=value, answer=bool(value), weight=1.0)
        tally.add(f"c{n}", Score(value=value, parts=(own,), source="judge", **more))
    return tally.finish()


@each(
    "values, passed, answer, words",
    [
        ([1.0] * 34, False, "misses", "m: ok: the judge answered yes in 34 of 34 cases"),
        ([1.0, 0.0] * 17, True, "meets", "m: the answers to each criterion differ between cases"),
        ([1.0] * 20, True, "meets", "m: too few cases to call the judge of ok constant"),
        ([], False, "unknown", "m: constant is unknown: no criterion was answered"),
    ],
)
def test_a_gate_on_constant_answers(values, passed, answer, words):
    (gate,) = gates_of("m", {"constant": "fail"}, threshold=None)

    result = check(gate, tallied(values))

    assert (result.passed, result.answer) == (passed, answer)
    assert result.sentence.startswith(words)


def test_without_the_gate_nothing_fails():
    assert gates_of("m", {"constant": "pass"}, threshold=None) == []
    several = gates_of("m", {"mean": 0.5, "constant": "fail", "where": {"a": "b"}}, threshold=None)
    assert [(one.statistic, one.where) for one in several] == [
        ("mean", {"a": "b"}),
        ("constant", {"a": "b"}),
    ]
    with pytest.raises(ConfigError, match=r"constant is pass or fail, not 0\.5"):
        gates_of("m", {"constant": 0.5}, threshold=None)


def test_terminal_page_json_and_exports_name_it(tmp_path):
    write_lines(tmp_path / "cases.jsonl", [{"id": f"c{n}", "output": f"a {n}"} for n in range(34)])
    answers = [{"case": f"c{n}", "rubric": "m", "answers": {"ok": True, "kind": n % 2 == 0}}
               for n in range(34)]  # fmt: skip
    write_lines(tmp_path / "v.jsonl", answers)
    criteria = {name: {"text": f"{name}?", "kind": "boolean"} for name in ("ok", "kind")}

    def run(gate, **more):
        built = build_suite({
            "cases": "cases.jsonl", "judge": {"recorded": "v.jsonl"}, "record": "new_episodes",
            "metrics": {"m": {"criteria": criteria, "gate": gate}}, **more,
        }, base=tmp_path)  # fmt: skip
        return run_suite_sync(built, out=tmp_path / "run", page=True)

    report = run({"mean": 0.5})

    assert report.exit_code == 0
    words = "ok: the judge answered yes in 34 of 34 cases; answers that are all alike"
    assert f"m: {words}" in " ".join(report._repr_html_().split())
    assert words in html.unescape((tmp_path / "run" / "report.html").read_text("utf-8"))
    known = json.loads((tmp_path / "run" / "report.json").read_text("utf-8"))
    assert [one.get("constant") for one in known["metrics"][0]["criteria"]] == [
        {"kind": "answer", "count": 34, "cases": 34, "answer": "yes"},
        None,
    ]
    report.export("markdown", tmp_path / "out.md")
    assert "the judge answered yes in 34 of 34" in (tmp_path / "out.md").read_text("utf-8")
    assert judgekit.Report.read(tmp_path / "run").metrics["m"].constant_lines
    assert run({"mean": 0.5, "constant": "fail"}).exit_code == 1
