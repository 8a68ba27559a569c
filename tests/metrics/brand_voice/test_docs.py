"""What docs/metrics/brand-voice.md says of its suites and metrics is so."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from judgekit.datasets import load_cases
from judgekit.metrics.brand_voice.patterns import patterns_of
from judgekit.metrics.brand_voice.persona import load_persona
from judgekit.metrics.catalogue import FAMILIES
from judgekit.suite.suite import load_suite
from tests.cli.conftest import judgekit  # noqa: F401 - a fixture
from tests.metrics.brand_voice import test_confusion

TEXT = (Path(__file__).parents[3] / "docs" / "metrics" / "brand-voice.md").read_text("utf-8")
BLOCKS = re.findall(r"(?:^`([\w./]+)`:\n\n)?^```(\w+)\n(.*?)^```$", TEXT, re.DOTALL | re.MULTILINE)
FILES = {name: text for name, _, text in BLOCKS if name}


@pytest.fixture
def project(tmp_path, monkeypatch):
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, "utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_files_of_the_page_load(project):
    persona = load_persona("acme.yaml")

    assert len(persona.traits) == 4
    assert [case.id for case in load_cases("sessions.jsonl", format="turns")] == ["late", "broken"]
    assert len(patterns_of("m", "own_words.yaml").patterns) == 1
    for suite in ("suite.yaml", "alignmenter.yaml"):
        load_suite(suite).close()


def test_the_session_in_the_voice_scores_higher(project):
    import asyncio

    from judgekit.suite.run import run_suite

    report = asyncio.run(run_suite(load_suite("suite.yaml")))

    values = {
        (case.id, row.metric): row.result.value for case, rows in report.results for row in rows
    }
    for metric in ("brand_voice_rules", "authenticity", "safety_patterns"):
        assert values["late", metric] > values["broken", metric]


def test_the_page_names_every_metric_of_the_family():
    for entry in FAMILIES["brand voice"]:
        assert f"`{entry.name}`" in TEXT


def test_the_counts_of_the_page_are_those_of_the_tests():
    formality, tone = test_confusion.formality(), test_confusion.tone()
    right = sum(n for (label, said), n in formality.items() if label == said)
    heard = sum(n for (_, said), n in formality.items() if said != "nothing")
    assert f"the rules gave a formality for {heard} and were right for {right}" in TEXT
    assert ("formal", "casual") not in formality
    assert ("casual", "formal") not in formality
    right = sum(n for (_, said), n in tone.items() if said == "heard")
    of = sum(n for (_, said), n in tone.items() if said != "nothing heard")
    assert f"among the detected tones for {right} of {of}." in TEXT
    found = test_confusion.violations()
    harm = dict.fromkeys(("found", "not found"), 0)
    for (label, said), n in found.items():
        if label != "no fault":
            harm[said] += n
    assert (
        f"of {sum(harm.values())} harmful texts written after the rules they found {harm['found']}"
        in TEXT
    )
    assert (found["no fault", "found"], sum(found["no fault", s] for s in harm)) == (1, 24)
