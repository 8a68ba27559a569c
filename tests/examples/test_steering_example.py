"""The steering example: what its README promises holds, offline and with nobody to judge."""

from __future__ import annotations

import asyncio
import json
import re
from collections import Counter
from pathlib import Path

import pytest

from judgekit.datasets import load_cases
from judgekit.suite.overrides import Overrides
from judgekit.suite.run import run_suite
from judgekit.suite.suite import load_suite
from tests.examples.new_tape import new_tape

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "steering"
CASSETTE = ROOT / "cassettes" / "steering.jsonl"
CASES = {case.id: case for case in load_cases(EXAMPLE / "cases.jsonl")}
VERDICTS = [
    json.loads(line) for line in (EXAMPLE / "verdicts.jsonl").read_text("utf-8").splitlines()
]
TRAITS = ("british", "formal", "creative")


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    out = tmp_path_factory.mktemp("steering")
    return asyncio.run(run_suite(load_suite(EXAMPLE / "suite.yaml"), out=out))


def rows(report, metric):
    return {
        row.case: row.result
        for scored in report.results
        for row in scored.rows
        if row.metric == metric
    }


def test_it_passes_offline_and_uses_every_record(report):
    assert report.exit_code == 0
    assert (report.run["origins"], report.run["unused"]) == ({"tape": 15}, 0)
    assert (report.folder / "tape.jsonl").read_bytes() == CASSETTE.read_bytes()


def test_the_cassette_is_what_the_verdicts_say(tmp_path, monkeypatch):
    monkeypatch.setenv("JUDGEKIT_HOME", str(tmp_path / "store"))
    suite = load_suite(EXAMPLE / "suite.yaml", Overrides(record="all"))
    again = new_tape(tmp_path / "again.jsonl", like=CASSETTE)
    suite.cassette.path = again

    asyncio.run(run_suite(suite))

    assert again.read_bytes() == CASSETTE.read_bytes()


def test_there_are_five_cases_of_each_trait():
    traits = Counter(case.metadata["trait"] for case in CASES.values())

    assert traits == dict.fromkeys(TRAITS, 5)
    assert {(v["case"], v["metric"]) for v in VERDICTS} == {
        (case.id, case.metadata["trait"]) for case in CASES.values()
    }


@pytest.mark.parametrize("trait", TRAITS)
def test_an_answer_that_barely_moved_scores_zero_and_no_other_does(report, trait):
    for id, result in rows(report, trait).items():
        case = CASES[id]
        if case.metadata["trait"] != trait:
            assert result.status == "not_applicable"
        else:
            assert (result.value == 0) is (case.metadata["kind"] == "barely moved")


def test_the_rules_find_the_answer_that_repeats_and_the_one_that_refuses(report):
    faulty = [id for id, result in rows(report, "coherence_rules").items() if result.value < 1]
    refused = [id for id, result in rows(report, "refusal_rules").items() if result.value == 1]

    assert faulty == ["british-scone"]
    assert refused == ["creative-name"]


def test_it_runs_with_nobody_to_judge():
    suite = load_suite(EXAMPLE / "suite.yaml", Overrides(no_judge=True))

    report = asyncio.run(run_suite(suite))

    scored = [r for t in TRAITS for r in rows(report, t).values() if r.status == "scored"]
    assert len(scored) == 15
    assert {result.fallback.cause for result in scored} == {"no_judge"}


def masked(reason):
    """Return a reason without what a template would fill in: quotes, figures and names."""
    text = re.sub(r"""(['"“‘]).*?['"”’](?!\w)""", "#", reason)
    text = re.sub(r"\d+([.,:]\d+)*", "#", text)
    return re.sub(r"(?<!^)\b[A-ZÄÖÜ]\w+", "#", text).lower()


def test_no_reason_is_stamped_from_a_template():
    found = [masked(answer["reason"]) for v in VERDICTS for answer in v["answers"].values()]

    assert len(found) == 75
    assert len(set(found)) == len(found)


@pytest.mark.parametrize("file", ["README.md", "suite.yaml"])
def test_it_says_who_judged(file):
    text = " ".join((EXAMPLE / file).read_text("utf-8").lower().split())

    assert "authored to illustrate this example" in text
    assert "no model judged it" in text
    assert "no accuracy is implied" in text
    assert "--judge" in text
