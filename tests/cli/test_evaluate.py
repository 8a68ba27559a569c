"""`judgekit evaluate`: one evaluator on one benchmark, without a suite file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from judgekit.cli.evaluate import EVALUATORS
from judgekit.metrics.registry import metric_names
from tests.cli.conftest import one_line

ROOT = Path(__file__).parents[2]
ROWS = [
    {"id": "a", "input": "2+2?", "reference": "4", "output": "It is 4."},
    {"id": "b", "input": "3+3?", "reference": "6", "output": "seven"},
]
CHOICE = {"question": "2+2?", "choices": ["3", "4"], "answer": 1, "response": "It is B."}
FIELDS = {"score", "ground_truth", "method_used", "confidence", "details", "meta"}


@pytest.fixture
def here(folder):
    (folder / "qa.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS), "utf-8")
    (folder / "choice.jsonl").write_text(json.dumps(CHOICE) + "\n", "utf-8")
    return folder


def results(done):
    return [json.loads(line) for line in done.out.splitlines()]


def test_an_evaluator_is_known_by_its_names(judgekit, here):
    first, second = results(judgekit("evaluate", "-b", "qa.jsonl", "-e", "f1", "--json"))
    (ours,) = results(
        judgekit("evaluate", "-b", "qa.jsonl", "-e", "token_f1", "--num-samples", "1", "--json")
    )

    assert (first["case"], first["evaluator"], first["score"]) == ("a", "f1", 0.5)
    assert first["ground_truth"] == "4"
    assert first["details"] == {"precision": pytest.approx(1 / 3), "recall": 1.0, "shared": 1}
    assert second["score"] == 0.0
    assert ours == {**first, "evaluator": "token_f1"}


@pytest.mark.parametrize(
    ("evaluator", "more"),
    [
        ("exact_match", ()),
        ("generation", ()),
        ("f1", ()),
        ("math", ()),
        ("difference", ()),
        ("refusal_rules", ()),
        ("oracle", ("--judge-model", "fake/judge")),
        ("safety", ("--judge-model", "fake/judge")),
        ("coherence", ("--judge-model", "fake/judge")),
        ("refusal", ("--judge-model", "fake/judge")),
    ],
)
def test_every_score_has_all_fields(judgekit, here, evaluator, more):
    if evaluator == "difference":
        (here / "qa.jsonl").write_text(json.dumps({**ROWS[0], "baseline": "Four."}) + "\n", "utf-8")

    rows = results(judgekit("evaluate", "-b", "qa.jsonl", "-e", evaluator, *more, "--json"))

    for row in rows:
        assert row.keys() > FIELDS
        assert row["evaluator"] == evaluator
        assert 0 <= row["score"] <= 1
        assert 0 <= row["confidence"] <= 1
        assert row["method_used"]


@pytest.mark.parametrize("scale", [1, 10, 100])
def test_json_has_the_value_of_the_text(judgekit, here, scale):
    flags = ("-b", "qa.jsonl", "-e", "prompt_alignment", "--judge-model", "fake/judge", "-n", "1")
    flags += ("--option", f"scale={scale}")
    (row,) = results(judgekit("evaluate", *flags, "--json"))
    text = judgekit("evaluate", *flags).out

    assert row["scale"] == scale
    assert row["score"] == pytest.approx(row["value"] * scale, rel=1e-12)
    assert f"{row['score']:.{2 if scale <= 10 else 1}f}" in text
    assert row["reason"]
    assert [part["id"] for part in row["parts"]]


def test_a_name_means_the_same_here_and_in_a_suite(judgekit, here):
    assert not EVALUATORS.keys() & set(metric_names())

    flags = ("-b", "qa.jsonl", "--judge-model", "fake/judge", "--print-suite")
    assert "metric:" not in judgekit("evaluate", *flags, "-e", "safety").out
    (row, _) = results(judgekit("evaluate", *flags[:-1], "-e", "safety", "--json"))
    assert "rubric" in json.dumps(row["meta"])


def test_a_failure_has_no_score_and_says_why(judgekit, here):
    (here / "qa.jsonl").write_text('{"id": "a", "input": "2+2?", "reference": "4"}\n', "utf-8")

    done = judgekit("evaluate", "-b", "qa.jsonl", "-e", "f1", "--json")

    assert done.code == 3
    (row,) = results(done)
    assert row["score"] is None
    assert row["error"]["kind"] == "invalid_case"
    assert "output" in row["error"]["message"]


def test_a_benchmark_is_scored_as_a_task(judgekit, here):
    done = judgekit(
        "evaluate", "--benchmark", "choice.jsonl", "--evaluator", "task", "--format", "mmlu"
    )

    assert done.code == 0
    assert done.out.startswith("task: 1 case, no judge\n")


def test_recorded_judgments_replay_as_in_a_run(judgekit, here):
    example = ROOT / "examples" / "support_assistant"
    done = judgekit(
        "evaluate", "-b", example / "cases.jsonl", "-e", "quality",
        "--judge-model", "manual/example", "--record", "none", "-n", "3",
        "--cassette", ROOT / "cassettes" / "support_assistant.jsonl",
    )  # fmt: skip

    assert done.code == 0
    assert "3 judged" in done.out
    assert "replies: 3 from the tape" in done.out


def test_the_printed_suite_gives_the_same_values(judgekit, here):
    flags = ("-b", "qa.jsonl", "-e", "oracle", "--judge-model", "fake/judge", "--num-samples", "1")
    rows = results(judgekit("evaluate", *flags, "--json"))
    (here / "suite.yaml").write_text(judgekit("evaluate", *flags, "--print-suite").out, "utf-8")

    done = judgekit("run", "--no-out", "--json", "--judge", "fake/judge")

    (metric,) = json.loads(done.out)["metrics"]
    assert metric["mean"] == pytest.approx(rows[0]["score"])
    assert metric["judged"] == 1


def test_a_run_folder_is_written_where_one_is_named(judgekit, here):
    judgekit("evaluate", "-b", "qa.jsonl", "-e", "f1")
    assert not (here / "runs").exists()

    done = judgekit("evaluate", "-b", "qa.jsonl", "-e", "f1", "--out", "out")

    assert done.code == 0
    assert (here / "out" / "results.jsonl").exists()


MISTAKES = {
    "-e f1": "no cases are given: add --cases FILE",
    "-b qa.jsonl": "no metric is given: add --metric NAME",
    "-b gone.jsonl -e f1": "no such file of cases: gone.jsonl",
    "-b mmlu -e task": "judgekit downloads no benchmark",
    "-b qa.jsonl -e generatio": "did you mean 'generation'?",
    "-b qa.jsonl -e cooding": "did you mean 'coding'?",
    "-b choice.jsonl -e task": "needs --format with its benchmark: mmlu, gsm8k, humaneval",
    "-b qa.jsonl -e oracle": "add --judge MODEL, or --no-judge",
    "-b qa.jsonl -e f1 --rubric quality": "--rubric belongs to the metric oracle",
    "-b qa.jsonl -e f1 --option maximum": "write it as name=value",
    "-b qa.jsonl -e f1 --option maximum=3": "takes no option 'maximum'",
    "-b qa.jsonl -e f1 -n 0": "cases.limit",
    "-b qa.jsonl -e f1 --batch-size 0": "must be a whole number from 1",
    "-b qa.jsonl -e f1 --reference answer": "nothing at 'answer'",
    "-b qa.jsonl -e f1 --max-tokens 9": "has no option '--max-tokens'",
    "-b qa.jsonl -e alignment": "needs the option 'positive_examples'",
}


@pytest.mark.parametrize("flags", MISTAKES)
def test_a_mistake_is_told_in_one_line(judgekit, here, flags):
    done = judgekit("evaluate", *flags.split())

    assert done.code == 2
    assert MISTAKES[flags] in one_line(done)
