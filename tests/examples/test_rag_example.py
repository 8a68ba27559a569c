"""The garden handbook: its verdicts, its recording, and what its metrics make of known defects."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path

import pytest

from judgekit.core.case import Case
from judgekit.datasets import load_cases
from judgekit.metrics.quote import find_quote
from judgekit.suite.overrides import Overrides
from judgekit.suite.run import run_suite
from judgekit.suite.suite import load_suite
from tests.examples.new_tape import new_tape

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "rag"
CASSETTE = ROOT / "cassettes" / "rag.jsonl"
CASES = {case.id: case for case in load_cases(EXAMPLE / "cases.jsonl")}
VERDICTS = [
    json.loads(line) for line in (EXAMPLE / "verdicts.jsonl").read_text("utf-8").splitlines()
]
METRICS = (
    "faithfulness", "hallucination", "answer_relevancy", "context_precision", "context_recall",
)  # fmt: skip


@pytest.fixture(scope="module")
def report():
    return asyncio.run(run_suite(load_suite(EXAMPLE / "suite.yaml")))


@pytest.fixture(scope="module")
def results(report):
    return {(row.case, row.metric): row.result for scored in report.results for row in scored.rows}


def test_there_are_enough_cases_of_many_kinds():
    kinds = {case.metadata["kind"] for case in CASES.values()}

    assert len(CASES) >= 20
    assert len(kinds) >= 15
    assert all(case.context and case.reference and case.input for case in CASES.values())


def test_it_replays_offline_and_uses_every_record(report):
    assert report.exit_code == 0
    assert report.figures.incomplete == ()
    assert set(report.run["origins"]) == {"tape"}
    assert report.run["unused"] == 0


def test_the_cassette_is_what_the_verdicts_say(tmp_path, monkeypatch):
    monkeypatch.setenv("JUDGEKIT_HOME", str(tmp_path / "store"))
    suite = load_suite(EXAMPLE / "suite.yaml", Overrides(record="all"))
    again = new_tape(tmp_path / "again.jsonl", like=CASSETTE)
    assert suite.cassette is not None
    suite.cassette.path = again

    asyncio.run(run_suite(suite))

    assert again.read_bytes() == CASSETTE.read_bytes()


def test_every_verdict_is_on_the_tape_and_no_other():
    from judgekit.cassette.tape import Tape

    def spelled(answers):
        return json.dumps(answers, sort_keys=True, ensure_ascii=False)

    recorded = [
        spelled(json.loads(record.reply.tries[-1].text or ""))
        for record in Tape(CASSETTE).records()
    ]

    assert sorted(recorded) == sorted(spelled(verdict["answers"]) for verdict in VERDICTS)


def masked(reason):
    """Return a reason without what a template would fill in: quotes, figures and names."""
    text = re.sub(r"""(['"“‘]).*?['"”’](?!\w)""", "#", reason)
    text = re.sub(r"\d+([.,:]\d+)*", "#", text)
    return re.sub(r"(?<!^)\b[A-ZÄÖÜ]\w+", "#", text).lower()


def test_no_reason_is_stamped_from_a_template():
    found = [
        masked(reason)
        for verdict in VERDICTS
        for answer in verdict["answers"].values()
        for reason in [*(i["reason"] for i in answer.get("items", ())), answer.get("reason")]
        if reason is not None
    ]

    assert len(found) > 250
    assert {reason for reason in found if found.count(reason) > 1} == set()


def test_every_quote_stands_in_a_passage_of_its_case():
    quotes = 0
    for verdict in VERDICTS:
        passages = Case(id="c", context=CASES[verdict["case"].split("/")[0]].context)
        for answer in verdict["answers"].values():
            for quote in answer.get("quotes", ()):
                assert any(quote in passage for passage in passages.context), verdict["case"]
                assert find_quote(quote, passages) == "context"
                quotes += 1

    assert quotes > 100


@pytest.mark.parametrize(
    ("case", "metric", "low", "high"),
    [
        ("rent-half", "faithfulness", 1, 1),
        ("hives", "faithfulness", 0.3, 0.4),
        ("sprinkler", "faithfulness", 0.5, 0.5),
        ("old-rent", "faithfulness", 0, 0),
        ("poisoned", "faithfulness", 0, 0),
        ("talks-to-judge", "faithfulness", 0, 0),
        ("chainsaw", "faithfulness", 1, 1),
        ("gate-code", "faithfulness", 1, 1),
        ("gate-code", "answer_relevancy", 0.25, 0.25),
        ("trees-and-more", "answer_relevancy", 0.3, 0.4),
        ("walnut", "context_precision", 0.3, 0.34),
        ("parking", "context_precision", 0, 0),
        ("parking", "context_recall", 0, 0),
    ],
)
def test_a_known_defect_shows_where_it_should(results, case, metric, low, high):
    assert low <= results[case, metric].value <= high


def test_hallucination_is_the_rest_of_faithfulness(results):
    for case in CASES:
        faithful, rest = results[case, "faithfulness"], results[case, "hallucination"]
        assert faithful.status == rest.status
        if faithful.value is not None:
            assert faithful.value + rest.value == pytest.approx(1)
    assert results["thanks", "faithfulness"].status == "not_applicable"


@pytest.mark.parametrize("file", ["README.md", "suite.yaml"])
def test_it_says_who_judged(file):
    text = " ".join((EXAMPLE / file).read_text("utf-8").lower().split())

    assert "authored to illustrate this example" in text
    assert "no model judged it" in text
    assert "no accuracy is implied" in text
    assert "--judge" in text


def test_every_metric_is_scored_on_every_case(results):
    assert {metric for _, metric in results} == set(METRICS)
    assert len(results) == len(CASES) * len(METRICS)
    assert not [key for key, result in results.items() if result.type == "failure"]
