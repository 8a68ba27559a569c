"""Comparison of a calibrated score with a judge: who is sampled, and what is said."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from judgekit.authoring.persona.diagnose import ComparedCase, SamplePlan, sample_for_judge
from judgekit.core.case import Case
from judgekit.core.errors import ConfigError

ROOT = Path(__file__).parents[3]
EXAMPLE = ROOT / "examples" / "brand_voice"


def scored(*values, scenarios=None, labels=None):
    return [
        ComparedCase(
            Case(id=str(at), output="x"),
            ((scenarios or {}).get(at, "a"),),
            (labels or [None] * len(values))[at],
            value,
        )
        for at, value in enumerate(values)
    ]


def values_of(cases, chosen):
    return sorted(cases[at].score for at in chosen)


@pytest.mark.parametrize("strategy", ["random", "stratified", "errors", "extremes", "on_failure"])
def test_there_is_always_a_case_and_never_more_than_the_budget(strategy):
    # No score is near the threshold, extreme or failing.
    for count in (1, 7, 30):
        cases = scored(*([0.7] * count))
        chosen = sample_for_judge(cases, SamplePlan(strategy, rate=0.001))
        assert len(chosen) == 1
        all_of = sample_for_judge(cases, SamplePlan(strategy, rate=1.0, budget=3))
        assert 1 <= len(all_of) <= 3


def test_strategies_choose_by_score():
    cases = scored(0.05, 0.29, 0.41, 0.5, 0.55, 0.61, 0.75, 0.81)

    chosen = {s: values_of(cases, sample_for_judge(cases, SamplePlan(s)))
              for s in ("errors", "extremes", "on_failure")}  # fmt: skip

    assert chosen["errors"] == [0.41, 0.5, 0.55]
    assert chosen["extremes"] == [0.05, 0.29, 0.81]
    assert chosen["on_failure"] == [0.05, 0.29, 0.41, 0.5, 0.55]


def test_labels_decide_what_an_error_is():
    cases = scored(0.9, 0.8, 0.1, 0.2, labels=[0, 1, 0, 1])

    assert sample_for_judge(cases, SamplePlan("errors")) == [0, 3]
    assert sample_for_judge(cases, SamplePlan("errors"), 0.15) == [0]


def test_each_scenario_has_its_share():
    scenarios = {at: "rare" if at >= 38 else "often" for at in range(40)}
    cases = scored(*([0.5] * 40), scenarios=scenarios)

    chosen = sample_for_judge(cases, SamplePlan("stratified", rate=0.2))

    assert sum(at >= 38 for at in chosen) == 2
    assert sum(at < 38 for at in chosen) == 4


def test_a_sample_depends_on_its_seed_alone():
    cases = scored(*([0.5] * 40))
    first = sample_for_judge(cases, SamplePlan("random"))

    assert sample_for_judge(cases, SamplePlan("random")) == first
    assert sample_for_judge(cases, SamplePlan("random", seed=1)) != first
    assert len(first) == 8


def test_an_unknown_strategy_is_refused():
    with pytest.raises(ConfigError, match="unknown strategy; did you mean 'errors'"):
        sample_for_judge(scored(0.5), SamplePlan("eror"))


@pytest.mark.parametrize("flags", [("--budget", "0"), ("--rate", "2"), ("--threshold", "7")])
def test_figures_out_of_range_are_refused(example, judgekit, flags):
    done = judgekit("persona", "diagnose", "tamarind.yaml", "suite.yaml", *flags)

    assert done.code == 2
    assert flags[0] in done.err


@pytest.fixture
def example(tmp_path, monkeypatch):
    """The example of Tamarind with its tape, and labels of its replies."""
    for name in ("tamarind.yaml", "tamarind_sessions.jsonl", "tamarind_verdicts.jsonl"):
        shutil.copy(EXAMPLE / name, tmp_path)
    tape = ROOT / "cassettes" / "brand_voice_tamarind.jsonl"
    suite = (EXAMPLE / "suite_tamarind.yaml").read_text("utf-8")
    path = f"../../cassettes/{tape.name}"
    (tmp_path / "suite.yaml").write_text(suite.replace(path, tape.name), "utf-8")
    shutil.copy(tape, tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_suite_is_diagnosed_offline_from_its_own_tape(example, judgekit):
    before = (example / "brand_voice_tamarind.jsonl").read_bytes()

    done = judgekit(
        "persona", "diagnose", "tamarind.yaml", "suite.yaml", "--sample", "random", "--rate", "1",
        "--json",
    )  # fmt: skip

    data = json.loads(done.out)
    assert done.code == 0
    assert (data["cases"], data["judged"], data["missing"]) == (12, 12, 0)
    assert data["agree"] + len(data["disagreements"]) == 12
    assert data["low"] < data["agree"] / 12 < data["high"]
    distances = [abs(each["score"] - each["judge"]) for each in data["disagreements"]]
    assert distances == sorted(distances, reverse=True)
    first = data["disagreements"][0]
    assert "turn" in first["score_reason"]
    assert first["judge_reason"]
    assert first["suggestion"]
    assert (example / "brand_voice_tamarind.jsonl").read_bytes() == before


def test_a_diagnosis_in_words_says_which_turn_and_why(example, judgekit):
    done = judgekit("persona", "diagnose", "tamarind.yaml", "suite.yaml", "--threshold", "0.5",
                    "--sample", "random", "--rate", "1")  # fmt: skip

    assert "12 cases, 12 judged; judge and score are on the same side of 0.5 in 4" in done.out
    assert "\ngift-box-calibrated: score 0.35, judge 0.97\n  score: 0.35 like Tamarind" in done.out


def test_scenarios_have_their_figures_the_lowest_first(example, judgekit):
    done = judgekit("persona", "scenarios", "tamarind.yaml", "suite.yaml", "--rate", "1", "--json")

    entries = json.loads(done.out)["scenarios"]
    assert [each["scenario"] for each in entries][:2] == ["wrong-roast", "pause-holiday"]
    assert [each["score"] for each in entries] == sorted(each["score"] for each in entries)
    assert sum(each["judged"] for each in entries) == 12
    assert entries[0]["weaknesses"] == ["slang", "no remedy"]


def test_a_sample_asks_the_judge_about_no_other_case(example, judgekit):
    done = judgekit("persona", "scenarios", "tamarind.yaml", "suite.yaml", "--budget", "2")

    assert "12 cases, 2 judged" in done.out


def test_labels_are_diagnosed_with_a_judge_of_their_own(example, judgekit):
    rows = [
        {"text": "No worries, fresh beans are on us! Enjoy your brew.", "label": 0,
         "scenario_tags": ["scenario:praise"]},
        {"text": "Kindly note our policy, valued customer.", "label": 0},
    ]  # fmt: skip
    Path("labels.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")

    done = judgekit(
        "persona", "diagnose", "tamarind.yaml", "labels.jsonl", "--judge", "fake/judge",
        "--threshold", "0.3", "--json",
    )  # fmt: skip
    tags = judgekit("persona", "scenarios", "tamarind.yaml", "labels.jsonl", "--judge",
                    "fake/judge", "--json")  # fmt: skip

    assert json.loads(done.out)["judged"] == 1
    names = {each["scenario"] for each in json.loads(tags.out)["scenarios"]}
    assert names == {"praise", "untagged"}


def test_a_reply_that_is_not_recorded_is_missing_and_costs_nothing(example, judgekit):
    Path("brand_voice_tamarind.jsonl").write_text("")

    done = judgekit("persona", "diagnose", "tamarind.yaml", "suite.yaml", "--budget", "1")

    assert done.code == 3
    assert "1 without a verdict" in done.out
    assert "Not recorded yet" in done.err


def test_labels_need_a_judge(example, judgekit):
    Path("labels.jsonl").write_text('{"text": "x", "label": 1}\n')

    done = judgekit("persona", "diagnose", "tamarind.yaml", "labels.jsonl")

    assert done.code == 2
    assert "no judge is given: add --judge MODEL, or name a suite that has one" in done.err


@pytest.mark.thorough
def test_the_judge_can_be_compared_on_held_out_labels_alone(calibrated, judgekit):
    flags = ("--judge", "fake/judge", "--sample", "random", "--held-out", "--json")

    done = judgekit("persona", "diagnose", "acme.yaml", "labels.jsonl", *flags)
    calibrated.write(calibrated.rows[:50])
    other = judgekit("persona", "diagnose", "acme.yaml", "labels.jsonl", *flags)

    data = json.loads(done.out)
    assert data["cases"] == 80
    assert data["judged"] == 16
    assert data["threshold"] not in (0.5, None)
    assert "labels.jsonl: the calibration was made with other labels" in other.err
