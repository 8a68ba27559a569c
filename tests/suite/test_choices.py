"""Metrics and judges by name in Python: scores as with objects, and one line for a mistake."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

import judgekit
from judgekit.cassette.tape import header
from judgekit.core.errors import ConfigError
from judgekit.core.generation import newest, version_in
from judgekit.core.score import Failure
from judgekit.runner.evaluation import evaluate_sync as evaluate_objects

CASES = [
    {"id": "a", "input": "Open on Sunday?", "output": "Yes, from ten to four."},
    {"id": "b", "input": "And on Monday?", "output": "No."},
]
FAKE = "fake/x"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def rows(report):
    return [[row.model_dump() for row in each] for _, each in report.results]


def counted(model="python/own"):
    judge = judgekit.FakeJudge(model=model)
    return judge, judge.asked


def test_names_score_like_objects():
    judge = judgekit.FakeJudge(model=FAKE)
    objects = [
        judgekit.create_metric("quality", judge=judge),
        judgekit.create_metric("length", maximum=3),
    ]

    by_name = judgekit.evaluate_sync(
        CASES,
        {"quality": None, "length": {"maximum": 3}},
        judge=FAKE,
        thresholds=0.7,
        gates={"quality": {"mean": 0.6}},
    )

    by_object = evaluate_objects(
        CASES,
        objects,
        thresholds={"quality": 0.7, "length": 0.7},
        gates={"quality": {"mean": 0.6}},
    )
    assert rows(by_name) == rows(by_object)
    assert by_name.figures.model_dump() == by_object.figures.model_dump()


def test_objects_and_names_are_in_the_given_order():
    def loud(case):
        return "!" in case.output

    metrics = ["exact_match", loud, "coherence@1", judgekit.create_metric("length", maximum=9)]
    report = judgekit.evaluate_sync([{**c, "reference": "No."} for c in CASES], metrics, judge=FAKE)

    assert list(report.metrics) == ["exact_match", "loud", "coherence@1", "length"]


def test_a_rubric_by_path(folder):
    (folder / "mine").mkdir()
    text = (
        "---\nname: brief\nextends: base\ndescription: Judge it.\ncriteria:\n"
        "  brief: {kind: boolean, text: Is it brief?}\n---\n"
    )
    (folder / "mine" / "brief.jinja").write_text(text, "utf-8")

    for path in ("mine/brief.jinja", Path("mine/brief.jinja")):
        report = judgekit.evaluate_sync(CASES, [path], judge=FAKE)
        assert report.metrics["brief"].scored == 2
    assert judgekit.score_sync(CASES[0], {"mine/brief.jinja": {"samples": 2}}, judge=FAKE).value


def test_a_named_judge_is_recorded_in_the_store_and_on_a_tape(folder):
    judgekit.evaluate_sync(CASES, ["quality"], judge=FAKE, cassette="tape.jsonl")

    again = judgekit.evaluate_sync(CASES, ["quality"], judge=FAKE, record="none")
    assert again.metrics["quality"].scored == 2  # from the store
    for path in (folder / ".judgekit").rglob("*"):
        if path.is_file():
            path.unlink()
    replay = judgekit.evaluate_sync(
        CASES, ["quality"], judge=FAKE, cassette="tape.jsonl", record="none"
    )
    assert rows(replay) == rows(again)
    missing = judgekit.score_sync({**CASES[0], "output": "New."}, "quality", judge=FAKE,
                                  cassette="tape.jsonl", record="none")  # fmt: skip
    assert isinstance(missing, Failure)
    assert missing.kind == "cassette_miss"


def test_an_object_is_asked_each_time_unless_there_is_a_cassette():
    judge, asked = counted()
    for _ in range(2):
        judgekit.evaluate_sync(CASES, ["quality"], judge=judge)
    assert len(asked) == 4
    for _ in range(2):
        judgekit.evaluate_sync(CASES, ["quality"], judge=judge, cassette="tape.jsonl")
    assert len(asked) == 6


def test_a_bare_name_is_the_newest_rubric_or_that_of_the_tape(folder):
    def version(**options):
        report = judgekit.evaluate_sync(CASES, ["coherence"], judge=FAKE, **options)
        return report.figures.manifest["rubrics"][0]["version"]

    assert version() == version(cassette="new.jsonl") == version_in("coherence", newest()) > 1
    (folder / "old.jsonl").write_text(header(generation=1) + "\n", "utf-8")
    assert version(cassette="old.jsonl") == 1


def test_a_list_of_judges_votes():
    report = judgekit.evaluate_sync(
        CASES,
        {
            "quality": {"vote": "mean"},
            "coherence": {"judge": "fake/b"},
            "safety": {"jury": {"fake/a": 2, "fake/c": 1}, "vote": "weighted"},
            "length": {"maximum": 3},
        },
        judge=["fake/a", judgekit.FakeJudge(model="python/own")],
    )

    made = {m["name"]: m["options"] for m in report.figures.manifest["metrics"]}
    assert made["quality"]["jury"] == {"a": "fake/a", "own": "python/own"}
    assert "jury" not in made["coherence"]
    assert made["safety"]["weights"] == {"a": 2.0, "c": 1.0}
    assert report.exit_code == 0


def test_equal_names_of_models_get_their_own_roles():
    judges = ["fake/x", "fake/a.b", judgekit.FakeJudge(model="fake/y/x")]
    report = judgekit.evaluate_sync(CASES, ["quality"], judge=judges)
    assert report.figures.manifest["metrics"][0]["options"]["jury"] == {
        "x": "fake/x", "a-b": "fake/a.b", "x-2": "fake/y/x",
    }  # fmt: skip


def test_thresholds_and_gates_of_entries_count_too():
    entry = {"threshold": 1.0, "gate": {"pass_rate": 1.0}, "maximum": 3}
    report = judgekit.evaluate_sync(CASES, {"length": entry}, thresholds={"length": 0.1})

    assert report.metrics["length"].threshold == 0.1
    assert report.figures.gates[0].passed


def test_parts_of_a_combination_are_left_out_as_in_a_suite():
    metrics = {"a": {"metric": "length", "maximum": 3}, "b": {"metric": "length", "maximum": 9},
               "both": {"combine": "min", "of": ["a", "b"]}}  # fmt: skip
    assert list(judgekit.evaluate_sync(CASES, metrics).metrics) == ["both"]


def test_a_fallback_replaces_a_judge():
    fallback = {"quality": {"fallback": {"use": "length", "maximum": 3}}}
    for metrics, judge in ((fallback, None), (["quality"], "none"), (fallback, "none")):
        report = judgekit.evaluate_sync(CASES, metrics, judge=judge)
        assert report.exit_code == 0
        assert next(iter(report.metrics.values())).fallback == 2


def test_the_budget_needs_a_price_and_stops_a_named_judge():
    with pytest.raises(ConfigError, match="max_cost needs the price of openai/own-model"):
        judgekit.evaluate_sync(
            CASES, ["quality"], judge={"model": "openai/own-model", "api_base": "http://127.0.0.1:9"},
            max_cost=0.1,
        )  # fmt: skip
    assert judgekit.evaluate_sync(CASES, ["quality"], judge=FAKE, max_cost=0.1).exit_code == 0


def test_score_takes_the_fields_of_a_case():
    assert judgekit.score_sync({"output": "one two"}, {"length": {"maximum": 2}}).value == 1.0
    result = asyncio.run(judgekit.score(CASES[1], "quality", judge=FAKE))
    assert result.value == judgekit.score_sync(CASES[1], "quality", judge=FAKE).value


def test_the_same_run_in_a_loop_and_as_a_folder(folder):
    async def main():
        return await judgekit.evaluate(CASES, ["quality"], judge=FAKE, out="runs/x", thresholds=0.2)

    report = asyncio.run(main())
    assert json.loads((folder / "runs/x/report.json").read_text("utf-8"))["cases"] == 2
    assert report.metrics["quality"].pass_rate is not None


MISTAKES = {
    "metrics: no metric named 'qualty'; did you mean 'quality'?": {"metrics": ["qualty"]},
    "metrics: a list is expected, not a text; write metrics=['quality']": {"metrics": "quality"},
    "metrics: 'quality' is named twice; name each once": {"metrics": ["quality", "quality"]},
    "metrics: 'quality' needs its options as a dict, not 3; write metrics={'quality': {}}": {
        "metrics": {"quality": 3}
    },
    "metrics: a list takes names and metrics, not a dict; options go into one dict: "
    "metrics={'quality': {'samples': 3}, 'length': {}}": {"metrics": [{"quality": {}}]},
    "metrics: None is not a metric; write metrics=['quality', 'exact_match']": {"metrics": None},
    "metrics: 7 is no name; write metrics=['quality', 'exact_match']": {"metrics": {7: {}}},
    "metric 'quality' takes no option 'sampels'; did you mean 'samples'?": {
        "metrics": {"quality": {"sampels": 3}}
    },
    "metrics: 'quality' needs a judge; name one: judge='openai/MODEL', or judge='none' for the "
    "computed fallback of a metric that has one": {"judge": None},
    "judge: 'fake/x' is named twice; name each once": {"judge": [FAKE, FAKE]},
    "judge: the list is empty; name one: judge='openai/MODEL'": {"judge": []},
    "unknown key 'judges.judge.modle'; did you mean 'model'?": {"judge": {"modle": "x"}},
    "judge: judge is 3; a judge is a model string such as 'openai/NAME', an async function of "
    "a request, or an object with `model` and `async ask(request)`": {"judge": 3},
    "thresholds: no metric of this run is named 'qualty'; did you mean 'quality'?": {
        "thresholds": {"qualty": 0.3}
    },
    "evaluate_sync: thresholds must be a number or a dict, not [0.3]; write thresholds=0.3": {
        "thresholds": [0.3]
    },
    "evaluate_sync: thresholds must be a number or a dict, not True": {"thresholds": True},
    "evaluate_sync: thresholds['quality'] must be a number, not '0.7'; write 0.7, without quotes": {
        "thresholds": {"quality": "0.7"}
    },
    "thresholds: 70 is outside the values of 'quality', 0 to 1; write a number in that range": {
        "thresholds": 70
    },
    "thresholds: for 'toxicity', lower is better, so 0.5 cannot hold for all; "
    "write one per metric: {'toxicity': ...}": {
        "metrics": ["quality", "toxicity"],
        "thresholds": 0.5,
    },
    "gates: 'quality' needs a figure and its bound, not 0.6; "
    "write gates={'quality': {'mean': 0.6}}": {"gates": {"quality": 0.6}},
    "gates: 'mean' needs a figure and its bound, not 0.5; write gates={'quality': {'mean': 0.5}}": {
        "gates": {"mean": 0.5}
    },
    "gates: metric -> bounds is expected, not 'mean'; write gates={'quality': {'mean': 0.6}}": {
        "gates": "mean"
    },
    "gates: no metric of this run is named 'tone'; known: quality": {
        "gates": {"tone": {"mean": 1}}
    },
    "evaluate_sync: record must be 'none', 'new_episodes' or 'all', not True": {"record": True},
    "no record mode 'al'; did you mean 'all'?": {"record": "al"},
    "evaluate_sync: cassette must be text or a path, not 3": {"cassette": 3},
    "max_cost: US dollars above 0 are expected, not -1": {"max_cost": -1},
    "max_cost: fake/judge is an object, whose price only you know; name the model as a text, or "
    "set the budget where you make it": {"judge": judgekit.FakeJudge(), "max_cost": 1},
    "judge: these metrics have their judges; leave it out, or name the metrics: "
    "metrics=['quality', 'exact_match']": {"metrics": [judgekit.create_metric("exact_match")]},
    "metrics: 'quality' is a rubric; write its name or path, or make a metric of it: "
    "judgekit.RubricMetric(rubric, judge=...)": {"metrics": [judgekit.load_rubric("quality")]},
    "there is no metric to score by": {"metrics": [], "judge": None},
}


@pytest.mark.parametrize("message", MISTAKES)
def test_a_mistake_is_one_line(message):
    given = {"metrics": ["quality"], "judge": FAKE, **MISTAKES[message]}

    with pytest.raises(ConfigError) as caught:
        judgekit.evaluate_sync(CASES, given.pop("metrics"), **given)

    assert str(caught.value) == message


def test_what_is_no_case_is_one_line():
    with pytest.raises(ConfigError, match="score_sync: case must be a Case or a dict, not 'x'"):
        judgekit.score_sync("x", "length")
    with pytest.raises(ConfigError, match="metric: one name is expected, not 2; use evaluate_sync"):
        judgekit.score_sync(CASES[0], {"length": {}, "quality": {}})


def test_a_run_by_name_notes_what_its_replies_cost(folder):
    first = judgekit.evaluate_sync(CASES, ["quality"], judge=FAKE, out="runs/x")
    again = judgekit.evaluate_sync(CASES, ["quality"], judge=FAKE)

    assert first.run["spent"] == 0.0
    assert first.run["origins"] == {"live": 2}
    assert again.run["origins"] == {"store": 2}
    assert json.loads((folder / "runs/x/run.json").read_text("utf-8"))["spent"] == 0.0


def test_metrics_without_a_judge_have_no_cost_to_note(folder):
    assert set(judgekit.evaluate_sync(CASES, ["exact_match"]).run) == {"seconds"}


def test_a_run_over_no_cases_warns(folder):
    with pytest.warns(UserWarning, match="evaluate: there is no case, so nothing is scored"):
        report = judgekit.evaluate_sync([], ["exact_match"])

    assert report.exit_code == 3
    allowed = judgekit.Limits(may_be_empty=True)
    assert judgekit.evaluate_sync([], ["exact_match"], limits=allowed).exit_code == 0
