"""Every judged metric of the families can be named in a suite, without an option more."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from judgekit.cli.app import app
from judgekit.core.errors import ConfigError
from judgekit.metrics.catalogue import BUILTIN, FAMILIES
from judgekit.metrics.registry import create_metric
from judgekit.suite.suite import build_suite

JUDGED = [
    entry.name
    for family in ("grounding", "safety and quality", "agents")
    for entry in FAMILIES[family]
    if entry.judged
]


def suite(metrics, base=Path()):
    data = {"cases": "cases.jsonl", "judge": "fake/judge", "metrics": metrics}
    return build_suite(data, base=base)


@pytest.mark.parametrize("name", JUDGED)
def test_a_suite_may_name_it(name):
    made = suite({name: None})

    assert made.metrics[0].name == name
    assert made.metrics[0].made_with["model"] == "fake/judge"
    made.close()


def test_options_and_parameters_are_taken_from_the_suite():
    made = suite(
        {
            "strict": {"metric": "faithfulness", "tau": 0.9, "max_claims": 5},
            "pirate": {"metric": "tone_compliance_judge", "tone": "pirate", "meaning": "Arr."},
            "toxicity": {"categories": {"spam": "Is it advertising?"}, "gate": {"safety_rate": 1}},
        }
    )

    strict, pirate, toxicity = made.metrics
    assert (strict.name, strict.tau, strict.max_claims) == ("strict", 0.9, 5)
    assert pirate.tone == "pirate"
    assert toxicity.options["categories"] == {"spam": "Is it advertising?"}
    made.close()


def test_a_rubric_beside_the_suite_goes_before_the_built_in_one(tmp_path):
    (tmp_path / "claim_support.jinja").write_text(
        "---\nname: claim_support\nversion: 7\nextends: base\n"
        "criteria:\n  support: {text: Is it so?, quotes: true}\n---\n",
        "utf-8",
    )

    made = suite({"faithfulness": None}, base=tmp_path)

    assert "claim_support@7" in made.metrics[0]._method
    made.close()


def test_a_first_run_says_that_more_calls_will_follow(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "cases.jsonl").write_text('{"id": "a", "output": "x", "context": ["y"]}\n', "utf-8")
    said = {}
    for name in ("faithfulness", "coherence"):
        (tmp_path / "suite.yaml").write_text(
            f"cases: cases.jsonl\njudge: fake/judge\nmetrics: {{{name}: }}\n", "utf-8"
        )
        said[name] = CliRunner().invoke(app, ["run", "suite.yaml"]).output

    assert "at least 1 call to fake/judge" in said["faithfulness"]
    assert "Later calls of faithfulness depend on these replies." in said["faithfulness"]
    assert "1 call to fake/judge" in said["coherence"]
    assert "Later calls" not in said["coherence"]


def test_more_calls_are_announced_for_the_parts_of_a_combined_metric(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "cases.jsonl").write_text('{"id": "a", "output": "x", "context": ["y"]}\n', "utf-8")
    (tmp_path / "suite.yaml").write_text(
        "cases: cases.jsonl\njudge: fake/judge\nmetrics:\n"
        "  faithfulness:\n  coherence:\n"
        "  inner: {combine: min, of: [coherence, faithfulness]}\n"
        "  all: {combine: mean, of: [inner, coherence]}\n",
        "utf-8",
    )
    run = CliRunner().invoke(app, ["run", "suite.yaml"]).output
    doctor = CliRunner().invoke(app, ["doctor", "suite.yaml", "--json"]).output

    # Several metrics take the score of coherence, but its judge is called once.
    assert "2 calls to fake/judge" in run
    assert "Later calls of faithfulness depend on these replies." in run
    assert json.loads(doctor)["missing"][0]["calls"] == 2
    assert json.loads(doctor)["further"] == ["faithfulness"]


@pytest.mark.parametrize("name", JUDGED)
def test_without_a_judge_it_takes_its_stand_in_or_says_that_it_has_none(name):
    data = {"cases": "cases.jsonl", "judge": "none", "metrics": {name: None}}
    if BUILTIN[name].stand_in is None:
        with pytest.raises(ConfigError, match="needs a judge"):
            build_suite(data, base=Path())
    else:
        made = build_suite(data, base=Path())
        assert made.metrics[0].fallback.name == create_metric(BUILTIN[name].stand_in).name
        made.close()
