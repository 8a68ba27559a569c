"""The support example: what its README promises of cases, verdicts and cassette holds."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from judgekit.datasets import load_cases
from judgekit.metrics.quote import find_quote
from judgekit.suite.overrides import Overrides
from judgekit.suite.suite import load_suite
from tests.examples.new_tape import new_tape

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "support_assistant"
CASSETTE = ROOT / "cassettes" / "support_assistant.jsonl"
CASES = {case.id: case for case in load_cases(EXAMPLE / "cases.jsonl")}
VERDICTS = [
    json.loads(line) for line in (EXAMPLE / "verdicts.jsonl").read_text("utf-8").splitlines()
]


def reasons():
    for verdict in VERDICTS:
        for answer in verdict["answers"].values():
            yield from (item["reason"] for item in answer.get("items", ()))
            if "reason" in answer:
                yield answer["reason"]
        yield from verdict.get("details", {}).values()


def masked(reason):
    """Return a reason without what a template would fill in: quotes, figures and names."""
    text = re.sub(r"""(['"“‘]).*?['"”’](?!\w)""", "#", reason)
    text = re.sub(r"\d+([.,:]\d+)*", "#", text)
    return re.sub(r"(?<!^)\b[A-ZÄÖÜ]\w+", "#", text).lower()


def test_there_are_enough_conversations_of_every_kind():
    kinds = {case.metadata["kind"] for case in CASES.values()}

    assert len(CASES) >= 30
    assert kinds >= {
        "good", "partial", "off_format", "ignores_system", "unsafe", "too_long", "injection",
        "other_language",
    }  # fmt: skip


def test_every_case_is_judged_by_every_metric_once():
    judged = [(verdict["case"], verdict["metric"]) for verdict in VERDICTS]

    assert sorted(judged) == sorted(
        (case, metric) for case in CASES for metric in ("prompt_alignment", "quality", "safety")
    )


def test_no_two_reasons_are_equal_once_names_and_numbers_are_masked():
    found = [masked(reason) for reason in reasons()]

    twice = {reason for reason in found if found.count(reason) > 1}
    assert len(found) > 500
    assert not twice


def test_every_quote_stands_in_its_case():
    for verdict in VERDICTS:
        for answer in verdict["answers"].values():
            for quote in answer.get("quotes", ()):
                assert find_quote(quote, CASES[verdict["case"]]), (verdict["case"], quote)


def test_the_cassette_is_what_the_verdicts_say(tmp_path):
    from judgekit.suite.run import run_suite

    suite = load_suite(EXAMPLE / "suite.yaml", Overrides(record="all"))
    recorded = new_tape(tmp_path / "again.jsonl", like=CASSETTE)
    assert suite.cassette is not None
    suite.cassette.path = recorded

    run(run_suite(suite))

    assert recorded.read_bytes() == CASSETTE.read_bytes()


def test_the_example_passes_offline_and_uses_every_record(tmp_path):
    from judgekit.suite.run import run_suite

    suite = load_suite(EXAMPLE / "suite.yaml")

    report = run(run_suite(suite, out=tmp_path))

    assert report.exit_code == 0
    assert (report.run["origins"], report.run["unused"]) == ({"tape": 102}, 0)
    assert (tmp_path / "tape.jsonl").read_bytes() == CASSETTE.read_bytes()


@pytest.mark.parametrize("file", ["README.md", "suite.yaml"])
def test_it_says_who_judged(file):
    text = " ".join((EXAMPLE / file).read_text("utf-8").lower().split())

    assert "authored to illustrate this example" in text
    assert "no model judged it" in text
    assert "no accuracy is implied" in text
    assert "--judge" in text


def run(work):
    import asyncio

    return asyncio.run(work)
