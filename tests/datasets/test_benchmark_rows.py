"""Rows of known benchmarks become cases; what is wrong with one is said."""

from __future__ import annotations

import asyncio
import json
import shutil

import pytest

from judgekit.core.case import Case
from judgekit.core.errors import ConfigError, DatasetError
from judgekit.datasets import load_cases
from judgekit.metrics.benchmarks.task import Task
from judgekit.suite.run import run_suite
from judgekit.suite.suite import build_suite

MMLU = {
    "question": "Which planet has the shortest year?",
    "subject": "astronomy",
    "choices": ["Venus", "Mercury", "Mars", "Earth"],
    "answer": 1,
}
GSM8K = {
    "question": "Ann picks 8 plums a tree from 9 trees. How many plums?",
    "answer": "She picks 8 * 9 = <<8*9=72>>72 plums.\n#### 72",
}
HUMANEVAL = {
    "task_id": "Own/0",
    "prompt": 'def add(a, b):\n    """Return the sum."""\n',
    "canonical_solution": "    return a + b\n",
    "test": "def check(candidate):\n    assert candidate(1, 2) == 3\n",
    "entry_point": "add",
}


def case(row, format):
    return next(load_cases([row], format=format))


def test_multiple_choice():
    found = case({**MMLU, "response": "The answer is B."}, "mmlu")

    assert found.choices == ("Venus", "Mercury", "Mars", "Earth")
    assert found.reference == ("B",)
    assert found.input.splitlines()[:3] == [MMLU["question"], "A. Venus", "B. Mercury"]
    assert found.metadata == {"subject": "astronomy"}
    assert found.output == "The answer is B."


@pytest.mark.parametrize("answer", [1, "1", "B", "b", " B ", "Mercury"])
def test_the_right_option_may_be_a_place_a_letter_or_a_text(answer):
    assert case({**MMLU, "answer": answer}, "mmlu").reference == ("B",)


def test_options_may_be_columns():
    row = {"question": "2 + 2?", "A": 3, "B": 4, "answer": "B"}

    assert case(row, "mmlu").choices == ("3", "4")


def test_worked_numbers():
    found = case(GSM8K, "gsm8k")

    assert found.input == GSM8K["question"]
    assert found.reference == ("72",)
    assert found.metadata["solution"].endswith("72 plums.")


def test_code():
    found = case(HUMANEVAL, "humaneval")

    assert found.id == "Own/0"
    assert found.input == HUMANEVAL["prompt"]
    assert found.expected == {"test": HUMANEVAL["test"], "entry_point": "add"}
    assert found.metadata["canonical_solution"] == HUMANEVAL["canonical_solution"]


def test_rows_of_a_table_are_the_same(tmp_path):
    (tmp_path / "mmlu.csv").write_text(
        'question,subject,choices,answer\nWhich?,law,"[""a one"", ""a two""]",1\n'
    )
    (tmp_path / "gsm.csv").write_text("question,answer\nHow many?,So #### 1\n")

    (choice,) = load_cases(tmp_path / "mmlu.csv", format="mmlu")
    (number,) = load_cases(tmp_path / "gsm.csv", format="gsm8k")

    assert (choice.choices, choice.reference) == (("a one", "a two"), ("B",))
    assert number.reference == ("1",)


@pytest.mark.parametrize(
    ("row", "format", "message"),
    [
        ({}, "mmlu", "field 'question': expected a text"),
        ({"question": "q", "answer": 0}, "mmlu", "field 'choices': expected 2 to 10 options"),
        ({**MMLU, "choices": ["one"]}, "mmlu", "expected 2 to 10 options"),
        ({**MMLU, "answer": 4}, "mmlu", "field 'answer': expected a place from 0 to 3"),
        ({**MMLU, "answer": True}, "mmlu", "field 'answer': expected a place from 0 to 3"),
        ({**MMLU, "answer": "E"}, "mmlu", "field 'answer'"),
        ({**MMLU, "answer": "9" * 5000}, "mmlu", "field 'answer'"),
        ({"question": "q", "answer": "seventy-two"}, "gsm8k", "ends in `#### NUMBER`"),
        ({"prompt": "p", "test": "t"}, "humaneval", "field 'entry_point': expected a text"),
        ({**MMLU, "subjcet": "law"}, "mmlu", "field 'subjcet': unknown key"),
    ],
)
def test_what_is_wrong_with_a_row_is_said(row, format, message):
    with pytest.raises(DatasetError) as caught:
        case(row, format)

    assert message in str(caught.value)
    assert len(str(caught.value)) < 600


# -- the metric that goes with them --------------------------------------------------


def score(benchmark, case):
    return asyncio.run(Task(benchmark=benchmark).score(case))


@pytest.mark.parametrize(
    ("row", "benchmark", "output", "value"),
    [
        (MMLU, "mmlu", "Mercury circles fastest, so the answer is (B).", 1.0),
        (MMLU, "mmlu", "The answer is A.", 0.0),
        (GSM8K, "gsm8k", "9 times 8 makes 72.\n#### 72", 1.0),
        (GSM8K, "gsm8k", "The answer is 17.", 0.0),
    ],
)
def test_task_is_the_evaluator_of_its_benchmark(row, benchmark, output, value):
    found = score(benchmark, case({**row, "output": output}, benchmark))

    assert found.value == value
    assert found.meta["benchmark"] == benchmark


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="code is run by bubblewrap alone")
@pytest.mark.parametrize(("body", "value"), [("    return a + b\n", 1.0), ("    return a\n", 0.0)])
def test_a_function_is_run_against_its_tests(body, value):
    found = score("humaneval", case({**HUMANEVAL, "completion": body}, "humaneval"))

    assert found.value == value
    assert found.meta["benchmark"] == "humaneval"


def test_an_unknown_benchmark_is_said():
    with pytest.raises(ConfigError, match="benchmark must be one of mmlu, gsm8k, humaneval"):
        Task(benchmark="glue")


def test_a_suite_over_a_local_file_has_accuracy_by_subject(tmp_path):
    rows = [
        {**MMLU, "output": "B"},
        {**MMLU, "question": "And the longest?", "output": "The answer is B."},
        {**MMLU, "question": "Who decides?", "subject": "law", "output": "Answer: A"},
    ]
    (tmp_path / "mmlu.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    suite = build_suite(
        {
            "cases": {"path": "mmlu.jsonl", "format": "mmlu"},
            "metrics": {"task": {"benchmark": "mmlu", "gate": {"mean": 0.5}}},
        },
        base=tmp_path,
    )

    report = asyncio.run(run_suite(suite))

    figures = report.metrics["task"].figures
    assert report.metrics["task"].mean == pytest.approx(2 / 3)
    assert (figures["accuracy_astronomy"], figures["accuracy_law"]) == (1.0, 0.0)
    assert report.exit_code == 0


def test_a_case_made_by_hand_works_as_well():
    assert score("gsm8k", Case(id="c", output="#### 5", reference="5")).value == 1.0
