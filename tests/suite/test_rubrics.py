"""A suite sets the parameters of its rubrics; flags go before it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from judgekit.core.errors import ConfigError
from judgekit.suite.overrides import Overrides
from judgekit.suite.suite import load_suite

TONE = """\
---
name: tone
extends: base
description: Tone.
parameters:
  audience: {choices: [adults, children], default: adults}
  words: {kind: integer, default: 50}
criteria:
  fit: {text: "For {{ parameters.audience }} in {{ parameters.words }} words?", quotes: true}
---
"""
SUITE = """\
cases: cases.jsonl
judge: fake/judge
metrics:
  tone:
    parameters: {audience: children}
  grown:
    rubric: tone
    threshold: 0.5
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a suite and its rubric, to stand in."""
    (tmp_path / "rubrics").mkdir()
    (tmp_path / "rubrics" / "tone.jinja").write_text(TONE, "utf-8")
    (tmp_path / "cases.jsonl").write_text(json.dumps({"id": "a", "output": "x"}) + "\n", "utf-8")
    (tmp_path / "suite.yaml").write_text(SUITE, "utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def settings(**overrides):
    suite = load_suite(Path("suite.yaml"), Overrides(**overrides))
    try:
        return {metric.name: metric.rubric.parameters for metric in suite.metrics}
    finally:
        suite.close()


def refused(**overrides):
    with pytest.raises(ConfigError) as caught:
        settings(**overrides)
    return str(caught.value)


def test_each_metric_has_settings_of_its_own(folder):
    assert settings() == {
        "tone": {"audience": "children", "words": 50},
        "grown": {"audience": "adults", "words": 50},
    }


def test_flags_go_before_the_suite(folder):
    flags = {"tone": {"audience": "adults", "words": "7"}}

    assert settings(settings=flags)["tone"] == {"audience": "adults", "words": 7}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("audience:", "audiense:", "5: rubric 'tone' has no parameter 'audiense'; did you mean"),
        ("children", "kids", "5: parameter 'audience' must be one of adults, children, not 'kids'"),
        ("{audience: children}", "children", "5: metrics.tone.parameters: must be keys and values"),
        (
            "  tone:\n",
            "  quality:\n    parameters: {strict: true}\n  tone:\n",
            "5: rubric 'quality' has no parameter 'strict'; known: language",
        ),
        (
            "  tone:\n",
            "  length:\n    maximum: 3\n    parameters: {a: 1}\n  tone:\n",
            "6: metric 'length' is no rubric; only rubrics have parameters",
        ),
    ],
)
def test_what_a_suite_sets_wrongly_is_refused_with_its_line(folder, old, new, message):
    (folder / "suite.yaml").write_text(SUITE.replace(old, new, 1), "utf-8")

    assert refused().startswith(f"suite.yaml:{message}")


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ({"tone": {"words": "x"}}, "--set tone.words=x: parameter 'words' must be a whole number"),
        ({"tone": {"word": "1"}}, "--set tone.word=1: rubric 'tone' has no parameter 'word'; did"),
        ({"ton": {"words": "1"}}, "--set ton.words: the suite has no metric 'ton'; did you mean"),
    ],
)
def test_a_wrong_flag_is_refused_by_name(folder, flags, message):
    assert refused(settings=flags).startswith(message)


def test_without_a_judge_a_wrong_setting_is_refused_as_well(folder):
    text = SUITE.replace("children", "kids").replace("tone:\n", "tone:\n    fallback: length\n", 1)
    (folder / "suite.yaml").write_text(text, "utf-8")

    assert "must be one of adults, children" in refused(no_judge=True, only=["tone"])
