"""The brand voice example: what its README promises of sessions, verdicts and cassettes holds."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path

import pytest

from judgekit.authoring.lint.persona import lint_personas
from judgekit.datasets import load_cases
from judgekit.metrics.quote import find_quote
from judgekit.suite.overrides import Overrides
from judgekit.suite.run import run_suite
from judgekit.suite.suite import load_suite
from tests.examples.new_tape import new_tape

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "brand_voice"
PERSONAS = ("tamarind", "meridian")
CASES = {
    persona: {
        case.id: case for case in load_cases(EXAMPLE / f"{persona}_sessions.jsonl", format="turns")
    }
    for persona in PERSONAS
}
VERDICTS = {
    persona: [
        json.loads(line)
        for line in (EXAMPLE / f"{persona}_verdicts.jsonl").read_text("utf-8").splitlines()
    ]
    for persona in PERSONAS
}


def reasons():
    for verdicts in VERDICTS.values():
        for verdict in verdicts:
            for answer in verdict["answers"].values():
                yield answer["reason"]


def masked(reason):
    """Return a reason without what a template would fill in: quotes, figures and names."""
    text = re.sub(r"""(['"“‘]).*?['"”’](?!\w)""", "#", reason)
    text = re.sub(r"\d+([.,:]\d+)*", "#", text)
    return re.sub(r"(?<!^)\b[A-Z]\w+", "#", text).lower()


def test_there_are_two_personas_and_both_kinds_of_assistant_in_every_scenario():
    assert sum(map(len, CASES.values())) >= 20
    for cases in CASES.values():
        kinds = [(c.metadata["scenario"], c.metadata["assistant"]) for c in cases.values()]
        scenarios = {scenario for scenario, _ in kinds}
        assert sorted(kinds) == sorted(
            (scenario, kind) for scenario in scenarios for kind in ("calibrated", "drifting")
        )
        assert all(c.history and c.input and c.output for c in cases.values())


def test_the_personas_have_nothing_to_mend():
    assert lint_personas([EXAMPLE / f"{p}.yaml" for p in PERSONAS]).findings == ()


@pytest.mark.parametrize("persona", PERSONAS)
def test_every_session_is_judged_by_both_rubrics_once(persona):
    judged = [(verdict["case"], verdict["rubric"]) for verdict in VERDICTS[persona]]

    assert sorted(judged) == sorted(
        (case, rubric)
        for case in CASES[persona]
        for rubric in ("brand_safety", "authenticity_judge")
    )


def test_no_two_reasons_are_equal_once_names_and_numbers_are_masked():
    found = [masked(reason) for reason in reasons()]

    assert len(found) == 96
    assert {reason for reason in found if found.count(reason) > 1} == set()


@pytest.mark.parametrize("persona", PERSONAS)
def test_every_quote_stands_in_its_session(persona):
    for verdict in VERDICTS[persona]:
        for answer in verdict["answers"].values():
            for quote in answer.get("quotes", ()):
                assert find_quote(quote, CASES[persona][verdict["case"]]), (verdict["case"], quote)


@pytest.mark.parametrize("persona", PERSONAS)
def test_the_cassette_is_what_the_verdicts_say(persona, tmp_path):
    suite = load_suite(EXAMPLE / f"suite_{persona}.yaml", Overrides(record="all"))
    committed = ROOT / "cassettes" / f"brand_voice_{persona}.jsonl"
    recorded = new_tape(tmp_path / "again.jsonl", like=committed)
    assert suite.cassette is not None
    suite.cassette.path = recorded

    asyncio.run(run_suite(suite))

    assert recorded.read_bytes() == committed.read_bytes()


@pytest.mark.parametrize("persona", PERSONAS)
def test_it_passes_offline_uses_every_record_and_prefers_the_calibrated_assistant(
    persona, tmp_path
):
    report = asyncio.run(run_suite(load_suite(EXAMPLE / f"suite_{persona}.yaml"), out=tmp_path))

    assert report.exit_code == 0
    assert (report.run["origins"], report.run["unused"]) == ({"tape": 24}, 0)
    values: dict[tuple[str, str, str], float] = {}
    for case, rows in report.results:
        for row in rows:
            key = (row.metric, case.metadata["scenario"], case.metadata["assistant"])
            values[key] = row.result.value
    for metric in ("brand_voice", "authenticity_judge"):
        pairs = [
            (values[metric, scenario, "calibrated"], values[metric, scenario, "drifting"])
            for m, scenario, kind in values
            if m == metric and kind == "calibrated"
        ]
        assert sum(better for better, _ in pairs) > sum(worse for _, worse in pairs)
        assert all(better > worse for better, worse in pairs), (metric, pairs)


@pytest.mark.parametrize("persona", PERSONAS)
def test_without_a_judge_the_rules_stand_in_and_are_marked(persona, tmp_path):
    suite = load_suite(EXAMPLE / f"suite_{persona}.yaml", Overrides(no_judge=True))

    report = asyncio.run(run_suite(suite, out=tmp_path))

    assert report.exit_code == 0
    for _, rows in report.results:
        assert {row.result.fallback.substitute for row in rows} == {
            "brand_voice_rules",
            "authenticity",
        }


@pytest.mark.parametrize("file", ["README.md", *(f"suite_{p}.yaml" for p in PERSONAS)])
def test_it_says_who_judged(file):
    text = " ".join((EXAMPLE / file).read_text("utf-8").lower().split())

    assert "authored to illustrate this example" in text
    assert "no model judged it" in text
    assert "no accuracy is implied" in text
    assert "--judge" in text
